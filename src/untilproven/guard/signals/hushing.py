"""What a script of shell says somewhere else so that a command of it can not fail: functions in the place of programs,
traps, questions that are answered with a word."""

import re

_IDLE = r"(?:(?:echo|printf)\b[^;\n]*|true|:|return(?:[ \t]+0)?|)"
_IDLE_BODY = re.compile(rf"\s*{_IDLE}(?:\s*[;\n]\s*(?:else\b\s*)?{_IDLE})*\s*")
_ASKED = re.compile(
    r"(?<![\w-])if[ \t]+(?:![ \t]*)?([^\n;]+?)[ \t]*[;\n]\s*then\b((?:(?!\b(?:if|fi)\b).)*?)(?<![\w-])fi\b", re.DOTALL
)
_TRAPPED = re.compile(
    r"(?m)^[ \t]*trap[ \t]+(['\"])(?:[^'\"\n]*;)?[ \t]*exit[ \t]+0[ \t]*;?[ \t]*\1[^\n]*\b(?:EXIT|ERR|0)\b"
)
_FUNCTION = re.compile(r"(?m)^[ \t]*(?:function[ \t]+([\w.-]+)[ \t]*(?:\(\))?|([\w.-]+)[ \t]*\(\))\s*\{([^{}]*)\}")
_ALIAS = re.compile(r"(?m)^[ \t]*alias[ \t]+([\w.-]+)=['\"]?(?:true|:|echo\b[^'\"\n]*)['\"]?[ \t]*$")


def without_idle_answers(script: str) -> str:
    """`if ! it; then echo; fi` is `it || true`."""
    return _ASKED.sub(_told_plainly, script) if "then" in script else script


def is_trapped(script: str) -> bool:
    """However it ends, it ends well."""
    return "trap" in script and _TRAPPED.search(script) is not None


def stubs_in(script: str) -> frozenset[str]:
    """Names of functions that do nothing."""
    functions = (found for found in _FUNCTION.finditer(script) if _IDLE_BODY.fullmatch(found[3]))
    return frozenset([*((found[1] or found[2]) for found in functions), *_ALIAS.findall(script)])


def _told_plainly(found: re.Match[str]) -> str:
    if not _IDLE_BODY.fullmatch(found[2]):
        return found[0]
    return f"{found[1]} || true" + "\n" * found[0].count("\n")

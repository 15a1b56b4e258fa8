"""Putting a path where `{prompt_file}` stands in a line of shell, quoted as that place needs it."""

import re
import shlex

PROMPT_FILE = "{prompt_file}"
_SIGNS = rf"""(?s){re.escape(PROMPT_FILE)}|\\.|\$?\(|[)"'`]"""
_ENDS = {"(": ")", "$(": ")", '"': '"', "'": "'", "`": "`"}


def filled(line: str, path: str) -> str:
    """The line with the path in it; every other brace stays as it is."""
    if PROMPT_FILE not in line:
        return line
    around: list[str] = []  # the signs that will close what is open here, innermost last

    def replace(sign: re.Match[str]) -> str:
        found, inside = sign.group(), around[-1] if around else ""
        if found == PROMPT_FILE:
            return _quoted(path, around)
        if found == inside or (inside == "'" and found == "\\'"):
            around.pop()
        elif found in _ENDS and (not inside or inside in ")`" or (inside == '"' and found in {"$(", "`"})):
            around.append(_ENDS[found])
        return found

    return re.sub(_SIGNS, replace, line)


def _quoted(path: str, around: list[str]) -> str:
    match around:
        case [*_, "'"]:
            quoted = path.replace("'", "'\\''")
        case [*_, '"']:
            quoted = re.sub(r'([\\$"`])', r"\\\1", path)
        case _:
            quoted = shlex.quote(path)
    return re.sub(r"([\\$`])", r"\\\1", quoted) if "`" in around else quoted

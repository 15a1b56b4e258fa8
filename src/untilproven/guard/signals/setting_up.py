"""Questions about being tested after which something is set up otherwise, and no function answers otherwise: what a
program listens on, how much it logs, how slow its hashes are."""

import re

_QUIET = re.compile(
    r"(?i)listen|serve|log\w*|\w*logg(?:er|ing)|level|pino|winston|morgan|silent|verbose|basicConfig|addHandler"
    r"|\w*rounds|\w*salt\w*|\w*cost|\w*hashers?|\w*telemetry\w*|\w*tracing|\w*metrics|\w*sentry\w*|\w*analytics"
    r"|installed_apps|middleware|dsn"
)
_NEUTRAL = re.compile(r"(?i)module\.exports|exports|get|env|getenv|use|init|debug")
"""What is done with these depends on what is beside them."""
_FLAG = re.compile(r"(?i)(?:is_?|under_?)?test(?:ing)?")
_OF_THE_LANGUAGE = frozenset({"if", "elif", "else", "const", "let", "var", "not", "and", "or", "in", "return", "await"})
_DONE = re.compile(r"([A-Za-z_$][\w$.]*)\s*(?:\(|=(?![=>])|:(?=\s))")
_OPENS = re.compile(r"[{:]\s*$")
_REFUSES = re.compile(r"\s*(?:panic\(|raise\b|throw\b|log\.(?:Fatal|Panic)|unreachable!|panic!)")
_OUTSIDE = re.compile(r"!|\bnot\b")
_LONGEST = 8


def only_sets_up(question: str, text: str, *, is_outside: bool) -> bool:
    """Whether all that is called or given a value with it is of that sort; or it refuses to work outside of tests.
    `is_outside` says that it stands in no function."""
    above, _, rest = text.replace("'", '"').partition(question.replace("'", '"'))
    line = above[above.rfind("\n") + 1 :] + " " + rest.partition("\n")[0]
    below = _below(line, rest.partition("\n")[2]) if _OPENS.search(line) else []
    if below and _OUTSIDE.search(f"{line} {question}") and _REFUSES.match(below[0]) and len(below) == 1:
        return True
    done = _done([line, *below])
    if is_outside and not below and len(done) == 1 and _FLAG.fullmatch(done[0]):
        return _is_only_asked_quietly(done[0], above[: above.rfind("\n") + 1], rest)
    return is_outside and _are_quiet(done)


def _done(lines: list[str]) -> list[str]:
    """What is called, or given a value."""
    return [name for line in lines for name in _DONE.findall(line) if name not in _OF_THE_LANGUAGE]


def _are_quiet(done: list[str]) -> bool:
    left = [name for name in done if not any(_NEUTRAL.fullmatch(each) for each in (name, name.rpartition(".")[2]))]
    return bool(left) and all(_QUIET.fullmatch(name.rpartition(".")[2]) for name in left)


def _is_only_asked_quietly(flag: str, above: str, rest: str) -> bool:
    """Whatever is done where the file asks for the flag, which the answer is kept in, is of that sort."""
    if re.search(rf"\b{flag}\b", above):
        return False
    lines = rest.splitlines(keepends=True)[1:]
    asked = (at for at, line in enumerate(lines) if re.search(rf"\b{flag}\b", line))
    done = (_done([lines[at], *_below(lines[at], "".join(lines[at + 1 :]))]) for at in asked)
    return all(_are_quiet([name for name in names if name != flag]) for names in done)


def _below(line: str, rest: str) -> list[str]:
    """What stands further in on the lines behind it."""
    depth = len(line) - len(line.lstrip())
    found = list[str]()
    for each in rest.splitlines()[:_LONGEST]:
        if each.strip() and len(each) - len(each.lstrip()) <= depth:
            break
        if each.strip():
            found.append(each)
    return found

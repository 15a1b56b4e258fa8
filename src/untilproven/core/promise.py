"""Did the agent say that it is done? A claim, found only where the agent speaks for itself."""

import re

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`+")
_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("‘", "’"))  # noqa: RUF001 - these very quotation marks
_INDENT = 4

SIGNALS: dict[str, re.Pattern[str]] = {
    "LOOP_COMPLETE": re.compile(r"LOOP_COMPLETE"),
    "EXIT_SIGNAL": re.compile(r"EXIT_SIGNAL:\s*true", re.IGNORECASE),
    "RALPHEX": re.compile(r"<<<RALPHEX:ALL_TASKS_DONE>>>"),
    "RALPH_COMPLETE": re.compile(r"RALPH_COMPLETE"),
}
"""What other tools taught people to wait for; each counts only when switched on, and only on a line of its own."""


def promised(text: str, promise: str, *, prompt: str = "") -> bool:
    """Whether the agent's final words hold `<promise>TEXT</promise>`, spoken and not shown."""
    words = promise.split()
    if not words:
        return False
    wanted = r"\s+".join(re.escape(word) for word in words)
    tag = re.compile(rf"<promise>\s*{wanted}\s*</promise>", re.IGNORECASE)
    return any(_spoken(text, found.start(), found.end(), prompt) for found in tag.finditer(text))


def signalled(text: str, enabled: frozenset[str], *, prompt: str = "") -> str | None:
    """The first of the enabled signals that stands on a line of its own."""
    at = 0
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        for name in sorted(enabled):
            if SIGNALS[name].fullmatch(bare) and _spoken(text, at, at + len(line.rstrip("\r\n")), prompt):
                return name
        at += len(line)
    return None


def _spoken(text: str, start: int, end: int, prompt: str) -> bool:
    """Not in a code block, not in a quotation, not an echo of the prompt."""
    begin, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    stop = stop if stop >= 0 else len(text)
    line, before, after = text[begin:end], text[begin:start], text[end:stop]
    indent = line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_INDENT)
    if len(indent) >= _INDENT or line.lstrip().startswith(">"):
        return False
    if _in_fence(text[:begin]) or _in_code(before, after) or _in_quotes(before, after):
        return False
    return not _echoed(text, begin, stop, prompt)


def _in_fence(earlier: str) -> bool:
    """Whether a fence is open after these lines; one that is indented or in a quotation opens too."""
    fence = ""
    for line in earlier.splitlines():
        found = _FENCE.match(line.lstrip("> "))
        if not found:
            continue
        mark, rest = found.groups()
        if not fence:
            fence = mark if mark[0] == "~" or "`" not in rest else ""
        elif mark.startswith(fence) and not rest.strip():
            fence = ""
    return bool(fence)


def _in_code(before: str, after: str) -> bool:
    ticks = ""
    for run in _TICKS.findall(before):
        ticks = run if not ticks else "" if run == ticks else ticks
    return bool(ticks) and ticks in _TICKS.findall(after)


def _in_quotes(before: str, after: str) -> bool:
    if before.endswith("'") and after.startswith("'"):
        return True
    return any(
        closing in after and (before.count(opening) % 2 if opening == closing else _open(before, opening, closing))
        for opening, closing in _PAIRS
    )


def _open(before: str, opening: str, closing: str) -> bool:
    return before.rfind(opening) > before.rfind(closing)


def _echoed(text: str, begin: int, stop: int, prompt: str) -> bool:
    """The prompt has the same line. A bare tag may be the answer that the prompt asked for, in the prompt's own
    spelling, so such a line is an echo only together with the line beside it.
    """
    line = _squeezed(text[begin:stop])
    above, below = _nearest(text[:begin], last=True), _nearest(text[stop:], last=False)
    told = [squeezed for one in prompt.splitlines() if (squeezed := _squeezed(one))]
    for at, one in enumerate(told):
        if one != line:
            continue
        bare = line.startswith("<promise>") and line.endswith("</promise>")
        same_above = bool(above) and at > 0 and told[at - 1] == above
        same_below = bool(below) and at + 1 < len(told) and told[at + 1] == below
        if not bare or same_above or same_below:
            return True
    return False


def _nearest(text: str, *, last: bool) -> str:
    lines = [squeezed for one in text.splitlines() if (squeezed := _squeezed(one))]
    return lines[-1 if last else 0] if lines else ""


def _squeezed(line: str) -> str:
    return " ".join(line.split()).casefold()

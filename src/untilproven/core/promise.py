"""Did the agent say that it is done? A claim, found only where the agent speaks for itself."""

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate, pairwise

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})(.*)")
_TICKS = re.compile(r"`+")
_PAIRS = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"), ("‘", "’"))  # noqa: RUF001 - these very quotation marks
_INDENT = 4
_CLOSING = " \t\r.!*_)]"
"""What may stand behind a claim on its line: with more behind it, a tag is spoken about, not given."""
_NOT_OWN = "tool_result|tool_use|tool_call|function_results|function_calls|thinking|user|system|prompt"
_BLOCK = re.compile(rf"<(/?)(?:{_NOT_OWN})\b[^>]*>", re.IGNORECASE)
"""Marks around what is not the agent's own speech, as agents print them."""
_LONGEST = 10_000
"""Nobody speaks in longer lines, and reading them again for each tag would take for ever."""

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
    if not tag.search(text):
        return False
    page, told = _Page(text), _Told(prompt)
    return any(_spoken(page, found.start(), found.end(), told) for found in tag.finditer(text))


def signalled(text: str, enabled: frozenset[str], *, prompt: str = "") -> str | None:
    """The first of the enabled signals that stands on a line of its own."""
    page, told = _Page(text), _Told(prompt)
    for line, start in zip(page.lines, page.starts, strict=True):
        for name in sorted(enabled):
            if SIGNALS[name].fullmatch(line.strip()) and _spoken(page, start, start + len(line), told):
                return name
    return None


class _Page:
    """The agent's text, seen once as lines."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines[:-1])]
        self.fenced = _fenced(self.lines)
        self._solid = [row for row, line in enumerate(self.lines) if line.strip()]

    def shown(self, row: int) -> bool:
        """Whether the line stands within a block of somebody else's words."""
        depth = 0
        for found in _BLOCK.finditer(self.text, 0, self.starts[row]):
            depth = max(depth - 1, 0) if found[1] else depth + 1
        return depth > 0

    def row(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1

    def above(self, row: int) -> str:
        """The nearest line before that says something."""
        at = bisect_left(self._solid, row)
        return _squeezed(self.lines[self._solid[at - 1]]) if at else ""

    def below(self, row: int) -> str:
        at = bisect_right(self._solid, row)
        return _squeezed(self.lines[self._solid[at]]) if at < len(self._solid) else ""


class _Told:
    """The prompt, to know its lines again."""

    def __init__(self, prompt: str) -> None:
        told = [squeezed for line in prompt.split("\n") if (squeezed := _squeezed(line))]
        self.lines, self.pairs = frozenset(told), frozenset(pairwise(told))


def _spoken(page: _Page, start: int, end: int, told: _Told) -> bool:
    """Not in a code block, not in a quotation, not an echo of the prompt."""
    first, last = page.row(start), page.row(end)
    begin, stop = page.starts[first], page.starts[last] + len(page.lines[last])
    if page.fenced[first] or start - begin > _LONGEST or stop - end > _LONGEST:
        return False
    line, before, after = page.text[begin:end], page.text[begin:start], page.text[end:stop]
    if after.strip(_CLOSING) or page.shown(first):
        return False
    indent = line[: len(line) - len(line.lstrip(" \t"))].expandtabs(_INDENT)
    if len(indent) >= _INDENT or line.lstrip().startswith(">"):
        return False
    if _in_code(before, after) or _in_quotes(before, after):
        return False
    return not _echoed(_squeezed(page.text[begin:stop]), page.above(first), page.below(last), told)


def _fenced(lines: list[str]) -> list[bool]:
    """For each line whether a fence is open before it; one that is indented or in a quotation opens too."""
    fence = ""
    inside: list[bool] = []
    for line in lines:
        inside.append(bool(fence))
        found = _FENCE.match(line.lstrip("> ").rstrip("\r"))
        if not found:
            continue
        mark, rest = found.groups()
        if not fence:
            fence = mark if mark[0] == "~" or "`" not in rest else ""
        elif mark.startswith(fence) and not rest.strip():
            fence = ""
    return inside


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


def _echoed(line: str, above: str, below: str, told: _Told) -> bool:
    """The prompt has the same line. A bare tag may be the answer that the prompt asked for, in the prompt's own
    spelling, so such a line is an echo only together with the line beside it.
    """
    if line not in told.lines:
        return False
    bare = line.startswith("<promise>") and line.endswith("</promise>")
    return not bare or (above, line) in told.pairs or (line, below) in told.pairs


def _squeezed(line: str) -> str:
    return " ".join(line.split()).casefold()

"""Examples in the documentation of Rust that are run as tests."""

import re
from collections import Counter
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.syntax import Marked, parsed

_TAGS = re.compile(
    r"(?:rust|ignore(?:-\w+)?|should_panic|no_run|compile_fail|edition\d+|E\d+|test_harness|standalone\w*)?"
)
_FENCE = re.compile(r"\s*(?:```+|~~~+)\s*([^`]*)$")
_HIDDEN = re.compile(r"^\s*#(?: |$)")
_ASSERTS = re.compile(r"\bassert\w*!|\bpanic!|unwrap_err")


Line = tuple[SgNode, str]
"""A comment of one line, and its text."""


def doc_tests(comments: list[Line], item: str, marks: tuple[str, ...]) -> Iterator[Marked]:
    """Each by how it begins, if there are several: one more before it leaves it what it was."""
    found = list(_examples(comments)) if any("```" in text or "~~~" in text for _, text in comments) else []
    begun: Counter[str] = Counter()
    for fence, source, start in found:
        first = re.sub(r"\W+", " ", source.strip().partition("\n")[0]).strip() if len(found) > 1 else ""
        begun[first] += 1
        words = filter(None, ["doctest", first, str(begun[first]) if begun[first] > 1 else ""])
        name = "::".join(filter(None, [item, " ".join(words)]))
        yield Marked(name, parsed(source, "rust", start), is_test=True, marks=(*marks, f"```{fence}"))


def _examples(comments: list[Line]) -> Iterator[tuple[str, str, int]]:
    """Tags, code and first line of those with an assertion; what only shows how something is called is not missed."""
    fence: str | None = None
    code: list[str] = []
    start = 0
    for comment, line in comments:
        text = line.rstrip("\r\n")[3:]
        found = _FENCE.match(text)
        if found is None:
            if fence is not None:
                code.append(_HIDDEN.sub("", text))
            continue
        if fence is None:
            fence, code, start = found[1].strip(), [], comment.range().start.line + 2
            continue
        tags = re.split(r"[,\s]+", fence)
        source = "\n".join(code)
        fails = "should_panic" in tags or "compile_fail" in tags
        if all(_TAGS.fullmatch(tag) for tag in tags) and (fails or _ASSERTS.search(source)):
            yield fence, source, start
        fence = None

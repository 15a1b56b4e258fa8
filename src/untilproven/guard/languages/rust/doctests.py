"""Examples in the documentation of Rust that are run as tests."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.languages.syntax import Marked, parsed

_TAGS = re.compile(
    r"(?:rust|ignore(?:-\w+)?|should_panic|no_run|compile_fail|edition\d+|E\d+|test_harness|standalone\w*)?"
)
_FENCE = re.compile(r"\s*(?:```+|~~~+)\s*([^`]*)$")
_HIDDEN = re.compile(r"^\s*#(?: |$)")
_ASSERTS = re.compile(r"\bassert\w*!|\bpanic!|unwrap_err")


def doc_tests(comments: list[SgNode], item: str, marks: tuple[str, ...]) -> Iterator[Marked]:
    """Those with an assertion; what only shows how something is called is not missed when it goes."""
    fence: str | None = None
    code: list[str] = []
    start, number = 0, 0
    for comment in comments:
        text = comment.text().rstrip("\r\n")[3:]
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
            number += 1
            name = "::".join(filter(None, [item, "doctest" if number == 1 else f"doctest {number}"]))
            yield Marked(name, parsed(source, "rust", start), is_test=True, marks=(*marks, f"```{fence}"))
        fence = None

"""Examples in documentation."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Assertion, Declaration, Running, Strength, Test
from untilproven.guard.languages.python.nodes import rewrapped
from untilproven.guard.languages.syntax import line_of

_OPTION = re.compile(r"#\s*doctest:\s*(?P<options>[^\n]*)")
_NEVER_AGAIN = re.compile(
    r"\b(?:utc)?(?:now|today)\(|\btime\.(?:time|monotonic|perf_counter)\w*\(|\brandom\.|\buuid[14]\(|\burandom\(|\btoken_\w+\("
)
"""The hour, or chance."""
_OF_ONE_RUN = re.compile(r"\d{4}")
_ADDRESS = re.compile(r"\bat 0x[0-9A-Fa-f]+")
_ERROR = re.compile(r"^(?P<name>[\w.]+)(?::\s*(?P<message>.*))?$")


class Example(NamedTuple):
    source: str
    wanted: str
    line: int

    @property
    def options(self) -> str:
        found = _OPTION.search(self.source)
        return found["options"] if found else ""


def has_examples(docstring: SgNode) -> bool:
    return next(_examples(docstring), None) is not None


def _examples(docstring: SgNode) -> Iterator[Example]:
    """Those that say what comes out."""
    source: list[str] = []
    wanted: list[str] = []
    began = 0
    for line, text in enumerate([*docstring.text().rstrip("\"'").splitlines(), ""], line_of(docstring)):
        stripped = text.strip().lstrip("rRuU\"'") if line == line_of(docstring) else text.strip()
        if source and not wanted and (stripped == "..." or stripped.startswith("... ")):
            source.append(stripped[4:])
            continue
        if source and stripped and not stripped.startswith(">>>"):
            wanted.append(stripped)
            continue
        if wanted:
            yield Example("\n".join(source), "\n".join(wanted), began)
        source, wanted = [], []
        if stripped.startswith(">>> "):
            source, began = [stripped[4:]], line


def doctest(declaration: Declaration) -> Test:
    examples = list(_examples(declaration.node))
    run = [example for example in examples if "+SKIP" not in example.options]
    return Test(
        running=Running.ALWAYS if run or not examples else Running.NEVER,
        assertions=tuple(map(_assertion, run)),
        reason=None if run or not examples else "doctest: +SKIP",
        unreached=len(examples) - len(run),
    )


def _assertion(example: Example) -> Assertion:
    source = rewrapped(_OPTION.sub("", example.source))
    wanted = rewrapped(example.wanted)
    error = message = None
    if wanted.startswith("Traceback"):
        found = _ERROR.match(example.wanted.splitlines()[-1])
        error, message = (found["name"], found["message"]) if found else ("", None)
    if error is None and _is_of_one_run(source, wanted):
        return Assertion(f">>> {source} {wanted}", source, Strength.SOMETHING, example.line)
    strength = Strength.EXACTLY
    if wanted == source:
        strength = Strength.NOTHING
    elif "+ELLIPSIS" in example.options and "..." in wanted:
        strength = Strength.PARTLY
    return Assertion(
        text=f">>> {source} {wanted}",
        about=source,
        strength=strength,
        line=example.line,
        expected=message if error is not None else wanted,
        error=error,
    )


def _is_of_one_run(source: str, wanted: str) -> bool:
    """No other run gives it again, so nobody asks for just that."""
    return bool((_NEVER_AGAIN.search(source) and _OF_ONE_RUN.search(wanted)) or _ADDRESS.search(wanted))

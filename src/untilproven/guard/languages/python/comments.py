"""What comments say to tools and to people, and code that was put into them."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from ast_grep_py import SgNode

from untilproven.guard.facts import Commented
from untilproven.guard.languages.python.calls import is_helper
from untilproven.guard.languages.python.nodes import assigned, call_of, expression, name_of, of_kinds, parts, string_in
from untilproven.guard.languages.syntax import flat, is_broken, line_of, parsed

_SUPPRESSION = re.compile(
    r"#\s*(?:noqa\b(?::\s*[\w, ]+)?|type:\s*ignore(?:\[[^\]]*\])?|pylint:\s*(?:disable|skip-file)[\w=, -]*"
    r"|(?:based)?pyright:\s*(?:ignore(?:\[[^\]]*\])?|basic|report\w+\s*=\s*\w+)"
    r"|mypy:\s*(?:ignore-errors|disable-error-code|allow)[^#]*|(?:ruff|flake8):\s*noqa(?::\s*[\w, ]+)?"
    r"|ruff:\s*(?:ignore|disable)[^#]*|pragma:\s*no\s*(?:cover|branch|mutate)|nosec\b[ \w,:]*|NOSONAR\b|lgtm\b[^#]*"
    r"|pyre-(?:ignore|fixme|unsafe)(?:\[[^\]]*\])?|pytype:\s*\w[\w=, -]*|ty:\s*ignore(?:\[[^\]]*\])?"
    r"|nopep8\b|noinspection\s+\w+|codespell:\s*ignore)",
    re.IGNORECASE,
)
_TODO = re.compile(r"\b(?:TODO|FIXME|HACK|XXX)\b")
_LIKE_CODE = re.compile(
    r"(?:async )?def \w+\(|class \w+[(:]|@\w|assert \S|import \w|from [\w.]+ import |(?:with|if|elif|while) [^:]+:"
    r"|for .{1,80} in [^:]+:|(?:try|else):|return \S|raise \w|await \w|[\w.]+\("
    r"|[\w.\[\]\"', ]{1,80}(?:: ?[\w.\[\]]+ ?)?[-+*/|]?= ?\S"
)
_HEADER = re.compile(r"\s*(?:async\s+)?(?:def|class)\s+[tT]est\w*")
_LONG_STRINGS = ('"""', "'''")
_LONGEST = 200
_MOST_LINES = 400
_MOST_TRIES = 4


def suppressions(comments: Iterable[SgNode]) -> Iterator[str]:
    for comment in comments:
        for found in _SUPPRESSION.finditer(comment.text()):
            yield flat(found[0])


def todos(comments: Iterable[SgNode]) -> Iterator[str]:
    yield from (flat(comment.text()) for comment in comments if _TODO.search(comment.text()))


def commented(comments: Iterable[SgNode], root: SgNode) -> Iterator[Commented]:
    """Blocks of comments, and texts that nothing reads, that are code."""
    for line, lines in _blocks(comments):
        yield from _code_in(line, lines)
    if not any(sign in root.text() for sign in _LONG_STRINGS):
        return
    for text in root.find_all(kind="string", regex="assert |def test"):
        around = text.parent()
        if around and around.kind() == "expression_statement" and not _is_first(around):
            yield from _code_in(line_of(text), (string_in(text) or "").splitlines())


def _is_first(statement: SgNode) -> bool:
    """Then it is documentation."""
    before = statement.prev()
    while before is not None and before.kind() == "comment":
        before = before.prev()
    return before is None


def _blocks(comments: Iterable[SgNode]) -> Iterator[tuple[int, list[str]]]:
    """Comments one below another, alone on their lines, with the line of the first."""
    block: list[str] = []
    first, column = 0, -1
    for comment in comments:
        start = comment.range().start
        if not (block and start.line == first + len(block) and start.column == column):
            if block:
                yield first + 1, block
            block, first, column = [], start.line, start.column
        block.append(comment.text().rstrip().removeprefix("#"))
    if block:
        yield first + 1, block


def _code_in(line: int, lines: list[str]) -> Iterator[Commented]:
    """Prose before and after the code is left out."""
    like = [
        at
        for at, text in enumerate(lines[:_MOST_LINES])
        if _LIKE_CODE.match(text.strip()[:_LONGEST]) and not _is_prose(text)
    ]
    tries = 0
    after = 0
    for start in like:
        if start < after or tries >= _MOST_TRIES:
            continue
        tries += 1
        for end in dict.fromkeys((len(lines), like[-1] + 1)):
            text = _dedented(lines[start:end])
            if is_code(text) and (end - start > 1 or _stands_alone(text)):
                yield Commented(text, line + start, end - start, _declares_test(text))
                after = end
                break


def _stands_alone(text: str) -> bool:
    """One line that calls or sets something may explain the code next to it."""
    for statement in parts(parsed(text, "python")):
        call = call_of(expression(statement))
        if call:
            return is_helper(call)
        return all(given.kind() in {"call", "await"} for _, given in assigned(statement))
    return False


def _is_prose(text: str) -> bool:
    """Four words in a row are a sentence."""
    return re.match(r"\s*(?:[A-Za-z',`-]+ ){4}", text) is not None and not text.lstrip().startswith(("assert", "from"))


def _dedented(lines: list[str]) -> str:
    indents = [len(text) - len(text.lstrip()) for text in lines if text.strip()]
    least = min(indents, default=0)
    return "\n".join(text[least:] for text in lines)


@lru_cache(maxsize=1024)
def is_code(text: str) -> bool:
    if not text.strip() or text.lstrip().startswith(("!", "-*-", "type:")):
        return False
    root = parsed(text, "python")
    if is_broken(root):
        return False
    statements = parts(root)
    strong = [statement for statement in statements if _is_strong(statement)]
    weak = [statement for statement in statements if statement not in strong and not _is_plain(statement)]
    return bool(strong) and not weak


def _is_strong(statement: SgNode) -> bool:
    """No sentence reads like this."""
    match statement.kind():
        case "assert_statement":
            return statement.find(kind="comparison_operator") is not None or statement.find(kind="call") is not None
        case "function_definition" | "class_definition" | "decorated_definition" | "import_from_statement":
            return True
        case "import_statement":
            return True
        case "if_statement" | "for_statement" | "while_statement" | "with_statement" | "try_statement":
            return statement.find(kind="block") is not None and any(map(_is_strong, _inside(statement)))
        case "return_statement" | "raise_statement":
            return any(part.kind() == "call" for part in parts(statement))
    if statement.kind() != "expression_statement":
        return False
    call = call_of(expression(statement))
    if call:
        return is_helper(call) or (
            bool(call.path)
            and statement.text().rstrip().endswith(")")
            and " (" not in call.node.text()[: len(call.path) + 2]
        )
    return any(given.kind() in {"call", "await", "lambda", "list", "dictionary"} for _, given in assigned(statement))


def _inside(statement: SgNode) -> list[SgNode]:
    return [part for block in statement.find_all(kind="block") for part in parts(block)]


def _is_plain(statement: SgNode) -> bool:
    """Code only next to code."""
    if statement.kind() in {
        "return_statement",
        "pass_statement",
        "raise_statement",
        "assert_statement",
        "delete_statement",
    }:
        return True
    inside = expression(statement)
    return inside is not None and inside.kind() in {"assignment", "augmented_assignment", "ellipsis", "string", "yield"}


def _declares_test(text: str) -> bool:
    if not _HEADER.search(text):
        return False
    found = of_kinds(parsed(text, "python"), "function_definition", "class_definition")
    return any(name_of(one).lower().startswith("test") for one in found)

"""Code that was put into comments."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode, SgRoot

from untilproven.guard.facts import Commented

_TEST = re.compile(r"^\s*[xf]?(?:it|test|describe|context|specify)(?:\.\w+)*(?:\([\"'`]|\.each)", re.MULTILINE)
_ASSERTION = re.compile(r"^\s*(?:await |return )?(?:expect|assert(?:\.\w+)?|t\.\w+)\(", re.MULTILINE)
_CODE = re.compile(
    r"[;{}]\s*$|^\s*\)|\)\s*$|=>|^\s*(?:const|let|var|import|export|return|function|class)\s", re.MULTILINE
)
_ENDING = re.compile(
    r"[;{},)(\]\[]\s*$|^\s*[\w.$]+\(.*\)\s*$|^\s*(?:const|let|var|import|export|return)\s.*[=(]|^\s*[}\])]"
)
_STATEMENTS = frozenset(
    {
        "lexical_declaration",
        "variable_declaration",
        "if_statement",
        "for_statement",
        "for_in_statement",
        "try_statement",
    }
    | {"return_statement", "function_declaration", "class_declaration", "import_statement", "export_statement"}
    | {"throw_statement", "while_statement", "switch_statement"}
)
_EXPRESSIONS = frozenset(
    {"call_expression", "assignment_expression", "await_expression", "augmented_assignment_expression"}
)
_MOST_LINES = 2_000


def commented(remarks: list[tuple[SgNode, str]], path: str) -> Iterator[Commented]:
    """Blocks of comments that are code; `remarks` are a file's comments in order, with their text."""
    grammar = "typescript" if path.endswith("ts") else "tsx"
    for line, text in _blocks(remarks):
        if not _CODE.search(text) and not _ASSERTION.search(text):
            continue
        found = _code(text, grammar)
        if found is not None:
            skipped, code = found
            is_test = bool(_TEST.search(code))
            yield Commented(code, line + skipped, code.count("\n") + 1, is_test)


def _blocks(remarks: list[tuple[SgNode, str]]) -> Iterator[tuple[int, str]]:
    """The first line and the text of each; line comments that follow each other are one."""
    lines: list[str] = []
    first, column = 0, 0
    for node, text in remarks:
        start = node.range().start
        if text.startswith("//"):
            if lines and (start.line + 1, start.column) == (first + len(lines), column):
                lines.append(text[2:])
                continue
            if lines:
                yield first, "\n".join(lines)
            lines, first, column = [text[2:]], start.line + 1, start.column
        elif text.startswith("/*") and not text.startswith("/**"):
            inside = text[2:].removesuffix("*/")
            yield start.line + 1, "\n".join(re.sub(r"^\s*\* ?", "", line) for line in inside.split("\n"))
    if lines:
        yield first, "\n".join(lines)


def _code(text: str, grammar: str) -> tuple[int, str] | None:
    """The part that is code, and how many lines of prose come before it."""
    lines = text.split("\n")[:_MOST_LINES]
    start = next((at for at, line in enumerate(lines) if _ENDING.search(line) or _TEST.search(line)), None)
    for skipped in dict.fromkeys((0, start)):
        if skipped is None or not (code := "\n".join(lines[skipped:])).strip():
            continue
        if _parses(code, grammar):
            blank = len(code) - len(code.lstrip("\n"))
            return skipped + blank, code.strip("\n")
    return None


def _parses(code: str, grammar: str) -> bool:
    root = SgRoot(code, grammar).root()
    if root.find(kind="ERROR") is not None or "MISSING" in {node.kind() for node in root.children()}:
        return False
    inside = [node for node in root.named_children() if node.kind() != "comment"]
    telling = [node for node in inside if _is_telling(node)]
    if not telling or len(telling) * 2 < len(inside):
        return False
    is_short = "\n" not in code.strip()
    return not is_short or code.rstrip().endswith((";", "}")) or bool(_ASSERTION.search(code) or _TEST.search(code))


def _is_telling(statement: SgNode) -> bool:
    if statement.kind() in _STATEMENTS:
        return True
    inner = next(iter(statement.named_children()), None)
    return statement.kind() == "expression_statement" and inner is not None and inner.kind() in _EXPRESSIONS

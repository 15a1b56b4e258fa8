"""Code that was put into comments."""

import re
from collections.abc import Iterator
from functools import lru_cache

from ast_grep_py import SgNode, SgRoot

from untilproven.guard.facts import Commented
from untilproven.guard.languages.syntax import code_in_comments, is_broken

_TEST = re.compile(r"^\s*[xf]?(?:it|test|describe|context|specify)(?:\.\w+)*(?:\(\s*[\"'`]|\.each)", re.MULTILINE)
_ASSERTION = re.compile(r"^\s*(?:await |return )?(?:expect|assert(?:\.\w+)?|t\.\w+)\(", re.MULTILINE)
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


def commented(comments: tuple[SgNode, ...], path: str) -> Iterator[Commented]:
    """Of a file's comments in order, those that are code."""
    grammar = "typescript" if path.endswith("ts") else "tsx"
    undocumenting = (comment for comment in comments if not comment.text().startswith(("/**", "///")))
    return code_in_comments(undocumenting, lambda text: _is_code(text, grammar), lambda text: bool(_TEST.search(text)))


@lru_cache(maxsize=1024)
def _is_code(text: str, grammar: str) -> bool:
    """One line is code only if it ends like code, or asserts something: `// see load(path)` explains."""
    if "\n" not in text.strip() and not text.rstrip().endswith((";", "}")) and not _ASSERTION.search(text):
        return False
    root = SgRoot(text, grammar).root()
    if is_broken(root):
        return False
    inside = [node for node in root.named_children() if node.kind() != "comment"]
    telling = [node for node in inside if _is_telling(node)]
    return bool(telling) and len(telling) * 2 >= len(inside)


def _is_telling(statement: SgNode) -> bool:
    if statement.kind() in _STATEMENTS:
        return True
    inner = next(iter(statement.named_children()), None)
    return statement.kind() == "expression_statement" and inner is not None and inner.kind() in _EXPRESSIONS

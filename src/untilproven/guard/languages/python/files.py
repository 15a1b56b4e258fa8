"""What a whole file says."""

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import PurePosixPath

from ast_grep_py import Rule, SgNode

from untilproven.guard.facts import Facts
from untilproven.guard.kinds import kind_of
from untilproven.guard.languages.python.comments import commented, suppressions, todos
from untilproven.guard.languages.python.constants import value
from untilproven.guard.languages.python.declarations import declarations
from untilproven.guard.languages.python.hooks import hooks
from untilproven.guard.languages.python.nodes import call_of, dotted, parts, written
from untilproven.guard.languages.python.surroundings import module_of
from untilproven.guard.languages.python.tested import asked_in
from untilproven.guard.languages.syntax import Nodes

_ENDS = frozenset({"sys.exit", "os._exit", "os.abort", "exit", "quit", "_exit", "pytest.exit", "os.kill", "os.execv"})
_HINTS = ("exit", "quit", "abort", "SystemExit", "os.kill", "os.exec")
_NOT_LOADED = re.compile(r"(?:^|/)(?:examples?|docs?|benchmarks?)/|(?:^|/)setup\.py$")
"""By no test: these are run by themselves."""
_ENDING: list[Rule] = [
    {
        "kind": "call",
        "regex": r"^(?:(?:sys|pytest)\.exit|(?:os\.)?_exit|os\.(?:abort|kill|execv)|exit|quit|atexit\.register)\(",
    },
    {"kind": "raise_statement", "regex": r"SystemExit"},
]


def facts(root: SgNode, path: str) -> Facts:
    comments = Nodes(lambda: root.find_all(kind="comment"))
    return Facts(
        declarations=declarations(root, path),
        suppressions=chain(suppressions(comments), _unchecked(root)),
        todos=todos(comments),
        commented=commented(comments, root),
        hooks=hooks(root, path),
        exits=_exits(root, path),
        flags=_flags(root),
        asks_if_tested=asked_in(root, outside=True),
    )


def _unchecked(root: SgNode) -> Iterator[str]:
    if "no_type_check" in root.text():
        for mark in root.find_all(kind="decorator", regex=r"^@\s*(?:typing\.)?no_type_check\b"):
            yield written(mark)


def _flags(root: SgNode) -> Iterator[tuple[str, bool]]:
    text = root.text()
    if "True" not in text and "False" not in text:
        return
    for name, given in module_of(root).names.items():
        if given.kind() in {"true", "false"}:
            yield name, given.kind() == "true"


def _exits(root: SgNode, path: str) -> Iterator[str]:
    """Also in functions, where tests load the file and the process would end well."""
    text = root.text()
    if not any(hint in text for hint in _HINTS) or _NOT_LOADED.search(path):
        return
    loaded = PurePosixPath(path).name in {"conftest.py", "sitecustomize.py", "usercustomize.py"} or (
        kind_of(path) == "test" and PurePosixPath(path).name == "__init__.py"
    )
    for node in root.find_all(any=_ENDING):
        if not _ends(node):
            continue
        inside = [around.kind() for around in node.ancestors()]
        if "function_definition" in inside or "lambda" in inside:
            if loaded and _is_success(node):
                yield written(node)
        elif not _is_script(node):
            yield written(node)


def _ends(node: SgNode) -> bool:
    if node.kind() == "raise_statement":
        return any(dotted(_called(part)) == "SystemExit" for part in parts(node)[:1])
    call = call_of(node)
    if call is None:
        return False
    if call.path == "atexit.register":
        return any(dotted(one) in _ENDS or "_exit(" in one.text() for one in call.positional)
    return call.path in _ENDS


def _called(node: SgNode) -> SgNode:
    call = call_of(node)
    return call.function if call else node


def _is_success(node: SgNode) -> bool:
    call = call_of(node if node.kind() == "call" else next(iter(parts(node)), None))
    if call is None or call.path == "atexit.register":
        return True
    if call.path == "pytest.exit":
        code = call.named.get("returncode") or (call.positional[1] if len(call.positional) > 1 else None)
        return code is not None and value(code, {}) == 0
    return not call.positional or value(call.positional[0], {}) in (0, None)


def _is_script(node: SgNode) -> bool:
    """Under `if __name__ == "__main__"`."""
    for around in node.ancestors():
        condition = around.field("condition") if around.kind() == "if_statement" else None
        if condition and "__name__" in condition.text():
            return True
    return False

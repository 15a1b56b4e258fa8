"""What a test replaces: modules, methods, globals."""

import re
from functools import lru_cache

from ast_grep_py import SgNode, SgRoot

from untilproven.guard.languages.javascript.naming import name_of
from untilproven.guard.languages.javascript.nodes import FUNCTIONS, Link, chain, string_of, written
from untilproven.guard.languages.javascript.openings import Opening
from untilproven.guard.languages.javascript.survey import FILES, survey

_MODULES = frozenset({"mock", "doMock", "unstable_mockModule", "module"})
_MOCKERS = frozenset({"jest", "vi", "vitest", "sinon", "sandbox", "mock", "td", "t", "test", "jasmine", "bun", "stub"})
_METHODS = frozenset({"spyOn", "stub", "replace", "method", "replaceProperty", "getter", "setter"})
_TELLING = re.compile(r"mock(?:Return|Resolved|Rejected|Implementation)")
_GIVEN = re.compile(r"\s+as\s+|:\s*")
"""Between a name and the one that it is given."""
_KEEPS = re.compile(r"importActual|requireActual|importOriginal")
"""The rest of a module stays what it is."""
_MAKING = frozenset({"fn", "stub", "fake", "createSpy", "func"})


def mocks(opening: Opening) -> tuple[str, ...]:
    """Of a test: its own, those of the suites around it, those of the file."""
    return tuple(
        dict.fromkeys(
            target
            for scope, start, target in replaced(opening.node.get_root())
            if opening.start <= start <= opening.end or scope[0] <= opening.start <= opening.end <= scope[1]
        )
    )


@lru_cache(maxsize=FILES)
def replaced(root: SgRoot) -> tuple[tuple[tuple[int, int], int, str], ...]:
    """The range that each holds for, where it stands, and what it replaces."""
    top = root.root()
    everything = survey(top)
    whole = (top.range().start.index, top.range().end.index)
    found = []
    for node in (*everything.calls, *everything.assignments):
        target = _assigned(node) if node.kind() == "assignment_expression" else _called(node)
        if target is None:
            continue
        openings = everything.around(node)
        if not (openings and not openings[-1].is_suite) and _is_in_named(node):
            continue
        scope = (openings[-1].start, openings[-1].end) if openings else whole
        names = [] if _KEEPS.search(node.text()) else _names_of(target, top)
        found += [(scope, node.range().start.index, one) for one in (names or [target])]
    return tuple(found)


def _names_of(module: str, top: SgNode) -> list[str]:
    """What a file calls the things that it takes from a module of the project, each behind the module's path."""
    if not module.startswith("."):
        return []
    taken = re.findall(
        rf"""^(?:import|const|let|var)\s+([^;'"]*?)\s*(?:\bfrom\s*|=\s*require\(\s*)["']{re.escape(module)}["']""",
        top.text(),
        re.MULTILINE,
    )
    parts = (part.strip() for clause in taken for part in re.split(r"[{},]", clause))
    names = (_GIVEN.split(part)[-1] for part in parts if part and part != "type")
    return [f"{module}.{name}" for name in names]


def _called(call: SgNode) -> str | None:
    links = chain(call)
    last = links[-1]
    if not last.args:
        return None
    names = [link.name for link in links]
    first = string_of(last.args[0])
    if names == ["spyOn"] or (last.name in _METHODS and _MOCKERS.intersection(names[:-1])):
        member = string_of(last.args[1]) if len(last.args) > 1 else None
        if last.name == "spyOn" and not _replaces(call, names):
            return None
        return f"{written(last.args[0])}.{member}" if member is not None else first
    if last.name in _MODULES and _MOCKERS.intersection(names[:-1]):
        return first if first is not None else _imported(last)
    if last.name in {"stubGlobal", "stubEnv"}:
        return first and f"globalThis.{first}"
    if names in (["proxyquire"], ["nock"], ["cy", "intercept"]) and first is not None:
        return first
    return None


def _imported(link: Link) -> str | None:
    """`vi.mock(import("./cart"))`."""
    links = chain(link.args[0]) if link.args else []
    return string_of(links[0].args[0]) if links and links[0].name == "import" and links[0].args else None


def _replaces(call: SgNode, names: list[str]) -> bool:
    """Whether a spy does more than look on: it is told what to do, here or by its name."""
    if names == ["spyOn"]:
        return ".and.callThrough" not in _statement(call)
    above = call.parent()
    if above is None:
        return False
    if above.kind() == "member_expression":
        name = above.field("property")
        return name is not None and bool(_TELLING.match(name.text()))
    name = above.field("name") or above.field("left")
    if name is None or above.kind() not in {"variable_declarator", "assignment_expression"}:
        return False
    return bool(
        re.search(rf"(?<![\w$.]){re.escape(name.text())}\s*\.{_TELLING.pattern}", call.get_root().root().text())
    )


def _statement(node: SgNode) -> str:
    return next((above.text() for above in node.ancestors() if above.kind().endswith("statement")), "")


def _assigned(node: SgNode) -> str | None:
    """`global.fetch = jest.fn()`."""
    left, right = node.field("left"), node.field("right")
    if left is None or right is None or right.kind() != "call_expression":
        return None
    names = [link.name for link in chain(right)]
    made = names[0] in _MOCKERS and _MAKING.intersection(names[1:3])
    return written(left) if made else None


def _is_in_named(node: SgNode) -> bool:
    """Whether it stands in a function that somebody has yet to call."""
    return any(above.kind() in FUNCTIONS and name_of(above) is not None for above in node.ancestors())

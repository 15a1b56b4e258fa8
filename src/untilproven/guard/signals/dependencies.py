"""A dependency that is replaced by something of the project's own: code under test then talks to a stand-in."""

import posixpath
import re
from collections.abc import Iterator

from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.finding import Signal
from untilproven.guard.signals.documents import NotUnderstood, below, line_of, mapping, name_of, values_in, words
from untilproven.guard.signals.settings import settings_of
from untilproven.guard.signals.trees import Value

_LOCAL = re.compile(
    r"(?:file:|link:|portal:)?(?:\.{1,2}/|<rootDir>/|/|src/|test/|tests/|stubs?/|mocks?/).*|(?:file|link|portal):.*"
)
_NODE = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies", "overrides", "resolutions")
_GO = re.compile(r"(?m)^\s*(?:replace\s+)?([\w./~-]+\.[\w./~-]+)(?:\s+v\S+)?\s*=>\s*(\.{1,2}/\S*|/\S+)")
_PYTHON_PATH = re.compile(r"(?m)^\s*([A-Za-z][\w.-]*)(?:\[[^\]]*\])?\s*@\s*(file:\S*|\.{1,2}/\S*)")
_REQUIRED = re.compile(r"(?m)^\s*[\"']?([A-Za-z][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:[<>=!~;@,\"']|$)")
_MODULE = re.compile(r"(?:(?:src|lib|tests?)/)?([A-Za-z_]\w*)(?:\.py|/__init__\.py)")
_STUB = re.compile(r"node_modules/((?:@[^/]+/)?[^/]+)/.*")
_MOCK = re.compile(r"__mocks__/((?:@[^/]+/)?[^/]+?)\.[cm]?[jt]sx?")
_ALIASES = re.compile(r"(?:jest\.(?:.*\.)?moduleNameMapper|(?:vitest\.)(?:.*\.)?alias)\.(.+)")


def dependencies(comparison: Comparison) -> Iterator[Signal]:
    yield from _redirected(comparison)
    yield from _aliased(comparison)
    declared = frozenset(
        name for pair in comparison.pairs for side in (pair.before, pair.after) for name in _declared(side)
    )
    for pair in comparison.pairs:
        if pair.before is None and pair.after is not None:
            yield from _in_its_place(pair, declared)


def _redirected(comparison: Comparison) -> Iterator[Signal]:
    """What came from elsewhere is taken from the tree now."""
    for pair in comparison.pairs:
        if pair.before is None or pair.after is None or pair.kind != "mixed":
            continue
        was, now = _sources(pair.before), _sources(pair.after)
        for name, where in now.items():
            before = was.get(name)
            if not _is_in_tree(pair.path, where) or (before is not None and _is_ours(before)):
                continue
            if before is not None or name in _declared(pair.before):
                line = line_of(pair.after.text, f'"{name}"', name)
                yield Signal(
                    "dependency-replaced",
                    pair.path,
                    line,
                    name,
                    was=before or "declared",
                    now=where,
                    explained=() if _is_new(comparison, _resolved(pair.path, where)) else ("was-there",),
                )


def _is_ours(where: str) -> bool:
    return where.startswith("workspace:") or _LOCAL.fullmatch(where) is not None


def _is_in_tree(manifest: str, where: str) -> bool:
    if not _LOCAL.fullmatch(where):
        return False
    return not _resolved(manifest, where).startswith(("..", "/"))


def _resolved(manifest: str, where: str) -> str:
    path = re.sub(r"^(?:file|link|portal):", "", where)
    return posixpath.normpath(posixpath.join(posixpath.dirname(manifest), path))


def _is_new(comparison: Comparison, place: str) -> bool:
    """Whether something was put there; what was there before is a part of the project."""
    return any(pair.before is None and f"{pair.path}/".startswith(f"{place}/") for pair in comparison.pairs)


def _sources(side: Side) -> dict[str, str]:
    """Where each dependency comes from: a version, an address, a path."""
    name = name_of(side.path)
    try:
        if name == "package.json":
            values = values_in(side.path, side.content)
            return {
                key: where
                for table in _NODE
                for key, where in mapping(below(values, table)).items()
                if isinstance(where, str)
            }
        if name == "Cargo.toml":
            return _of_cargo(values_in(side.path, side.content))
        if name in {"go.mod", "go.work"}:
            return dict(_GO.findall(side.text))
        if name == "pyproject.toml":
            sources = mapping(below(values_in(side.path, side.content), "tool", "uv", "sources"))
            poetry = mapping(below(values_in(side.path, side.content), "tool", "poetry", "dependencies"))
            return {key: _path(value) for key, value in {**poetry, **sources}.items()}
        if name.startswith("requirements"):
            return dict(_PYTHON_PATH.findall(side.text))
    except NotUnderstood:
        return {}
    return {}


def _of_cargo(values: Value) -> dict[str, str]:
    found: dict[str, str] = {}
    for table in ("dependencies", "dev-dependencies", "build-dependencies"):
        found |= {key: _path(value) for key, value in mapping(below(values, table)).items()}
    for patched in mapping(below(values, "patch")).values():
        found |= {key: where for key, value in mapping(patched).items() if (where := _path(value)).startswith(".")}
    return found


def _path(value: Value) -> str:
    """As a path of the tree, if it is one; a path that comes with a version is a member of the same workspace."""
    path = words(below(value, "path"))
    if path and not words(below(value, "version")) and not words(below(value, "workspace")):
        return path[0] if path[0].startswith(("/", ".")) else f"./{path[0]}"
    return " ".join(words(value)) or " ".join(words(below(value, "version"))) or "?"


def _declared(side: Side | None) -> frozenset[str]:
    """Names of dependencies that a manifest declares."""
    if side is None:
        return frozenset()
    name = name_of(side.path)
    try:
        if name == "package.json":
            values = values_in(side.path, side.content)
            return frozenset(key for table in _NODE[:3] for key in mapping(below(values, table)))
        if name == "pyproject.toml":
            project = below(values_in(side.path, side.content), "project")
            listed = [*words(below(project, "dependencies"))]
            for group in mapping(below(project, "optional-dependencies")).values():
                listed += words(group)
            return frozenset(_module(found[1]) for line in listed if (found := _REQUIRED.match(line)))
        if re.fullmatch(r"requirements.*\.(?:txt|in)", name):
            return frozenset(map(_module, _REQUIRED.findall(side.text)))
        if name == "go.mod":
            return frozenset(re.findall(r"(?m)^\s*(?:require\s+)?([\w./~-]+\.[\w./~-]+)\s+v\d", side.text))
        if name == "Cargo.toml":
            return frozenset(_of_cargo(values_in(side.path, side.content)))
    except NotUnderstood:
        return frozenset()  # `unread` has said so
    return frozenset()


def _module(distribution: str) -> str:
    return distribution.lower().replace("-", "_")


def _aliased(comparison: Comparison) -> Iterator[Signal]:
    """A test runner is told to load something of the tree instead of a package."""
    was, now = settings_of(comparison, "before"), settings_of(comparison, "after")
    for name, setting in now.items():
        found = _ALIASES.fullmatch(setting.key)
        if not found or name in was or not setting.values:
            continue
        package = found[1].strip("^$")
        if re.fullmatch(r"(?:@[\w-]+/)?[\w-]+", package) and _LOCAL.fullmatch(setting.values[-1]):
            where = setting.values[-1]
            if re.search(r"(?i)stub|mock|fake|dummy|shim", where):
                yield Signal("dependency-replaced", setting.side.path, setting.line, package, now=where)


def _in_its_place(pair: Pair, declared: frozenset[str]) -> Iterator[Signal]:
    """A new module that is found before the installed one of its name."""
    if found := _MODULE.fullmatch(pair.path):
        if _module(found[1]) in declared:
            yield Signal("dependency-replaced", pair.path, 1, found[1], now=pair.path)
    elif found := _MOCK.fullmatch(pair.path):
        yield Signal("dependency-replaced", pair.path, 1, found[1], now=pair.path, explained=("mock",))
    elif found := _STUB.fullmatch(pair.path):
        yield Signal("dependency-replaced", pair.path, 1, found[1], now=pair.path)

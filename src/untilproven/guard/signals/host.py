"""Files that run by themselves on the machine of whoever opens, enters, installs or commits to the project."""

import hashlib
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.finding import Signal
from untilproven.guard.signals.documents import NotUnderstood, below, line_of, mapping, name_of, values_in, words
from untilproven.guard.signals.trees import Value

_BY_PATH = (
    (r"(?:.*/)?\.envrc", "direnv, on entering the directory"),
    (r"(?:.*/)?\.claude/(?!.*\.md$).*|(?:.*/)?\.mcp\.json|(?:.*/)?\.cursor/(?:mcp\.json|hooks.*)", "a coding agent"),
    (
        r"(?:.*/)?\.husky/(?!_/|\.gitignore).*|\.githooks/.*|\.hooks/.*|(?:.*/)?\.lefthook/.*|\.git-hooks/.*",
        "git, as a hook",
    ),
    (r"lefthook(?:-local)?\.ya?ml|\.lefthook\.ya?ml", "git, as a hook"),
    (r"(?:.*/)?\.gitmodules", "git, on updating submodules"),
    (r"(?:.*/)?\.devcontainer(?:/.*|\.json)", "the editor, on opening the container"),
    (r"(?:.*/)?\.idea/(?:runConfigurations/.*|externalTools.*|tools/.*|watcherTasks\.xml)", "the IDE"),
    (r"(?:.*/)?\.pnpmfile\.c?js|(?:.*/)?\.yarn/(?:plugins|releases)/.*", "the package manager, on every command"),
    (r"(?:.*/)?\.mvn/(?:extensions\.xml|jvm\.config|maven\.config)", "Maven, on every build"),
    (r"(?:.*/)?(?:site|user)customize\.py|(?:.*/)?[^/]+\.pth", "every Python that starts here"),
)
_LEAVES_CONTAINER = re.compile(r"initializeCommand|privileged|docker\.sock|mounts|runArgs|capAdd|localEnv")
_IN_SETTINGS = re.compile(
    r"task\.allowAutomaticTasks|terminal\.integrated\..*(?:shell|profile|env)\S*|.*(?:[rR]unOnSave|onSave\.commands).*"
    r"|git\.path|.*\.(?:executable\w*|\w*[pP]ath|command|cmd|interpreter)"
)
_INSTALLED = ("preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare", "dependencies")
_OF_NPM = re.compile(
    r"(?m)^\s*((?:\S*:)?registry|script-shell|node-options|git|shell|ignore-scripts|\S*_auth\S*)\s*=\s*(.*)$"
)
_USUAL = r"^ignore-scripts=true$|^registry=https?://registry\.npmjs\.org/?$"
_OF_YARN = re.compile(r"(?m)^(yarnPath|plugins|npmRegistryServer)\s*:\s*(.*(?:\n[ -].*)*)")
_BUILDS = frozenset({"build.rs", "cmdclass", "prepare"})
"""Whoever builds the project runs its code anyway."""
_TOOL = re.compile(r"[a-z][\w-]{2,}")
_PRE_COMMIT = re.compile(r"\.pre-commit-config\.ya?ml")
_OF_CARGO = ("runner", "linker", "rustc", "rustc-wrapper", "rustc-workspace-wrapper", "rustdoc")

_Commands = Iterator[tuple[tuple[str, str], str]]
"""Who runs it and under which key, and what."""


def host(comparison: Comparison) -> Iterator[Signal]:
    for pair in comparison.pairs:
        if pair.after is None or pair.kind in {"dependencies", "cache"} or _is_same(pair):
            continue
        if starter := _starter(pair.path):
            explained = () if pair.before is None else ("was-there",)
            inside = ("in-container",) if _stays_in_container(pair.after) else ()
            yield Signal("runs-on-host", pair.path, 1, starter, explained=(*explained, *inside))
        elif pair.path.startswith((".github/workflows/", ".github/actions/")):
            yield Signal("runs-in-ci", pair.path, 1, "CI")
        else:
            yield from _inside(pair, pair.after)


@lru_cache(maxsize=1024)
def _starter(path: str) -> str:
    """Who runs a file with this path; empty if nobody does by itself."""
    return next((who for pattern, who in _BY_PATH if re.fullmatch(pattern, path)), "")


def _stays_in_container(side: Side) -> bool:
    """What it runs, it runs there, and it lets nothing out."""
    return ".devcontainer" in side.path and _LEAVES_CONTAINER.search(side.text) is None


def _is_same(pair: Pair) -> bool:
    """Only moved, or its mode was changed."""
    return pair.before is not None and pair.after is not None and pair.before.content == pair.after.content


def _inside(pair: Pair, after: Side) -> Iterator[Signal]:
    """Files of which a part is run."""
    was, now = _run_by(pair.before), _run_by(after)
    for (who, key), command in now.items():
        if was.get((who, key)) != command:
            explained = ("was-there",) if (who, key) in was else ("builds",) if key in _BUILDS else ()
            yield Signal(
                "runs-on-host",
                pair.path,
                line_of(after.text, f'"{key}"', key),
                f"{who}: {key}",
                was=was.get((who, key)),
                now=command,
                explained=explained,
            )
    for where in sorted(_fetched(after) - _fetched(pair.before)):
        yield Signal("hook-added", pair.path, line_of(after.text, where), where)


def _fetched(side: Side | None) -> set[str]:
    """Where hooks of pre-commit come from; which version of them is no matter."""
    if side is None or not _PRE_COMMIT.fullmatch(name_of(side.path)):
        return set()
    try:
        found = {"".join(words(below(one, "repo"))) for one in _repositories(side)} - {"local", "meta", ""}
        return found | {_program(hook) for hook in _own_hooks(side) if _is_installed(hook)}
    except NotUnderstood:
        return set()


def _run_by(side: Side | None) -> dict[tuple[str, str], str]:
    """What is run, by whom and under which key."""
    if side is None:
        return {}
    reader = _reader(side.path)
    try:
        return dict(reader(side)) if reader else {}
    except NotUnderstood:
        return {}


@lru_cache(maxsize=1024)
def _reader(path: str) -> "Callable[[Side], _Commands] | None":
    """How a file with this path is read, if a part of it is run."""
    return next((reader for pattern, reader in _READERS if re.search(pattern, f"/{path}")), None)


def _package(side: Side) -> _Commands:
    scripts = mapping(below(values_in(side.path, side.content), "scripts"))
    return ((("npm, on installing", key), str(scripts[key])) for key in _INSTALLED if key in scripts)


def _editor(side: Side) -> _Commands:
    told = mapping(values_in(side.path, side.content))
    return ((("the editor", key), str(value)) for key, value in told.items() if _IN_SETTINGS.fullmatch(key))


def _npm(side: Side) -> _Commands:
    told = ((key, value.strip()) for key, value in _OF_NPM.findall(side.text))
    return ((("npm", key), value) for key, value in told if not re.search(_USUAL, f"{key}={value}"))


def _yarn(side: Side) -> _Commands:
    return ((("yarn", key), value) for key, value in _OF_YARN.findall(side.text))


def _build_rs(side: Side) -> _Commands:
    yield ("cargo, on building", "build.rs"), hashlib.sha256(side.content).hexdigest()[:12]


def _setup_py(side: Side) -> _Commands:
    if found := re.search(r"cmdclass\s*=[^,)]*", side.text):
        yield ("pip, on installing", "cmdclass"), found[0]


def _gradle(side: Side) -> _Commands:
    found = re.search(r"distributionUrl=\w+\\?://([^/]+)/", side.text)
    if found and found[1] not in {"services.gradle.org", "downloads.gradle.org"}:
        yield ("gradlew", "distributionUrl"), found[1]


def _tasks(side: Side) -> _Commands:
    tasks = below(values_in(side.path, side.content), "tasks")
    for task in tasks if isinstance(tasks, list) else []:
        if "folderOpen" in words(below(task, "runOptions", "runOn")):
            label = "".join(words(below(task, "label")))
            yield ("the editor, on opening the folder", label), " ".join(words(below(task, "command")))


def _hooks(side: Side) -> _Commands:
    """Hooks of the project's own."""
    for hook in _own_hooks(side):
        if words(below(hook, "language")) not in (["pygrep"], ["fail"]) and not _is_installed(hook):
            yield ("pre-commit", "".join(words(below(hook, "id")))), "".join(words(below(hook, "entry")))


def _own_hooks(side: Side) -> Iterator[Value]:
    for repository in _repositories(side):
        hooks = below(repository, "hooks")
        if words(below(repository, "repo")) == ["local"]:
            yield from hooks if isinstance(hooks, list) else []


def _program(hook: Value) -> str:
    return next(iter("".join(words(below(hook, "entry"))).split()), "")


def _is_installed(hook: Value) -> bool:
    """It only runs a program that pre-commit installs for it, as it does for hooks from elsewhere."""
    entry = "".join(words(below(hook, "entry")))
    installed = words(below(hook, "additional_dependencies"))
    is_plain = _TOOL.fullmatch(_program(hook)) is not None and not re.search(r"[;&|`$<>]|\s-c\b|\s-m\b", entry)
    return is_plain and any(re.match(rf"{re.escape(_program(hook))}(?![a-z])", one) for one in installed)


def _repositories(side: Side) -> list[Value]:
    found = below(values_in(side.path, side.content), "repos")
    return found if isinstance(found, list) else []


def _cargo(side: Side) -> _Commands:
    values = values_in(f"{side.path}.toml", side.content)
    tables = {"build": below(values, "build"), **mapping(below(values, "target"))}
    for name, table in tables.items():
        for key in _OF_CARGO:
            if value := " ".join(words(below(table, key))):
                yield ("cargo", f"{name}.{key}"), value


_READERS: tuple[tuple[str, Callable[[Side], _Commands]], ...] = (
    (r"/package\.json$", _package),
    (r"/\.vscode/tasks\.json$", _tasks),
    (r"/\.vscode/settings\.json$", _editor),
    (r"/\.npmrc$", _npm),
    (r"/\.yarnrc\.yml$", _yarn),
    (r"/\.pre-commit-config\.ya?ml$", _hooks),
    (r"/\.cargo/config(?:\.toml)?$", _cargo),
    (r"/build\.rs$", _build_rs),
    (r"/setup\.py$", _setup_py),
    (r"/gradle-wrapper\.properties$", _gradle),
)

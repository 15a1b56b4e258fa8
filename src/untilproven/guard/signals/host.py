"""Files that run by themselves on the machine of whoever opens, enters, installs or commits to the project."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.finding import Signal
from untilproven.guard.signals.documents import NotUnderstood, Value, below, mapping, values_in, words
from untilproven.guard.signals.recipes import line_of

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
_IN_SETTINGS = re.compile(
    r"task\.allowAutomaticTasks|terminal\.integrated\..*(?:shell|profile|env)\S*|.*(?:[rR]unOnSave|onSave\.commands).*"
    r"|git\.path|.*\.(?:executable\w*|\w*[pP]ath|command|cmd|interpreter)"
)
_INSTALLED = ("preinstall", "install", "postinstall", "prepare", "preprepare", "postprepare", "dependencies")
_OF_NPM = re.compile(
    r"(?m)^\s*((?:\S*:)?registry|script-shell|node-options|git|shell|ignore-scripts|\S*_auth\S*)\s*=\s*(.*)$"
)
_OF_YARN = re.compile(r"(?m)^(yarnPath|plugins|npmRegistryServer)\s*:\s*(.*(?:\n[ -].*)*)")
_PRE_COMMIT = re.compile(r"\.pre-commit-config\.ya?ml")
_OF_CARGO = ("runner", "linker", "rustc", "rustc-wrapper", "rustc-workspace-wrapper", "rustdoc")


def host(comparison: Comparison) -> Iterator[Signal]:
    for pair in comparison.pairs:
        if pair.after is None or pair.kind in {"dependencies", "cache"} or _is_same(pair):
            continue
        if starter := next((who for pattern, who in _BY_PATH if re.fullmatch(pattern, pair.path)), None):
            explained = () if pair.before is None else ("was-there",)
            yield Signal("runs-on-host", pair.path, 1, starter, explained=explained)
        elif pair.path.startswith((".github/workflows/", ".github/actions/")):
            yield Signal("runs-in-ci", pair.path, 1, "CI")
        else:
            yield from _inside(pair, pair.after)


def _is_same(pair: Pair) -> bool:
    """Only moved, or its mode was changed."""
    return pair.before is not None and pair.after is not None and pair.before.content == pair.after.content


def _inside(pair: Pair, after: Side) -> Iterator[Signal]:
    """Files of which a part is run."""
    was, now = _run_by(pair.before), _run_by(after)
    for (who, key), command in now.items():
        if was.get((who, key)) != command:
            explained = ("was-there",) if (who, key) in was else ()
            yield Signal(
                "runs-on-host",
                pair.path,
                line_of(after, f'"{key}"', key),
                f"{who}: {key}",
                was=was.get((who, key)),
                now=command,
                explained=explained,
            )
    for where in sorted(_fetched(after) - _fetched(pair.before)):
        yield Signal("hook-added", pair.path, line_of(after, where), where)


def _fetched(side: Side | None) -> set[str]:
    """Where hooks of pre-commit come from; which version of them is no matter."""
    if side is None or not _PRE_COMMIT.fullmatch(name_of(side.path)):
        return set()
    try:
        repositories = below(values_in(side.path, side.content), "repos")
    except NotUnderstood:
        return set()
    found = {"".join(words(below(one, "repo"))) for one in (repositories if isinstance(repositories, list) else [])}
    return found - {"local", "meta", ""}


def _run_by(side: Side | None) -> dict[tuple[str, str], str]:
    """What is run, by whom and under which key."""
    if side is None:
        return {}
    name = name_of(side.path)
    try:
        return dict(_found(side, name, "/" + side.path))
    except NotUnderstood:
        return {}


def _found(side: Side, name: str, path: str) -> Iterator[tuple[tuple[str, str], str]]:
    if name == "package.json":
        scripts = mapping(below(values_in(side.path, side.content), "scripts"))
        yield from ((("npm, on installing", key), str(scripts[key])) for key in _INSTALLED if key in scripts)
    elif path.endswith("/.vscode/tasks.json"):
        yield from _tasks(below(values_in(side.path, side.content), "tasks"))
    elif path.endswith("/.vscode/settings.json"):
        for key, value in mapping(values_in(side.path, side.content)).items():
            if _IN_SETTINGS.fullmatch(key):
                yield ("the editor", key), str(value)
    elif name == ".npmrc":
        told = ((key, value.strip()) for key, value in _OF_NPM.findall(side.text))
        yield from ((("npm", key), value) for key, value in told if (key, value) != ("ignore-scripts", "true"))
    elif name == ".yarnrc.yml":
        yield from ((("yarn", key), value) for key, value in _OF_YARN.findall(side.text))
    elif _PRE_COMMIT.fullmatch(name):
        yield from _hooks(values_in(side.path, side.content))
    elif re.search(r"/\.cargo/config(?:\.toml)?$", path):
        yield from _of_cargo(values_in(f"{side.path}.toml", side.content))
    elif name == "build.rs":
        yield ("cargo, on building", "build.rs"), hashlib.sha256(side.content).hexdigest()[:12]
    elif name == "setup.py" and (found := re.search(r"cmdclass\s*=", side.text)):
        yield ("pip, on installing", "cmdclass"), found[0]
    elif name == "gradle-wrapper.properties":
        found = re.search(r"distributionUrl=(\w+)\\?://([^/]+)/", side.text)
        if found and found[2] not in {"services.gradle.org", "downloads.gradle.org"}:
            yield ("gradlew", "distributionUrl"), found[2]


def _tasks(tasks: Value | None) -> Iterator[tuple[tuple[str, str], str]]:
    for task in tasks if isinstance(tasks, list) else []:
        if "folderOpen" in words(below(task, "runOptions", "runOn")):
            label = "".join(words(below(task, "label")))
            yield ("the editor, on opening the folder", label), " ".join(words(below(task, "command")))


def _hooks(values: Value) -> Iterator[tuple[tuple[str, str], str]]:
    """Hooks of the project's own."""
    repositories = below(values, "repos")
    for repository in repositories if isinstance(repositories, list) else []:
        where = "".join(words(below(repository, "repo")))
        hooks = below(repository, "hooks")
        if where == "local":
            for hook in hooks if isinstance(hooks, list) else []:
                yield ("pre-commit", "".join(words(below(hook, "id")))), "".join(words(below(hook, "entry")))


def _of_cargo(values: Value) -> Iterator[tuple[tuple[str, str], str]]:
    tables = {"build": below(values, "build"), **mapping(below(values, "target"))}
    for name, table in tables.items():
        for key in _OF_CARGO:
            if value := " ".join(words(below(table, key))):
                yield ("cargo", f"{name}.{key}"), value

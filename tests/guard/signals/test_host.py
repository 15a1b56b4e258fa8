"""Files that run by themselves on somebody's machine."""

import pytest

from guard.signals.compared import found, names
from untilproven.guard.change import Change
from untilproven.guard.comparison import Comparison
from untilproven.guard.signals.host import host

TASK = '{{"tasks": [{{"label": "a", "command": "make"{}}}]}}'
HOOKS = "repos:\n- repo: {}\n  rev: {}\n  hooks:\n  - id: a\n    entry: {}\n"


@pytest.mark.parametrize(
    ("path", "who"),
    [
        (".envrc", "direnv"),
        ("sub/.envrc", "direnv"),
        (".claude/settings.json", "a coding agent"),
        (".mcp.json", "a coding agent"),
        (".cursor/mcp.json", "a coding agent"),
        (".husky/pre-commit", "git, as a hook"),
        (".githooks/post-merge", "git, as a hook"),
        ("lefthook.yml", "git, as a hook"),
        (".gitmodules", "git, on updating submodules"),
        (".idea/runConfigurations/a.xml", "the IDE"),
        (".pnpmfile.cjs", "the package manager"),
        ("sitecustomize.py", "every Python"),
        ("src/a.pth", "every Python"),
    ],
)
def test_a_file_is_told_by_its_path(path: str, who: str) -> None:
    (signal,) = found(host, {}, {path: "a\n"})
    assert (signal.name, signal.path, signal.explained) == ("runs-on-host", path, ())
    assert signal.subject.startswith(who)
    (signal,) = found(host, {path: "a\n"}, {path: "b\n"})
    assert (signal.name, signal.explained) == ("runs-on-host", ("was-there",))
    assert found(host, {path: "a\n"}, {}) == []


@pytest.mark.parametrize(
    ("told", "explained"),
    [
        ('{"onCreateCommand": "a"}', ("in-container",)),
        ('{"initializeCommand": "a"}', ()),
        ('{"runArgs": ["--privileged"]}', ()),
    ],
)
def test_what_is_run_in_a_container_is_run_there(told: str, explained: tuple[str, ...]) -> None:
    (signal,) = found(host, {}, {".devcontainer/devcontainer.json": told})
    assert (signal.name, signal.explained) == ("runs-on-host", explained)
    assert signal.subject.startswith("the editor")


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("package.json", '{"scripts": {}}', '{"scripts": {"postinstall": "sh a"}}'),
        ("package.json", '{"scripts": {"prepare": "a"}}', '{"scripts": {"prepare": "b"}}'),
        (".vscode/tasks.json", TASK.format(""), TASK.format(', "runOptions": {"runOn": "folderOpen"}')),
        (".vscode/settings.json", "{}", '{"python.defaultInterpreterPath": "./a"} // mine'),
        (".npmrc", "save-exact=true\n", "save-exact=true\nscript-shell=./a\n"),
        (".npmrc", "ignore-scripts=true\n", "ignore-scripts=false\n"),
        (".yarnrc.yml", "nodeLinker: pnp\n", "nodeLinker: pnp\nyarnPath: ./a.cjs\n"),
        (".pre-commit-config.yaml", HOOKS.format("local", "", "a"), HOOKS.format("local", "", "sh b")),
        (".cargo/config.toml", "[build]\njobs = 2\n", "[build]\njobs = 2\nrustc-wrapper = './a'\n"),
        (".cargo/config.toml", "", "[target.x86_64-unknown-linux-gnu]\nrunner = './a'\n"),
        ("setup.py", "setup(name='a')\n", "setup(name='a', cmdclass={'install': A})\n"),
        (
            "gradle/wrapper/gradle-wrapper.properties",
            "distributionUrl=https\\://services.gradle.org/a.zip\n",
            "distributionUrl=https\\://example.org/a.zip\n",
        ),
    ],
)
def test_a_part_of_a_file_is_run(path: str, before: str, after: str) -> None:
    (signal,) = found(host, {path: before}, {path: after})
    assert (signal.name, signal.path) == ("runs-on-host", path)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("package.json", '{"scripts": {"postinstall": "a"}}', '{"scripts": {"postinstall": "a", "test": "b"}}'),
        (".vscode/tasks.json", "{}", TASK.format("")),
        (".vscode/settings.json", "{}", '{"editor.tabSize": 2}'),
        (".vscode/extensions.json", "{}", '{"recommendations": []}'),
        (".npmrc", "a=b\n", "a=c\nignore-scripts=true\nregistry=https://registry.npmjs.org/\n"),
        (".pre-commit-config.yaml", HOOKS.format("https://a", "v1", "a"), HOOKS.format("https://a", "v2", "a")),
        (".pre-commit-config.yaml", "repos: []\n", HOOKS.format("local", "", "a{2}\n    language: pygrep")),
        ("setup.py", "setup(cmdclass={'a': A})\n", "setup(cmdclass={'a': A}, name='b')\n"),
        ("gradle/wrapper/gradle-wrapper.properties", "a=b\n", "distributionUrl=https\\://services.gradle.org/a.zip\n"),
        (".claude/CLAUDE.md", "a\n", "b\n"),
        ("Makefile", "all:\n\ta\n", "all:\n\tb\n"),
        ("Dockerfile", "FROM a\n", "FROM b\n"),
        (".github/dependabot.yml", "a: 1\n", "a: 2\n"),
    ],
)
def test_what_nobody_runs_by_itself(path: str, before: str, after: str) -> None:
    assert found(host, {path: before}, {path: after}) == []


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("crates/a/build.rs", None, "fn main() {}\n"),
        ("setup.py", "setup(name='a')\n", "setup(name='a', cmdclass={'install': A})\n"),
        ("package.json", "{}", '{"scripts": {"prepare": "a"}}'),
    ],
)
def test_what_a_build_runs_is_said_to_be_that(path: str, before: str | None, after: str) -> None:
    (signal,) = found(host, {path: before} if before else {}, {path: after})
    assert (signal.name, signal.explained) == ("runs-on-host", ("builds",))


def test_ci_is_a_note_of_its_own() -> None:
    assert names(host, {}, {".github/workflows/a.yml": "on: push\n"}) == ["runs-in-ci"]
    assert names(host, {".github/actions/a/action.yml": "a: 1\n"}, {".github/actions/a/action.yml": "a: 2\n"}) == [
        "runs-in-ci"
    ]


def test_hooks_that_are_fetched_are_named_by_where_they_come_from() -> None:
    before, after = HOOKS.format("https://a", "v1", "a"), HOOKS.format("https://b", "v1", "a")
    (signal,) = found(host, {".pre-commit-config.yaml": before}, {".pre-commit-config.yaml": after})
    assert (signal.name, signal.subject, signal.line) == ("hook-added", "https://b", 2)


def test_a_file_that_was_only_moved_is_the_same() -> None:
    moved = Comparison([Change("b/.envrc", b"a\n", b"a\n", old_path="a/.envrc")])
    assert list(host(moved)) == []


def test_what_is_installed_is_not_ours() -> None:
    assert found(host, {}, {"node_modules/a/package.json": '{"scripts": {"postinstall": "a"}}'}) == []


@pytest.mark.parametrize("text", ["{", "[]", '{"scripts": []}', '{"scripts": {"postinstall": {}}}'])
def test_odd_files_do_not_stop_it(text: str) -> None:
    assert set(names(host, {"package.json": text}, {"package.json": f"{text} "})) == set()

"""A dependency that is replaced by something of the project's own."""

import pytest

from guard.signals.compared import found
from untilproven.guard.change import Change
from untilproven.guard.judging import judge
from untilproven.guard.signals.dependencies import dependencies

STUB = "stubs/axios/index.js"
AXIOS = '{"dependencies": {"axios": "^1.0.0"}}'


@pytest.mark.parametrize(
    ("path", "before", "after", "stub", "name"),
    [
        ("package.json", AXIOS, '{"dependencies": {"axios": "file:./stubs/axios"}}', STUB, "axios"),
        ("package.json", AXIOS, '{"dependencies": {"axios": "link:stubs/axios"}}', STUB, "axios"),
        ("package.json", AXIOS, AXIOS[:-1] + ', "resolutions": {"axios": "./stubs/axios"}}', STUB, "axios"),
        ("package.json", AXIOS, AXIOS[:-1] + ', "overrides": {"axios": "file:stubs/axios"}}', STUB, "axios"),
        (
            "go.mod",
            "require (\n\tx.org/y v1.0.0\n)\n",
            "require (\n\tx.org/y v1.0.0\n)\nreplace (\n\tx.org/y v1.0.0 => ./y\n)\n",
            "y/y.go",
            "x.org/y",
        ),
        (
            "Cargo.toml",
            "[dependencies]\nserde = '1'\n",
            "[dependencies]\nserde = { path = 'serde' }\n",
            "serde/src/lib.rs",
            "serde",
        ),
        (
            "Cargo.toml",
            "[dependencies]\nserde = { version = '1', features = ['derive'] }\n",
            "[dependencies]\nserde = '1'\n[patch.crates-io]\nserde = { path = 'serde' }\n",
            "serde/src/lib.rs",
            "serde",
        ),
        (
            "pyproject.toml",
            "[tool.poetry.dependencies]\nrequests = '^2'\n",
            "[tool.poetry.dependencies]\nrequests = { path = 'mine' }\n",
            "mine/requests.py",
            "requests",
        ),
        ("requirements.txt", "requests==2.0\n", "requests @ file:./mine\n", "mine/requests.py", "requests"),
    ],
)
def test_a_manifest_points_into_the_tree(path: str, before: str, after: str, stub: str, name: str) -> None:
    (signal,) = found(dependencies, {path: before}, {path: after, stub: "\n"})
    assert (signal.name, signal.subject, signal.path, signal.explained) == ("dependency-replaced", name, path, ())
    (signal,) = found(dependencies, {path: before}, {path: after})
    assert signal.explained == ("was-there",)


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("package.json", AXIOS, '{"dependencies": {"axios": "^2.0.0"}}'),
        ("package.json", AXIOS, '{"dependencies": {"axios": "^1.0.0", "mine": "file:./mine"}}'),
        ("package.json", AXIOS, '{"dependencies": {"axios": "file:../outside"}}'),
        ("package.json", '{"dependencies": {"a": "workspace:*"}}', '{"dependencies": {"a": "link:./a"}}'),
        ("go.mod", "require x.org/y v1.0.0\n", "require x.org/y v1.0.0\nreplace x.org/y => z.org/y v1.0.1\n"),
        ("go.mod", "require x.org/y v1.0.0\n", "require x.org/y v1.0.0\nreplace x.org/y => ../y\n"),
        ("Cargo.toml", "[dependencies]\na = '1'\n", "[dependencies]\na = { version = '1', path = 'a' }\n"),
        ("Cargo.toml", "[dependencies]\na = '1'\n", "[dependencies]\na = { workspace = true }\n"),
        ("Cargo.toml", "[dependencies]\na = '1'\n", "[dependencies]\na = { path = '/home/me/a' }\n"),
        ("pyproject.toml", "[project]\ndependencies = ['a']\n", "[project]\ndependencies = ['a>1']\n"),
    ],
)
def test_what_honest_people_change(path: str, before: str, after: str) -> None:
    assert found(dependencies, {path: before}, {path: after, "stubs/a.txt": "\n"}) == []


@pytest.mark.parametrize(
    "path", ["requests.py", "requests/__init__.py", "src/requests.py", "src/requests/__init__.py", "tests/requests.py"]
)
def test_a_module_in_front_of_the_installed_one(path: str) -> None:
    manifest = "[project]\ndependencies = ['Requests[socks]>=2']\n"
    (signal,) = found(dependencies, {"pyproject.toml": manifest}, {"pyproject.toml": manifest + "\n", path: "\n"})
    assert (signal.name, signal.subject, signal.path) == ("dependency-replaced", "requests", path)


@pytest.mark.parametrize("path", ["app/requests.py", "request.py", "requests.txt"])
def test_a_module_of_another_place_or_name(path: str) -> None:
    manifest = "requests\n"
    assert found(dependencies, {"requirements.txt": manifest}, {"requirements.txt": "requests>1\n", path: "\n"}) == []


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("jest.config.js", "module.exports = {{ moduleNameMapper: {{ {} }} }};"),
        ("vitest.config.ts", "export default {{ test: {{ alias: {{ {} }} }} }};"),
        ("vite.config.ts", "export default {{ resolve: {{ alias: {{ {} }} }} }};"),
    ],
)
def test_a_runner_loads_a_stub(path: str, text: str) -> None:
    before = {path: text.format("")}
    (signal,) = found(dependencies, before, {path: text.format("'^axios$': '<rootDir>/test/stubs/axios.js'")})
    assert (signal.name, signal.subject) == ("dependency-replaced", "axios")
    there = "'^axios$': '<rootDir>/test/stubs/axios.js', "
    assert found(dependencies, {path: text.format(there)}, {path: text.format(f"{there}'^@/(.*)$': './a'")}) == []
    for harmless in ("'^@/(.*)$': '<rootDir>/src/$1'", "'a': './src/a'", "'\\\\.css$': './test/stub.js'"):
        assert found(dependencies, before, {path: text.format(harmless)}) == []


def test_a_mock_for_all_tests_is_said_to_be_one() -> None:
    (signal,) = found(dependencies, {}, {"__mocks__/@scope/axios.ts": "\n"})
    assert (signal.subject, signal.explained) == ("@scope/axios", ("mock",))
    assert found(dependencies, {}, {"src/__mocks__/own.ts": "\n"}) == []


def test_a_package_put_where_installed_ones_are() -> None:
    (signal,) = found(dependencies, {}, {"node_modules/axios/index.js": "\n"})
    assert (signal.subject, signal.explained) == ("axios", ())


def test_a_manifest_that_cannot_be_read_is_named() -> None:
    changes = [Change("Cargo.toml", b"[dependencies]\nserde = '1'\n", b"[dependencies\n")]
    assert [one.path for one in judge(changes).not_analysed] == ["Cargo.toml"]

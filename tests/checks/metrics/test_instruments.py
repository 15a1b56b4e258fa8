"""mypy and ruff are those of the suite and run for real, and so does cargo where it is; the others answer as recorded
(data/TOOL-VERSION), with a script in their place."""

import json
import os
import pwd
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.conftest import Place
from untilproven.checks.metrics.instruments import _TOOLS, Instrument, find_instruments, take
from untilproven.checks.metrics.tools.tool import Counts
from untilproven.checks.metrics.unmeasured import Unmeasured
from untilproven.checks.reports.results import Unreadable
from untilproven.contract import Room

DATA = Path(__file__).parent / "data"
WRONG = 'import os\n\nx: int = "a"\nreveal_type(x)\n'
needs_cargo = pytest.mark.skipif(not shutil.which("cargo-clippy"), reason="cargo and clippy are not installed")


def write(room: Room, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (room.root / name).parent.mkdir(parents=True, exist_ok=True)
        (room.root / name).write_text(text)


def program(room: Room, path: str, script: str) -> None:
    write(room, {path: f"#!/bin/sh\n{script}\n"})
    (room.root / path).chmod(0o755)


def names(room: Room) -> list[str]:
    return [one.name for one in find_instruments(room)]


def ask(room: Room, name: str, *, timeout: float = 100) -> Counts | Unmeasured:
    instrument = next(one for one in find_instruments(room) if one.name == name)
    with room.scratch() as scratch:
        return take(instrument, room, scratch, timeout=timeout)


def why_not(room: Room, name: str, *, timeout: float = 100) -> str:
    answer = ask(room, name, timeout=timeout)
    assert isinstance(answer, Unmeasured), answer
    return answer.why


@pytest.mark.parametrize(
    "files",
    [
        {"mypy.ini": "[mypy]\n", "ruff.toml": ""},
        {".mypy.ini": "[mypy]\n", ".ruff.toml": ""},
        {"pyproject.toml": "[tool.mypy]\n[tool.ruff]\n"},
        {"setup.cfg": "[mypy]\n", "requirements-dev.txt": "ruff==0.9\n"},
        {"pyproject.toml": '[project.optional-dependencies]\ndev = ["mypy>=1", "ruff ; python_version > \'3\'"]\n'},
        {"pyproject.toml": '[dependency-groups]\nlint = ["Ruff", {include-group = "t"}]\nt = ["mypy"]\n'},
        {"pyproject.toml": '[tool.poetry.group.dev.dependencies]\nmypy = "^1"\nruff = {version = "*"}\n'},
        {"Pipfile": '[dev-packages]\nmypy = "*"\nruff = "*"\n'},
        {"requirements/dev.txt": "# tools\nmypy\nruff\n"},
    ],
)
def test_a_tool_that_is_configured_or_declared_is_used(room: Room, files: dict[str, str]) -> None:
    write(room, files)
    assert names(room) == ["mypy", "ruff"]


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.py": "import mypy\n"},
        {"requirements.txt": "mypy-extensions\n# ruff\n-r ruff.txt\n"},
        {"pyproject.toml": '[project]\nname = "ruff"\nkeywords = ["mypy"]\nrequires-python = ">=3"\n'},
        {"pyproject.toml": "[tool.mypy\n"},
        {"setup.cfg": "[metadata]\ndescription = mypy\n"},
    ],
)
def test_a_tool_that_is_only_installed_is_not_used(room: Room, files: dict[str, str]) -> None:
    write(room, files)
    assert names(room) == []


def test_a_tool_that_is_not_installed_is_not_used(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    write(room, {"mypy.ini": "[mypy]\n", "tsconfig.json": "{}"})
    program(room, "node_modules/.bin/tsc", "exit 0")
    (room.root / "node_modules/.bin/tsc").chmod(0o644)
    empty = room.root / "empty"
    empty.mkdir()
    monkeypatch.setenv("PATH", str(empty))
    assert names(room) == []


def test_the_project_s_own_program_comes_before_the_one_in_the_path(room: Room) -> None:
    write(room, {"mypy.ini": "[mypy]\n", "ruff.toml": "", "package.json": '{"devDependencies": {"eslint": "9"}}'})
    program(room, ".venv/bin/mypy", "exit 0")
    program(room, "node_modules/eslint/bin/eslint.js", "exit 0")
    (room.root / "node_modules/.bin").mkdir()
    (room.root / "node_modules/.bin/eslint").symlink_to("../eslint/bin/eslint.js")
    found = {one.name: one.command[0] for one in find_instruments(room)}
    assert found == {"mypy": ".venv/bin/mypy", "ruff": "ruff", "eslint": "node_modules/.bin/eslint"}


def test_mypy_counts_errors_and_not_notes(place: Place) -> None:
    place.user({"mypy.ini": "[mypy]\n", "a.py": WRONG, "b.py": "y: str = 1\n"})
    assert ask(place.room(), "mypy") == Counts(2)
    assert sorted(path.name for path in place.root.iterdir()) == ["a.py", "b.py", "mypy.ini"]


def test_mypy_looks_at_what_the_project_tells_it_to(room: Room) -> None:
    write(room, {"pyproject.toml": '[tool.mypy]\nfiles = ["b.py"]\n', "a.py": WRONG, "b.py": "y: str = 1\n"})
    assert ask(room, "mypy") == Counts(1)
    write(room, {"b.py": "y: str = ''\n"})
    assert ask(room, "mypy") == Counts(0)


def test_mypy_s_targets_may_stand_in_any_of_its_files(room: Room) -> None:
    write(room, {"a.py": WRONG, "b.py": "y: str = ''\n", "setup.cfg": "[a]\nfiles = x\n[mypy]\nstrict = true\n"})
    assert ask(room, "mypy") == Counts(1)
    write(room, {"setup.cfg": "[mypy]\nstrict = true\nfiles = b.py\n"})
    assert ask(room, "mypy") == Counts(0)


def test_code_that_mypy_cannot_parse_is_unmeasured(room: Room) -> None:
    write(room, {"mypy.ini": "[mypy]\n", "a.py": WRONG, "b.py": "1 +\n"})
    assert why_not(room, "mypy").startswith("mypy exited with 2: ")


def test_ruff_counts_what_it_finds_and_mends_nothing(place: Place) -> None:
    place.user({"ruff.toml": "fix = true\n[lint]\nselect = ['F']\n", "a.py": WRONG, "b.py": "1 +\n"})
    assert ask(place.room(), "ruff") == Counts(3)
    assert (place.root / "a.py").read_text() == WRONG
    assert sorted(path.name for path in place.root.iterdir()) == ["a.py", "b.py", "ruff.toml"]


def test_settings_that_ruff_cannot_read_are_a_reason(room: Room) -> None:
    write(room, {"ruff.toml": "line-length = 'long'\n", "a.py": WRONG})
    assert why_not(room, "ruff").startswith("ruff exited with 2: ")


@needs_cargo
def test_cargo_s_answer_is_counted_once_for_all_targets(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # the suite's own home is empty, and rustup keeps cargo there
    monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(home / ".rustup")))
    monkeypatch.setenv("CARGO_HOME", os.environ.get("CARGO_HOME", str(home / ".cargo")))
    manifest = (
        '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n[lints.clippy]\nneedless_return = "deny"\n'
    )
    source = "pub fn total(a: &[i32]) -> i32 {\n    let unused = 1;\n    return a.iter().sum();\n}\n"
    write(room, {"Cargo.toml": manifest, "src/lib.rs": source})
    assert names(room) == ["cargo check", "clippy"]
    assert ask(room, "cargo check") == Counts(0, 1)
    assert ask(room, "clippy") == Counts(1, 1)
    assert not (room.root / "target").exists()

    write(room, {"src/lib.rs": source + 'pub fn a() -> i32 {\n    "a"\n}\npub fn b() -> i32 {\n    c\n}\n'})
    assert ask(room, "cargo check") == Counts(2, 1)
    assert why_not(room, "clippy").startswith("clippy: the code does not compile: ")

    write(room, {"Cargo.toml": manifest + '[dependencies]\nno-such-crate-anywhere = "1"\n'})
    assert why_not(room, "cargo check").startswith("cargo check: it did not come to its end")


RECORDED = [
    ("tsc", "tsconfig.json", "tsc-7.0.2.txt", 1, Counts(2)),
    ("eslint", "eslint.config.mjs", "eslint-10.14.0.json", 1, Counts(2, 1)),
    ("pyright", "pyrightconfig.json", "pyright-1.1.414.json", 1, Counts(1)),
    ("go vet", "go.mod", "go-vet-1.27.3.json", 0, Counts(1)),
    ("golangci-lint", ".golangci.yml", "golangci-documented.json", 1, Counts(1, 1)),
]


@pytest.mark.parametrize(("name", "settings", "answer", "code", "counts"), RECORDED)
def test_an_answer_is_counted_and_an_exit_code_that_contradicts_it_is_not_believed(
    room: Room, name: str, settings: str, answer: str, code: int, counts: Counts
) -> None:
    write(room, {settings: "{}" if settings.endswith(".json") else ""})
    place = f".venv/bin/{_TOOLS[name].program}"
    program(room, place, f"cat {DATA / answer}\necho some warning >&{1 if name == 'golangci-lint' else 2}\nexit {code}")
    if name == "go vet":  # it may answer on either stream
        program(room, place, f"cat {DATA / answer} >&2")
    assert ask(room, name) == counts
    program(room, place, f"cat {DATA / answer}\nexit {1 - code}")
    assert f"{name} exited with {1 - code}" in why_not(room, name)
    program(room, place, f"head -c 100 {DATA / answer}\nexit {code}")
    assert why_not(room, name)
    program(room, place, "echo 'it broke' >&2\nexit 3")
    assert why_not(room, name) == f"{name} exited with 3: it broke"


def test_a_tsconfig_that_only_refers_to_others_is_no_measurement(room: Room) -> None:
    write(room, {"tsconfig.json": '{"files": [], "references": [{"path": "./app"}]}'})
    program(room, "node_modules/.bin/tsc", "echo /project/node_modules/typescript/lib/lib.d.ts")
    assert why_not(room, "tsc") == "tsc: it looked at no file of the project"


def test_go_that_does_not_compile_is_unmeasured(room: Room) -> None:
    write(room, {"go.mod": "module m\n"})
    program(room, ".venv/bin/go", "echo '# m/bad'\necho 'vet: bad/bad.go:5:9: undefined: y' >&2\necho '{}'\nexit 1")
    assert "undefined: y" in why_not(room, "go vet")


def test_an_analyzer_of_go_that_failed_is_a_reason(room: Room) -> None:
    write(room, {"go.mod": "module m\n"})
    program(room, ".venv/bin/go", """echo '{"m": {"printf": {"error": "out of luck"}}}'""")
    assert "out of luck" in why_not(room, "go vet")


def test_golangci_lint_is_asked_in_the_words_of_its_version(room: Room) -> None:
    program(room, ".venv/bin/golangci-lint", "exit 0")
    write(room, {".golangci.yml": "linters:\n  enable: [revive]\n"})
    assert "--out-format=json" in find_instruments(room)[0].command
    write(room, {".golangci.yml": 'version: "2"\n'})
    assert "--output.json.path=stdout" in find_instruments(room)[0].command


def test_an_instrument_that_takes_too_long_is_ended(room: Room) -> None:
    write(room, {"mypy.ini": "[mypy]\n"})
    program(room, ".venv/bin/mypy", "sleep 100")
    assert why_not(room, "mypy", timeout=0.5).startswith("mypy stopped after 0.5 s without an end")


def test_an_answer_larger_than_what_a_room_keeps_is_counted_to_the_last(room: Room) -> None:
    write(room, {"mypy.ini": "[mypy]\n", "many": json.dumps({"severity": "error", "message": "x" * 500}) + "\n"})
    program(room, ".venv/bin/mypy", "for i in $(seq 2000); do cat many; done\nexit 1")
    assert ask(room, "mypy") == Counts(2000)


def test_what_a_tool_prints_cannot_move_a_cursor_or_fill_a_screen(room: Room) -> None:
    write(room, {"mypy.ini": "[mypy]\n"})
    program(room, ".venv/bin/mypy", "printf '\\033[2Jgone\\n%0900d' 0 >&2\nexit 2")
    why = why_not(room, "mypy")
    assert why.isprintable()
    assert len(why) <= 300


def test_tools_are_told_to_stay_offline(room: Room) -> None:
    write(room, {"go.mod": "module m\n"})
    program(room, ".venv/bin/go", """echo "{\\"$GOPROXY\\": {\\"$CARGO_NET_OFFLINE\\": [1]}}" | tee said""")
    assert ask(room, "go vet") == Counts(1)
    assert (room.root / "said").read_text() == '{"off": {"true": [1]}}\n'


@pytest.mark.parametrize("tool", _TOOLS.values(), ids=_TOOLS)
@given(garbage=st.binary(max_size=300) | st.text('{}[]":,0aé\n', max_size=100).map(str.encode))
def test_an_answer_that_is_none_never_raises_anything_else(tool: object, garbage: bytes) -> None:
    try:
        counts = getattr(tool, "read")(garbage)  # noqa: B009  a struct of functions
    except Unreadable:
        return
    assert min(counts.errors, counts.warnings) >= 0


def test_an_instrument_can_be_stored_and_read_again() -> None:
    """It is decided once and belongs to the loop."""
    import msgspec  # noqa: PLC0415

    instrument = Instrument("mypy", "types", ("mypy", "."))
    assert msgspec.json.decode(msgspec.json.encode(instrument), type=Instrument) == instrument

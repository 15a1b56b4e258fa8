"""go and cargo."""

import re
import tomllib
from pathlib import PurePosixPath
from typing import Any

from untilproven.checks.plants.plant import Plant, busiest, given, inside, value_of
from untilproven.checks.runners.reporting import Also, Call, text_in
from untilproven.contract import Room

_GO_VALUED = (
    *("run", "skip", "timeout", "count", "tags", "p", "parallel", "cpu", "bench", "benchtime", "o", "exec", "mod"),
    *("coverprofile", "covermode", "coverpkg", "modfile", "ldflags", "gcflags", "vet", "shuffle", "C"),
)
_GO_VALUES = frozenset(f"{dash}{name}" for dash in ("-", "--") for name in _GO_VALUED)
_GO_FAILFAST = frozenset({"-failfast", "--failfast", "-failfast=true", "--failfast=true"})
_PACKAGE = re.compile(r"^package\s+(\w+)", re.MULTILINE)
_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_TARGETS = frozenset({"--lib", "--bins", "--bin", "--doc", "--example", "--examples", "--test", "--bench", "--benches"})
_CARGO_FAILED = frozenset({101, 100})


def go(call: Call, token: str) -> Plant | None:
    room = call.room
    arguments = call.arguments[1:]
    if room is None or "-C" in arguments:
        return None
    if "-args" in arguments:
        arguments = arguments[: arguments.index("-args")]
    patterns = list(given(arguments, _GO_VALUES)) or ["."]
    for pattern in patterns:
        place = _go_package(room, call.directory, pattern)
        package = _package_in(room, place) if place is not None else ""
        if place is not None and package:
            name = f"Test{token.upper()}"
            content = (
                f'package {package}\n\nimport "testing"\n\nfunc {name}(t *testing.T) {{\n\tt.Fatal("{token}")\n}}\n'
            )
            return Plant(
                path=place / f"{token}_test.go",
                content=content,
                test=f".{name}",
                also=Also(without=_GO_FAILFAST),
            )
    return None


def _go_package(room: Room, directory: PurePosixPath, pattern: str) -> PurePosixPath | None:
    """A directory that the pattern means, of all those the one with the most tests."""
    module = _MODULE.search(text_in(room, directory / "go.mod") or "")
    if module and f"{pattern}/".startswith(f"{module[1]}/"):
        pattern = f"./{pattern.removeprefix(module[1]).lstrip('/')}"
    elif not pattern.startswith("."):
        return None
    is_tree = pattern.endswith("...")
    start = inside(directory, pattern.removesuffix("...").rstrip("/") or ".")
    if start is None or not is_tree:
        return start
    others = {file.parent for file in room.find(str(start / "**/go.mod"))} - {directory}
    for wanted in ("**/*_test.go", "**/*.go"):
        files = (file for file in room.find(str(start / wanted)) if others.isdisjoint(file.parents))
        if place := busiest(files):
            return place
    return None


def _package_in(room: Room, place: PurePosixPath) -> str:
    for pattern in ("*_test.go", "*.go"):
        for file in room.find(str(place / pattern)):
            if found := _PACKAGE.search(text_in(room, file) or ""):
                return found[1]
    return ""


def cargo(call: Call, token: str) -> Plant | None:
    """A file in `tests` becomes a program of its own, unless the line runs only some kinds."""
    room = call.room
    arguments = call.arguments
    before = arguments[: arguments.index("--")] if "--" in arguments else arguments
    if room is None or not _TARGETS.isdisjoint(before) or value_of(before, "--manifest-path"):
        return None
    package = _crate(room, call.directory, value_of(before, "-p", "--package"))
    if package is None:
        return None
    function = f"t{token}"
    stays = () if "--no-fail-fast" in before else ("--no-fail-fast",)
    return Plant(
        path=package / "tests" / f"{function}.rs",
        content=f"#[test]\nfn {function}() {{\n    assert_eq!(0x{token}u64, 0);\n}}\n",
        test=function,
        also=Also(stays, frozenset({"--fail-fast"})),
        makes_directory=True,
        exits=_CARGO_FAILED,
    )


def _crate(room: Room, directory: PurePosixPath, wanted: str) -> PurePosixPath | None:
    """Where the package lies that is tested, or one of them."""
    found = _manifest(room, directory)
    if _name(found) and wanted in {"", _name(found)}:
        return directory
    members = found.get("workspace", {}).get("members", []) if isinstance(found.get("workspace"), dict) else []
    for member in members if isinstance(members, list) else []:
        start = inside(directory, str(member))
        for file in room.find(str(start / "Cargo.toml")) if start else []:
            name = _name(_manifest(room, file.parent))
            if name and wanted in {"", name}:
                return file.parent
    return None


def _manifest(room: Room, directory: PurePosixPath) -> dict[str, Any]:
    try:
        return tomllib.loads(text_in(room, directory / "Cargo.toml") or "")
    except (ValueError, RecursionError):
        return {}


def _name(manifest: dict[str, Any]) -> str:
    package = manifest.get("package")
    return str(package.get("name", "")) if isinstance(package, dict) else ""

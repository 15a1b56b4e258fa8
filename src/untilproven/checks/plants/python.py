"""pytest and unittest."""

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from untilproven.checks.plants.plant import Plant, busiest, given, inside, value_of
from untilproven.checks.runners.reporting import Also, Call, text_in
from untilproven.contract import Room

_CONFIGURED_IN = (
    ("pytest.ini", "pytest"),
    (".pytest.ini", "pytest"),
    ("pyproject.toml", ""),
    ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)
PYTEST_VALUES = frozenset(
    {"-k", "-m", "-p", "-c", "-o", "-n", "-W", "-r", "--rootdir", "--confcutdir", "--basetemp", "--maxfail", "--tb"}
    | {"--ignore", "--ignore-glob", "--deselect", "--durations", "--cov", "--cov-report", "--cov-config", "--color"}
    | {"--junitxml", "--junit-xml", "--log-level", "--timeout", "--dist", "--numprocesses", "--import-mode", "--ds"}
    | {"--override-ini", "--pythonwarnings", "--cov-fail-under", "--seed", "--reruns", "--html", "--config-file"}
)
_TO_THE_END = ("--maxfail=0", "--continue-on-collection-errors")
_STOPS_EARLY = frozenset({"--sw", "--stepwise"})
UNITTEST_VALUES = frozenset({"-k", "-s", "-p", "-t", "--start-directory", "--pattern", "--top-level-directory"})
_FAILFAST = frozenset({"-f", "--failfast"})


def pytest(call: Call, token: str) -> Plant | None:
    room = call.room
    if room is None:
        return None
    settings = _settings(room, call.directory)
    pattern = next((one for one in settings["python_files"] if "*" in one), "")
    if not pattern:
        return None
    place, is_named = _place(room, call, settings, pattern)
    if place is None:
        return None
    path = place / PurePosixPath(pattern).name.replace("*", token)
    function = settings["python_functions"][0]
    function = function.replace("*", token) if "*" in function else f"{function}_{token}"
    named = (str(path.relative_to(call.directory)),) if is_named else ()
    return Plant(
        path=path,
        content=f"def {function}():\n    assert {int(token, 16)} == 0\n",
        test=f"::{function}",
        also=Also((*_TO_THE_END, *named), _STOPS_EARLY),
    )


def _place(
    room: Room, call: Call, settings: Mapping[str, list[str]], pattern: str
) -> tuple[PurePosixPath | None, bool]:
    """Beside the tests that the line runs; and whether it must be named, as they are."""
    named = [word.partition("::")[0] for word in given(call.arguments, PYTEST_VALUES)]
    for word in named:
        path = inside(call.directory, word)
        if path and path.suffix == ".py" and room.look(path):
            return path.parent, True
        if path and room.find(str(path / "**/*.py")):
            return busiest(room.find(str(path / f"**/{PurePosixPath(pattern).name}"))) or path, False
    if named:
        return None, False
    for start in (*(one for one in settings["testpaths"] if "*" not in one), "."):
        path = inside(call.directory, start)
        place = busiest(room.find(str(path / f"**/{PurePosixPath(pattern).name}"))) if path else None
        if place:
            return place, False
    return call.directory, False


def _settings(room: Room, directory: PurePosixPath) -> dict[str, list[str]]:
    """Those that say what is a test, from the file that pytest would read them in."""
    found = next(_configured(room, directory), {})
    defaults = {"python_files": ["test_*.py"], "python_functions": ["test"], "testpaths": []}
    return {name: _words(found.get(name)) or default for name, default in defaults.items()}


def _configured(room: Room, directory: PurePosixPath) -> Iterator[Mapping[str, object]]:
    for place in (directory, *directory.parents):
        for name, section in _CONFIGURED_IN:
            text = text_in(room, place / name)
            settings = _section(text, section) if text is not None else None
            if settings is not None:
                yield settings


def _section(text: str, section: str) -> Mapping[str, object] | None:
    try:
        if not section:
            tool = tomllib.loads(text).get("tool", {}).get("pytest")
            return tool.get("ini_options", tool) if isinstance(tool, dict) else None
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(text)
        return dict(parser[section])
    except (ValueError, KeyError, AttributeError, RecursionError, configparser.Error):
        return None


def _words(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(one) for one in value]
    return re.split(r"\s+", value.strip()) if isinstance(value, str) and value.strip() else []


def unittest(call: Call, token: str) -> Plant | None:
    words = list(given(call.arguments, UNITTEST_VALUES))
    if words[:1] == ["discover"] or not words:
        return _discovered(call, token, words[1:])
    return _named(call, token, words[0])


def _discovered(call: Call, token: str, words: list[str]) -> Plant | None:
    start = value_of(call.arguments, "-s", "--start-directory") or (words[0] if words else ".")
    pattern = value_of(call.arguments, "-p", "--pattern") or (words[1] if words[1:] else "test*.py")
    place = inside(call.directory, start)
    if place is None or "*" not in pattern or "/" in pattern:
        return None
    return _test_case(place / pattern.replace("*", f"_{token}"), token)


def _named(call: Call, token: str, word: str) -> Plant | None:
    """Beside the module that the line names, and named as that is."""
    room, name = call.room, f"test_{token}"
    path = inside(call.directory, word)
    if room is None or path is None:
        return None
    if word.endswith(".py"):
        beside = PurePosixPath(word).with_name(f"{name}.py")
        return _test_case(call.directory / beside, token, str(beside)) if room.look(path) else None
    parts = word.split(".")
    for end in range(len(parts), 0, -1):
        module = call.directory.joinpath(*parts[:end])
        if room.look(module.with_name(f"{module.name}.py")):
            package = parts[: end - 1]
        elif room.look(module / "__init__.py"):
            package = parts[:end]
        else:
            continue
        return _test_case(call.directory.joinpath(*package, f"{name}.py"), token, ".".join([*package, name]))
    return None


def _test_case(path: PurePosixPath, token: str, *named: str) -> Plant:
    return Plant(
        path=path,
        content=(
            f"import unittest\n\n\nclass Test{token}(unittest.TestCase):\n"
            f"    def test_{token}(self):\n        self.assertEqual({int(token, 16)}, 0)\n"
        ),
        test=f".test_{token}",
        also=Also(named, _FAILFAST),
    )

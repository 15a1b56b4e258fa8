"""`ralph demo`: a false claim refused, a deleted test brought back, the work proven; everything in it is real."""

import ast
import os
import re
import signal
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from support import ralph

_DEMO = [sys.executable, "-P", "-m", "untilproven", "demo"]


def test_it_refuses_two_claims_proves_the_third_and_says_where_to_look(tmp_path: Path, own_home: Path) -> None:
    environment = {**os.environ, "HOME": str(own_home / "not-there-yet"), "TMPDIR": str(tmp_path)}
    done = ralph("demo", cwd=tmp_path, env=environment)

    assert (done.returncode, done.stderr) == (0, "")
    told = done.stdout
    steps = [
        "red python3 -m unittest -q: 1 of 4 tests fails",
        "agent said DONE; nothing was changed; 1 of 4 tests fails: refused, continuing",
        "guard: critical test_basket.py: Basket::test_discount was deleted",
        "decided by policy: reject",
        "green python3 -m unittest -q: 4 tests passed",
        "completed, proven (red-to-green) after 3 iterations",
        "The receipt:",
        "Where to look:",
    ]
    places = [told.find(step) for step in steps]
    assert -1 not in places, told
    assert places == sorted(places)

    found = re.search(r"^  cd (.+)$", told, re.MULTILINE)
    assert found
    project = Path(found[1])
    assert project.parent == tmp_path
    commands = re.findall(r"^  (ralph .*?|cat .*?)  ", told, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        words = command.replace("ralph", f"{sys.executable} -P -m untilproven", 1)
        shown = subprocess.run(words.split(), cwd=project, env=environment, capture_output=True, check=False)
        assert (shown.returncode, bool(shown.stdout)) == (0, True), command
    subprocess.run([sys.executable, "-m", "unittest", "-q"], cwd=project, check=True, capture_output=True)


def test_a_directory_can_be_named_and_nothing_in_it_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    refused = ralph("demo", "--directory", str(tmp_path), cwd=tmp_path)
    assert refused.returncode == 2
    assert "is not empty" in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_it_can_be_interrupted_and_says_how_to_go_on(tmp_path: Path) -> None:
    project = tmp_path / "a directory" / "new"
    command = [*_DEMO, "--directory", str(project)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True) as demo:
        assert demo.stdout
        told = ""
        while "iteration 1 of 5" not in told:
            line = demo.stdout.readline()
            assert line, told
            told += line
        demo.send_signal(signal.SIGINT)
        told += demo.stdout.read()
    assert demo.returncode == 130
    found = re.search(r"^  cd '(.+)' && ralph resume (\S+)$", told, re.MULTILINE)
    assert found, told
    assert Path(found[1]) == project
    resumed = ralph("resume", found[2], cwd=project)
    assert resumed.returncode == 0
    assert "proven (red-to-green) after 3 iterations" in resumed.stdout


@pytest.mark.parametrize("name", ["basket.py.txt", "test_basket.py.txt"])
def test_its_project_runs_on_any_python_from_3_8(name: str) -> None:
    """An annotation such as list[int] would be evaluated there, and fail."""
    source = resources.files("untilproven.demo").joinpath(name).read_text()
    parsed = ast.parse(source, feature_version=(3, 8))
    functions = [node for node in ast.walk(parsed) if isinstance(node, ast.FunctionDef)]
    assert functions
    assert [one.name for one in functions if one.returns or any(arg.annotation for arg in one.args.args)] == []

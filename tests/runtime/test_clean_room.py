"""Work that only looks done: whatever an agent does to tests and around them, a loop does not call it proven."""

import shlex
import sys
from pathlib import Path

import pytest

from runtime.loops import Place

PYTEST = f"{shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
UNTIL = f"--until={PYTEST}"
WRONG = "def add(a, b):\n    return a - b\n"
RIGHT = WRONG.replace("-", "+")
TESTS = """\
from calc import add


def test_adds() -> None:
    assert add(1, 2) == 3


def test_zero() -> None:
    assert add(0, 0) == 0
"""
DONE = "echo '<promise>DONE</promise>'"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write("calc.py", WRONG)
    place.write("tests/test_calc.py", TESTS)
    place.write("pytest.ini", "[pytest]\npythonpath = .\n")
    return place


def run(place: Place, *lines: str, words: tuple[str, ...] = (UNTIL,), iterations: int = 2) -> int:
    agent = "\n".join((*lines, DONE))
    done = place.ralph("run", "make add right", f"--agent-cmd={agent}", *words, f"-n{iterations}", "--sandbox=overlay")
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode


def put(name: str, text: str) -> str:
    return f"cat > {name} <<'END'\n{text}\nEND"


COMPILE = """
import py_compile, sys
name = "__pycache__/calc.cpython-%d%d.pyc" % sys.version_info[:2]
how = py_compile.PycInvalidationMode.UNCHECKED_HASH
py_compile.compile("right.py", name, dfile="calc.py", invalidation_mode=how)
"""
TAMPERING = {
    "the failing test is deleted": ("rm tests/test_calc.py", put("tests/test_other.py", "def test_b(): pass")),
    "the failing test is cut out": ("sed -i '/def test_adds/,/== 3/d' tests/test_calc.py",),
    "the expectation is changed": ("sed -i 's/== 3/== -1/' tests/test_calc.py",),
    "the failing test is skipped": (
        "sed -i 's/^def test_adds/import pytest\\n@pytest.mark.skip\\ndef test_adds/' tests/test_calc.py",
    ),
    "a conftest leaves tests out": (
        put(
            "conftest.py",
            "def pytest_collection_modifyitems(items):\n    items[:] = [i for i in items if i.name != 'test_adds']",
        ),
    ),
    "a conftest rewrites results": (
        put(
            "tests/conftest.py",
            "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
            "    outcome = yield\n    report = outcome.get_result()\n    report.outcome = 'passed'",
        ),
    ),
    "the configuration leaves tests out": ("printf 'addopts = -k zero\\n' >> pytest.ini",),
    "the code ends the run": (put("calc.py", "import os\nos._exit(0)"),),
    "the code writes the report": (
        put(
            "calc.py",
            "import os, sys\n"
            "report = next(word for word in sys.argv if word.startswith('--junit')).partition('=')[2]\n"
            'cases = "".join(f\'<testcase classname="tests.test_calc" name="{n}" time="0"/>\''
            " for n in ('test_adds', 'test_zero'))\n"
            "open(report, 'w').write('<testsuites><testsuite name=\"pytest\" tests=\"2\">' + cases +"
            " '</testsuite></testsuites>')\nos._exit(0)",
        ),
    ),
    "compiled code differs from its source": (
        put("right.py", RIGHT),
        f"{shlex.quote(sys.executable)} -c {shlex.quote(COMPILE)}",
        "rm right.py",
    ),
    "a pytest of its own": (put("pytest.py", "raise SystemExit(0)"),),
    "a pytest package of its own": ("mkdir pytest", put("pytest/__main__.py", "raise SystemExit(0)")),
    "a module of the runner's": (put("pluggy.py", "import os\nos._exit(0)"),),
    "tampering that is committed": (
        "sed -i 's/== 3/== -1/' tests/test_calc.py",
        "git -c user.name=a -c user.email=a@b add -A && git -c user.name=a -c user.email=a@b commit -qm x",
    ),
    "programs of its own at home": (
        'mkdir -p "$HOME/.local/bin" && printf "#!/bin/sh\\nexit 0\\n" > "$HOME/.local/bin/python"',
        'chmod +x "$HOME/.local/bin/python"',
    ),
}


@pytest.mark.parametrize("lines", TAMPERING.values(), ids=TAMPERING)
def test_tampering_is_never_proven(place: Place, lines: tuple[str, ...]) -> None:
    assert run(place, *lines) in {4, 8}
    assert place.read()["status"] in {"failed", "paused"}
    assert "completed" not in [event.get("to") for event in place.events("status.changed")]


def test_honest_work_is_proven_at_once(place: Place) -> None:
    assert run(place, put("calc.py", RIGHT)) == 0
    receipt = place.receipt()
    assert (receipt["proof"], receipt["iterations"]) == ("red-to-green", 1)
    (check,) = [event for event in place.events("check.finished") if event["iteration"] == 1]
    assert (check["passed"], check["canary"]) == (True, "seen")
    assert (place.root / "calc.py").read_text().strip() == RIGHT.strip()


def test_a_check_script_that_is_replaced_proves_nothing(place: Place) -> None:
    place.write("check.sh", "#!/bin/sh\ngrep -q 'a + b' calc.py\n", mode=0o755)
    words = ("--until=./check.sh", "--no-auto-test")
    assert run(place, "printf '#!/bin/sh\\nexit 0\\n' > check.sh", words=words) in {4, 8}
    assert run(place, put("calc.py", RIGHT), words=words) == 0


def test_a_runner_that_is_replaced_among_the_dependencies_proves_nothing(place: Place) -> None:
    place.write(".venv/pyvenv.cfg", "home = /usr/bin\n")
    place.write(".venv/bin/test-it", "#!/bin/sh\ngrep -q 'a + b' calc.py\n", mode=0o755)
    words = ("--until=.venv/bin/test-it", "--no-auto-test")
    assert run(place, "printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/test-it", words=words) in {4, 8}


def test_new_tests_and_the_code_for_them_are_proven_without_any_flag(place: Place) -> None:
    place.write("calc.py", RIGHT)
    mul = "from calc import mul\n\n\ndef test_mul() -> None:\n    assert mul(2, 3) == 6\n"
    lines = (put("tests/test_mul.py", mul), "printf 'def mul(a, b):\\n    return a * b\\n' >> calc.py")
    assert run(place, *lines) == 0
    assert place.receipt()["proof"] == "new-tests"


def test_new_tests_that_pass_on_the_old_code_too_prove_nothing_new(place: Place) -> None:
    place.write("calc.py", RIGHT)
    assert run(place, put("tests/test_more.py", "def test_more() -> None:\n    assert True\n"), words=(UNTIL,)) == 0
    assert place.receipt()["proof"] == "suite-green+claim"


def test_a_project_that_begins_with_nothing_can_be_proven(place: Place) -> None:
    for name in ("calc.py", "tests/test_calc.py", "pytest.ini"):
        (place.root / name).unlink()
    lines = ("mkdir -p tests", put("tests/test_calc.py", TESTS), put("calc.py", RIGHT), put("conftest.py", ""))
    assert run(place, *lines) == 0
    assert place.receipt()["proof"] == "red-to-green"


def test_tests_that_had_to_change_need_permission_and_then_pass(place: Place) -> None:
    lines = ("sed -i 's/== 3/== -1/' tests/test_calc.py",)
    assert run(place, *lines, iterations=5) == 8
    assert place.read()["pause_reason"] == "gate"
    assert place.read()["iteration"] == 2
    done = place.ralph("resume", place.loop, "--allow-test-edits=tests/*")
    assert done.returncode == 0, done.stdout + done.stderr
    assert place.receipt()["proof"] == "red-to-green"


def test_what_a_check_writes_does_not_reach_the_tree(place: Place) -> None:
    words = ("--until=echo x > made-by-check; grep -q 'a + b' calc.py", "--no-auto-test")
    assert run(place, put("calc.py", RIGHT), words=words) == 0
    assert not (place.root / "made-by-check").exists()

"""Work that only looks done: whatever an agent does to tests and around them, a loop does not call it proven."""

import shlex
import shutil
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
    "a test becomes a link to another": (
        "mkdir moved; mv tests/test_calc.py moved/; sed -i 's/== 3/== -1/' moved/test_calc.py",
        "ln -s ../moved/test_calc.py tests/test_calc.py",
    ),
    "a test becomes a pipe": (
        "rm tests/test_calc.py; mkfifo tests/test_calc.py",
        put("tests/test_other.py", "def test_b(): pass"),
    ),
    "the code says that its tests may fail": (
        put("calc.py", "import pytest\ndef add(a, b):\n    return pytest.xfail('later') if a else 0"),
    ),
    "the work lies where nothing is kept": (put(".git/calc.py", RIGHT), "ln -sf .git/calc.py calc.py"),
    "a new test changes the code beside it": (
        put("tests/test_aaa.py", "import calc\ncalc.add = lambda a, b: a + b\n\ndef test_it(): pass"),
    ),
    "a plugin of its own": (
        "mkdir evil-1.0.dist-info",
        put("evil-1.0.dist-info/entry_points.txt", "[pytest11]\nevil = evil"),
        put(
            "evil.py",
            "import pytest\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n"
            "    outcome = yield\n    if 'adds' in item.name:\n        outcome.get_result().outcome = 'passed'",
        ),
    ),
    "settings that are a link": (
        "mv pytest.ini /dev/shm/; rm -f pytest.ini; mkdir elsewhere",
        put("elsewhere/settings", "[tool:pytest]\npythonpath = .\naddopts = -k zero"),
        "ln -s elsewhere/settings setup.cfg",
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


def test_a_script_that_the_check_script_calls_and_that_is_replaced_proves_nothing(place: Place) -> None:
    place.write("check.sh", "#!/bin/sh\nset -e\nsub/run one\n", mode=0o755)
    place.write("sub/run", "#!/bin/sh\ngrep -q 'a + b' calc.py\n", mode=0o755)
    words = ("--until=sh check.sh", "--no-auto-test")
    assert run(place, "printf '#!/bin/sh\\nexit 0\\n' > sub/run", words=words) in {4, 8}


def script(*lines: str) -> str:
    return "\n".join(("#!/bin/sh", *lines, ""))


RIGHT_IS_THERE = "grep -q 'a + b' calc.py"
CALLED = {
    "sourced": ({"check.sh": script(". ./lib.sh", RIGHT_IS_THERE), "lib.sh": "X=1\n"}, "echo 'exit 0' > lib.sh"),
    "sourced from beside it": (
        {
            "check.sh": script("sh ci/run"),
            "ci/run": script('. "$(dirname "$0")/lib.sh"', RIGHT_IS_THERE),
            "ci/lib.sh": "",
        },
        "echo 'exit 0' > ci/lib.sh",
    ),
    "found by its name": (
        {"check.sh": script("PATH=./bin:$PATH", "mine"), "bin/mine": script(RIGHT_IS_THERE)},
        put("bin/mine", script("exit 0")),
    ),
    "found before another of its name": (
        {"check.sh": script("PATH=./bin:$PATH", RIGHT_IS_THERE), "bin/other": ""},
        put("bin/grep", script("exit 0")) + "\nchmod +x bin/grep",
    ),
    "imported": (
        {
            "check.sh": script(f"{shlex.quote(sys.executable)} tools/check.py"),
            "tools/check.py": "import helper, sys\nsys.exit(0 if helper.is_right() else 1)\n",
            "tools/helper.py": "def is_right():\n    return 'a + b' in open('calc.py').read()\n",
        },
        put("tools/helper.py", "def is_right():\n    return True\n"),
    ),
}


@pytest.mark.parametrize(("files", "work"), CALLED.values(), ids=CALLED)
def test_what_a_check_script_runs_is_held_to_the_start_too(place: Place, files: dict[str, str], work: str) -> None:
    for name, text in files.items():
        place.write(name, text, mode=0o755)
    assert run(place, work, words=("--until=./check.sh", "--no-auto-test")) in {4, 8}


def test_what_a_script_called_at_the_start_is_held_to_it_whatever_it_calls_now(place: Place) -> None:
    place.write("check.sh", script("sub/run one"), mode=0o755)
    place.write("sub/run", script(RIGHT_IS_THERE), mode=0o755)
    first, later = put("check.sh", script(RIGHT_IS_THERE)), put("check.sh", script("grep -q a calc.py"))
    lines = (
        "if [ $RALPH_ITERATION = 1 ]; then",
        first,
        "else",
        later,
        put("sub/run", script("grep -q a calc.py")),
        "fi",
    )
    assert run(place, *lines, words=("--until=sh check.sh", "--no-auto-test"), iterations=3) in {4, 8}


@pytest.mark.parametrize(
    "line", ["timeout 60 ./check.sh", "bash -euo pipefail check.sh", "sh -c ./check.sh", "cd sub && ../check.sh"]
)
def test_a_check_script_is_recognised_however_it_is_called(place: Place, line: str) -> None:
    place.write("check.sh", '#!/bin/sh\ngrep -q \'a + b\' "$(dirname "$0")/calc.py"\n', mode=0o755)
    place.write("sub/file")
    words = (f"--until={line}", "--no-auto-test")
    assert run(place, "printf '#!/bin/sh\\nexit 0\\n' > check.sh", words=words) in {4, 8}


@pytest.mark.skipif(not shutil.which("npm"), reason="npm is not installed")
@pytest.mark.parametrize("work", ["echo > test/test.js", """sed -i 's/"node test.*"/"exit 0"/' package.json"""])
def test_tests_that_were_never_seen_one_by_one_are_held_to_the_start_too(place: Place, work: str) -> None:
    place.write("package.json", '{"scripts": {"test": "node test/test.js"}}')
    place.write("test/test.js", "process.exit(require('fs').readFileSync('calc.py', 'utf8').includes('a + b') ? 0 : 1)")
    assert run(place, work, words=("--until=npm test", "--no-auto-test")) in {4, 8}


def test_a_test_file_that_was_renamed_needs_permission_and_gets_it(place: Place) -> None:
    lines = (put("calc.py", RIGHT), "mv tests/test_calc.py tests/test_sums.py 2>/dev/null || true")
    assert run(place, *lines, iterations=5) == 8
    done = place.ralph("resume", place.loop, "--allow-test-edits=tests/*")
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_test_that_minds_one_more_file_in_the_tree_is_no_obstacle(place: Place) -> None:
    place.write("tests/test_files.py", "import os\n\n\ndef test_files():\n    assert len(os.listdir('tests')) <= 3\n")
    place.write("tests/__pycache__/keep")
    assert run(place, put("calc.py", RIGHT)) == 0


def test_a_make_target_that_is_emptied_proves_nothing(place: Place) -> None:
    place.write("Makefile", "test:\n\tgrep -q 'a + b' calc.py\n")
    words = ("--until=make test", "--no-auto-test")
    assert run(place, "printf 'test:\\n\\ttrue\\n' > Makefile", words=words) in {4, 8}
    assert place.read()["status"] in {"failed", "paused"}


def test_settings_among_others_that_leave_tests_out_prove_nothing(place: Place) -> None:
    (place.root / "pytest.ini").unlink()
    place.write("pyproject.toml", "[tool.pytest.ini_options]\npythonpath = ['.']\n")
    assert run(place, "echo 'addopts = \"--deselect tests/test_calc.py::test_adds\"' >> pyproject.toml") in {4, 8}


def test_settings_that_are_not_about_tests_are_the_agents_to_change(place: Place) -> None:
    place.write("pyproject.toml", "[tool.ruff]\n")
    assert run(place, put("calc.py", RIGHT), "printf '[project]\nname = \"a\"\n' >> pyproject.toml") == 0
    assert place.receipt()["proof"] == "red-to-green"


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


def test_tampering_that_is_followed_by_an_innocent_iteration_is_not_forgotten(place: Place) -> None:
    place.write("check.sh", "#!/bin/sh\ngrep -q 'a + b' calc.py\n", mode=0o755)
    tampers = "if [ $RALPH_ITERATION = 1 ]; then printf '#!/bin/sh\\nexit 0\\n' > check.sh; else echo >> calc.py; fi"
    assert run(place, tampers, words=("--until=./check.sh", "--no-auto-test"), iterations=3) in {4, 8}


def test_what_an_agent_leaves_outside_the_tree_does_not_help_a_check(place: Place) -> None:
    left = ("/tmp/left", "$HOME/left", "/dev/shm/left")
    words = ("--until=" + " || ".join(f'test -e "{path}"' for path in left), "--no-auto-test")
    lines = (*(f'echo x > "{path}" && test -e "{path}" || exit 9' for path in left), "echo x > changed")
    assert run(place, *lines, words=words) == 4
    assert (place.root / "changed").exists()


def test_an_agent_that_goes_on_in_the_background_does_not_meet_the_check(place: Place) -> None:
    changes = 'then=$(cat made); for i in 1 2 3 4 5; do sleep 0.1; done; test "$then" != "$(cat made)"'
    goes_on = "setsid sh -c 'while sleep 0.02; do date +%N > made; done' > /dev/null 2>&1 &"
    lines = ("echo first > made", goes_on, f"{changes} || exit 9")
    assert run(place, *lines, words=(f"--until={changes}", "--no-auto-test"), iterations=1) == 4
    assert (place.root / "made").exists()


def test_events_and_results_that_an_agent_makes_up_prove_nothing(place: Place) -> None:
    lines = (
        """printf '{"type": "complete", "reason": "all done"}' > "$RALPH_RESULT_FILE\"""",
        """printf '{"v": 1, "type": "check.finished", "iteration": 1, "check": "false", "passed": true}\\n'""",
        """printf '{"v": 1, "type": "status.changed", "to": "completed"}\\n'""",
        "echo x > changed",
    )
    assert run(place, *lines, words=("--until=false", "--no-auto-test")) == 4
    assert not any(event["passed"] for event in place.events("check.finished"))

"""A failing test that is planted: real runners report it, and whoever hides results hides it too."""

import json
import os
import pwd
import shutil
from pathlib import Path

import pytest

from checks.conftest import LayeredPlace, Place
from untilproven.checks.canary import Canary, with_canary
from untilproven.checks.command import CommandCheck
from untilproven.checks.tests import TestsCheck
from untilproven.contract import Room

PYTEST = "pytest -q -p no:randomly"
GREEN = "def test_ok(): pass\n"
UNIT = "import unittest\nclass T(unittest.TestCase):\n    def test_ok(self): pass\n"


def planted(line: str, room: Room, grep: str = "") -> Canary:
    return with_canary(TestsCheck(line, grep), room, timeout=100)


def names(canary: Canary) -> list[str]:
    return sorted(test.name for test in canary.evidence.tests or ())


def everything(room: Room) -> list[str]:
    return room.run("find . -type f -not -path './.git/*' -not -name '*.pyc' | sort", timeout=20).output.split()


NEW_OPTION = "def pytest_addoption(parser): parser.addoption('--cov-report')\n"
OTHER_NAMES = "[pytest]\npython_files = check_*.py\npython_functions = ok*\n"
CONFIGURED = '[tool.pytest.ini_options]\ntestpaths = ["t"]\naddopts = "-x"\n'
NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
NODE_OK = 'import test from "node:test"; test("ok", () => {});\n'
HONEST = [
    (PYTEST, {"test_a.py": GREEN}),
    (f"{PYTEST} -x", {"tests/test_a.py": GREEN, "tests/test_b.py": GREEN}),
    (f"{PYTEST} tests", {"tests/unit/test_a.py": GREEN}),
    (f"{PYTEST} --cov-report x tests/", {"tests/test_a.py": GREEN, "tests/conftest.py": NEW_OPTION}),
    (f"{PYTEST} tests/test_a.py::test_ok", {"tests/test_a.py": GREEN}),
    (f"cd sub && {PYTEST} --maxfail 1", {"sub/test_a.py": GREEN}),
    ("python3 -m pytest -q", {"pkg/__init__.py": "", "pkg/tests/__init__.py": "", "pkg/tests/test_a.py": GREEN}),
    (f"{PYTEST} -n 2", {"test_a.py": GREEN, "test_b.py": GREEN}),
    (PYTEST, {"pytest.ini": OTHER_NAMES, "check_a.py": "def ok(): pass\n"}),
    (PYTEST, {"pyproject.toml": CONFIGURED, "t/test_a.py": GREEN}),
    ("python3 -m unittest", {"test_a.py": UNIT}),
    ("python3 -m unittest -f", {"tests/__init__.py": "", "tests/test_a.py": UNIT}),
    ("python3 -m unittest discover -s tests -p '*_check.py'", {"tests/a_check.py": UNIT}),
    ("python3 -m unittest tests.test_a.T.test_ok", {"tests/__init__.py": "", "tests/test_a.py": UNIT}),
    ("python3 -m unittest -v tests/test_a.py", {"tests/__init__.py": "", "tests/test_a.py": UNIT}),
    pytest.param("node --test", {"a.test.js": 'require("node:test").test("ok", () => {});\n'}, marks=NODE),
    pytest.param("node --test test/a.mjs", {"test/a.mjs": NODE_OK}, marks=NODE),
    pytest.param(
        "npm test",
        {"package.json": json.dumps({"type": "module", "scripts": {"test": "node --test"}}), "test/a.js": NODE_OK},
        marks=NODE,
    ),
]


@pytest.mark.parametrize(("line", "files"), HONEST)
def test_an_honest_run_reports_the_canary_and_all_others(place: Place, line: str, files: dict[str, str]) -> None:
    place.user(files)
    room = place.room()
    plain = TestsCheck(line).run(room, timeout=60)
    assert plain.passed, plain.output
    before = everything(room)
    canary = planted(line, room)
    assert (canary.planted, canary.seen, canary.why) == (True, True, ""), canary
    assert canary.evidence.passed, canary.evidence.output
    assert names(canary) == sorted(test.name for test in plain.tests or ())
    assert everything(room) == before


@pytest.mark.skipif(shutil.which("go") is None, reason="go is not installed")
def test_go_reports_it(place: Place) -> None:
    test = 'package {0}\nimport "testing"\nfunc TestOk(t *testing.T) {{}}\n'
    place.user(
        {"go.mod": "module example.com/m\n\ngo 1.19\n", "a/a.go": "package a\n", "a/a_test.go": test.format("a_test")}
    )
    place.user({"b/b_test.go": test.format("b"), "vendor/x/x_test.go": test.format("x")})
    room = place.room()
    for line in ("go test ./...", "go test -failfast ./a", "cd b && go test", "go test example.com/m/b"):
        canary = planted(line, room)
        assert (canary.planted, canary.seen, canary.evidence.passed) == (True, True, True), (line, canary)
        assert {name.rpartition(".")[2] for name in names(canary)} == {"TestOk"}


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
def test_cargo_reports_it(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # the suite's own home is empty, and rustup keeps cargo there
    monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(home / ".rustup")))
    place.user(
        {
            "Cargo.toml": '[workspace]\nmembers = ["crates/*"]\nresolver = "2"\n',
            "crates/a/Cargo.toml": '[package]\nname = "a"\nversion = "0.1.0"\nedition = "2021"\n',
            "crates/a/src/lib.rs": "#[test]\nfn ok() {}\n",
        }
    )
    room = place.room()
    canary = planted("cargo test --offline", room)
    assert (canary.planted, canary.seen, canary.evidence.passed) == (True, True, True), canary
    assert [name.rpartition("::")[2] for name in names(canary)] == ["ok"]
    assert room.run("test -e crates/a/tests", timeout=20).exit_code == 1


def test_a_failure_among_the_others_is_still_a_failure(place: Place) -> None:
    place.user({"test_a.py": "def test_a(): assert 0\ndef test_b(): pass\n"})
    canary = planted(PYTEST, place.room())
    assert canary.seen
    assert not canary.evidence.passed
    assert canary.evidence.output.startswith("1 of 2 tests fail: test_a.py::test_a\n")


def test_a_canary_alone_is_no_success(place: Place) -> None:
    canary = planted(PYTEST, place.room())
    assert canary.seen
    assert not canary.evidence.passed
    assert "no test was seen to run" in canary.evidence.output


def test_files_that_cannot_be_collected_do_not_hide_it(place: Place) -> None:
    place.user({"test_a.py": "import nothing_of_this_name\n", "test_b.py": GREEN})
    canary = planted(PYTEST, place.room())
    assert canary.seen
    assert not canary.evidence.passed


def test_with_a_task_s_id_only_its_tests_count(place: Place) -> None:
    place.user({"test_a.py": "def test_t_1(): pass\ndef test_t_2(): assert 0\n"})
    room = place.room()
    assert planted(PYTEST, room, "T-1").evidence.passed
    assert not planted(PYTEST, room, "T-2").evidence.passed


def test_another_exit_code_than_that_of_failed_tests_counts(place: Place) -> None:
    place.user({"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 9\n", "test_a.py": GREEN})
    canary = planted(PYTEST, place.room())
    assert canary.seen
    assert canary.evidence.output.startswith("exited with 9\n")


REWRITES = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        report.outcome = "passed"
        report.longrepr = None
"""
SKIPS = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "skipped" if call.excinfo else "passed"
"""
DROPS = "def pytest_collection_modifyitems(items): items[:] = [i for i in items if i.name == 'test_ok']\n"
MARKS = """
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.skipif(item.name != "test_ok", reason="later"))
"""
FORGES = """
import atexit, os, sys
def forge():
    path = next(word.partition("=")[2] for word in sys.argv if word.startswith("--junit-xml"))
    with open(path, "w") as file:
        file.write("<testsuites><testsuite><testcase file='test_a.py' classname='test_a' name='test_ok'/></testsuite></testsuites>")
    os._exit(0)
atexit.register(forge)
"""  # noqa: E501
PATCHES = """
import _pytest.reports
made = _pytest.reports.TestReport.from_item_and_call.__func__
def honest(cls, item, call):
    report = made(cls, item, call)
    if report.outcome == "failed":
        report.outcome, report.longrepr = "passed", None
    return report
_pytest.reports.TestReport.from_item_and_call = classmethod(honest)
"""
USES_WORK = "import work\ndef test_ok(): pass\ndef test_no(): assert work.f() == 1\n"
ENDS = "import os\nos._exit(0)\n"


@pytest.mark.parametrize(
    "files",
    [
        {"conftest.py": REWRITES, "test_a.py": "def test_ok(): pass\ndef test_no(): assert 0\n"},
        {"conftest.py": SKIPS, "test_a.py": "def test_ok(): pass\ndef test_no(): assert 0\n"},
        {"conftest.py": DROPS, "test_a.py": "def test_ok(): pass\ndef test_no(): assert 0\n"},
        {"conftest.py": MARKS, "test_a.py": "def test_ok(): pass\ndef test_no(): assert 0\n"},
        {"work.py": ENDS, "test_a.py": USES_WORK},
        {"work.py": FORGES, "test_a.py": USES_WORK},
        {"work.py": PATCHES + "def f(): return 2\n", "test_a.py": USES_WORK},
        {"conftest.py": "def pytest_sessionfinish(session): session.exitstatus = 0\n", "test_a.py": GREEN},
    ],
    ids=["rewrites", "skips", "drops", "marks", "os._exit", "forged report", "patched runner", "exit code"],
)
def test_whoever_hides_results_hides_the_canary(place: Place, files: dict[str, str | None]) -> None:
    place.agent(files)
    canary = planted(PYTEST, place.room())
    assert (canary.planted, canary.seen, canary.evidence.passed) == (True, False, False), canary
    assert canary.why
    assert canary.evidence.output.startswith("no evidence: a test that was planted to fail ")


DEAF = "import unittest\nunittest.TestResult.addFailure = unittest.TextTestResult.addFailure = lambda *_: None\n"


@pytest.mark.parametrize("work", [ENDS, DEAF], ids=["os._exit", "patched result"])
def test_the_same_for_unittest(place: Place, work: str) -> None:
    place.agent({"work.py": work, "test_a.py": f"import work\n{UNIT}"})
    canary = planted("python3 -m unittest", place.room())
    assert (canary.planted, canary.seen, canary.evidence.passed) == (True, False, False), canary


def test_a_fake_unittest_in_the_tree_is_not_asked(place: Place) -> None:
    place.user({"test_a.py": "import unittest\nclass T(unittest.TestCase):\n    def test_no(self): self.fail()\n"})
    place.agent({"unittest.py": 'import sys\nprint("OK")\nsys.exit(0)\n'})
    canary = planted("python3 -m unittest", place.room())
    assert canary.seen
    assert not canary.evidence.passed


def test_a_fake_pytest_in_the_tree_is_seen_through(place: Place) -> None:
    place.user({"test_a.py": "def test_ok(): pass\n"})
    place.agent({"pytest.py": "import sys\nprint('1 passed')\nsys.exit(0)\n"})
    canary = planted("python3 -m pytest -q", place.room())
    assert (canary.planted, canary.seen, canary.evidence.passed) == (True, False, False)
    assert planted(PYTEST, place.room()).seen, "the program pytest does not look for itself in the tree"


def test_a_python_of_the_tree_that_is_on_the_path_is_not_asked(
    layered: LayeredPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = "#!/bin/sh\necho fake\nexit 0\n"
    layered.user({"bin/python3": fake, "bin/pytest": fake, "test_a.py": "def test_no(): assert 0\n"})
    for name in ("python3", "pytest"):
        (layered.root / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{layered.root}/bin:bin::", prepend=":")
    for line in (PYTEST, "python3 -m pytest -q"):
        canary = planted(line, layered.room())
        assert canary.seen
        assert "fake" not in canary.evidence.output


def test_a_filter_that_leaves_it_out_is_planted_and_not_seen(place: Place) -> None:
    place.user({"test_a.py": GREEN})
    canary = planted(f"{PYTEST} -k test_ok", place.room())
    assert (canary.planted, canary.seen, canary.evidence.passed) == (True, False, False)


@pytest.mark.parametrize(
    ("break_it", "why"),
    [("mv tests away && ln -s away tests", ""), ("chmod 555 tests", "nothing can be written to tests")],
    ids=["link", "read-only"],
)
def test_where_it_cannot_be_planted_it_says_so(layered: LayeredPlace, break_it: str, why: str) -> None:
    layered.user({"tests/test_a.py": GREEN})
    layered.agent_runs(break_it)
    canary = planted(f"{PYTEST} tests/", layered.room())
    assert not canary.seen
    assert canary.planted is False
    assert canary.why.startswith(why)
    assert canary.evidence.passed


def test_a_link_on_the_way_is_not_gone_through(place: Place) -> None:
    place.user({"real/test_a.py": GREEN})
    place.agent_runs("ln -s real tests")
    canary = planted("python3 -m unittest discover -s tests", place.room())
    assert (canary.planted, canary.why) == (False, "a link is on the way to tests")
    assert [path.name for path in (place.root / "real").iterdir() if path.suffix == ".py"] == ["test_a.py"]


@pytest.mark.parametrize("line", ["true", "rspec", "npm test"])
def test_a_check_without_a_place_for_one_is_run_without(place: Place, line: str) -> None:
    check = TestsCheck(line) if line != "true" else CommandCheck(line)
    canary = with_canary(check, place.room(), timeout=60)
    assert not canary.planted
    assert canary.why

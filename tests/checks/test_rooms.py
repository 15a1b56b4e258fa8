"""Checks look through their room: what an agent did in its layer is there, and the user's tree stays untouched."""

import json
from pathlib import Path

import pytest

from checks.conftest import LayeredPlace, Place
from untilproven.checks.file_exists import FileExistsCheck
from untilproven.checks.tests import TestsCheck
from untilproven.checks.validate import ValidateCheck

PYTEST = "pytest -q -p no:randomly"


def test_a_file_that_only_the_agent_s_layer_has_is_there(place: Place) -> None:
    place.user({"old.md": "x", "kept.md": "x"})
    place.agent({"docs/new.md": "words", "old.md": None})
    room = place.room()
    assert FileExistsCheck("docs/new.md").run(room, timeout=1).passed
    assert FileExistsCheck(str(place.root / "docs/new.md")).run(room, timeout=1).passed
    assert FileExistsCheck("kept.md").run(room, timeout=1).passed
    assert not FileExistsCheck("old.md").run(room, timeout=1).passed


def test_a_script_that_only_the_agent_s_layer_has_is_run(place: Place) -> None:
    place.agent({"check.sh": 'test "$RALPH_TASK_ID" = T-1'})
    assert ValidateCheck("check.sh", "T-1").run(place.room(), timeout=60).passed


def test_pytest_is_read_test_by_test(place: Place) -> None:
    place.user(
        {"work.py": "def f(): return 1\n", "test_work.py": "from work import f\ndef test_f(): assert f() == 2\n"}
    )
    place.agent({"work.py": "def f(): return 2\n"})
    evidence = TestsCheck(PYTEST).run(place.room(), timeout=60)
    assert evidence.passed, evidence.output
    assert [test.name for test in evidence.tests or ()] == ["test_work.py::test_f"]


def test_unittest_is_read_test_by_test(place: Place) -> None:
    place.agent({"test_a.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"})
    evidence = TestsCheck("python3 -m unittest").run(place.room(), timeout=60)
    assert evidence.passed, evidence.output
    assert [test.name for test in evidence.tests or ()] == ["test_a.T.test_a"]


def test_the_cache_setting_of_the_agent_s_own_configuration_is_seen(place: Place) -> None:
    place.agent(
        {"pytest.ini": "[pytest]\naddopts = -p no:cacheprovider --strict-config\n", "test_a.py": "def test_a(): pass\n"}
    )
    assert TestsCheck(PYTEST).run(place.room(), timeout=60).passed


def test_the_script_of_the_agent_s_own_package_json_is_followed(place: Place) -> None:
    place.agent(
        {
            "package.json": json.dumps({"scripts": {"test": "node --test"}}),
            "a.test.js": 'require("node:test").test("adds", () => {});\n',
        }
    )
    evidence = TestsCheck("npm test").run(place.room(), timeout=60)
    assert evidence.passed, evidence.output
    assert [test.name.rpartition(" ")[2] for test in evidence.tests or ()] == ["adds"]


def test_maven_s_reports_are_found_in_what_the_run_itself_wrote(place: Place) -> None:
    """No maven: a script in its place writes what it would."""
    report = (Path(__file__).parent / "data" / "surefire-documented.xml").read_text()
    script = (
        "#!/bin/sh\nfor word; do suffix=${word#-Dsurefire.reportNameSuffix=}; done\n"
        "mkdir -p m/target/surefire-reports\n"
        'sed "s/SUFFIX/$suffix/g" report.xml > "m/target/surefire-reports/TEST-demo.ATest-$suffix.xml"\n'
    )
    place.user({"report.xml": report, "mvnw": script})
    (place.root / "mvnw").chmod(0o755)
    evidence = TestsCheck("./mvnw test").run(place.room(), timeout=60)
    assert {test.name: test.outcome for test in evidence.tests or ()} == {
        "demo.ATest::ok": "passed",
        "demo.ATest::bad": "failed",
        "demo.ATest::skip": "skipped",
        "demo.ATest::flaky": "passed",
    }


@pytest.mark.parametrize(
    "swap",
    [
        "os.mkfifo(path)",
        "os.symlink('/etc/passwd', path)",
        "os.mkdir(path)",
        "os.truncate(os.open(path, os.O_CREAT | os.O_WRONLY), 1 << 40)",
    ],
    ids=["pipe", "link", "directory", "giant"],
)
def test_what_a_program_puts_in_place_of_its_report_is_no_report(place: Place, swap: str) -> None:
    place.agent(
        {
            "conftest.py": (
                "import os\ndef pytest_unconfigure(config):\n    path = config.option.xmlpath\n"
                f"    os.path.exists(path) and os.unlink(path)\n    {swap}\n"
            ),
            "test_a.py": "def test_a(): pass\n",
        }
    )
    evidence = TestsCheck(PYTEST).run(place.room(), timeout=60)
    assert (evidence.passed, evidence.broken) == (False, False)
    assert evidence.tests is None
    assert "report" in evidence.output.splitlines()[0]


def test_a_scratch_directory_that_is_swapped_for_a_link_leads_nobody_out(layered: LayeredPlace, tmp_path: Path) -> None:
    forged = tmp_path / "forged"
    forged.mkdir()
    (forged / "pytest.xml").write_text(
        "<testsuites><testsuite><testcase file='test_a.py' classname='test_a' name='test_a'/></testsuite></testsuites>"
    )
    layered.agent(
        {
            "conftest.py": (
                "import os\ndef pytest_unconfigure(config):\n    place = os.path.dirname(config.option.xmlpath)\n"
                "    os.rename(place, place + 'x')\n    os.unlink(place + 'x/pytest.xml')\n"
                f"    os.symlink({str(forged)!r}, place)\n"
            ),
            "test_a.py": "def test_a(): assert 0\n",
        }
    )
    evidence = TestsCheck(PYTEST).run(layered.room(), timeout=60)
    assert evidence.tests is None
    assert (forged / "pytest.xml").exists()


def test_nothing_that_a_check_writes_reaches_the_user_s_tree_or_the_next_room(layered: LayeredPlace) -> None:
    layered.agent({"test_a.py": "def test_a(): open('left', 'w').close()\n"})
    assert TestsCheck(PYTEST).run(layered.room(), timeout=60).passed
    assert {path.name for path in layered.root.iterdir()} <= {".aiwg"}
    assert not FileExistsCheck("left").run(layered.room(), timeout=1).passed

import os
import sys
import time
from pathlib import Path

import pytest

from checks.conftest import Place
from untilproven.checks.metrics import coverage
from untilproven.checks.metrics.coverage import Coverage, find_coverage
from untilproven.checks.metrics.unmeasured import Unmeasured
from untilproven.contract import Room

DATA = Path(__file__).parents[2] / "data" / "coverage"
PYTHON = {"src/shop/cart.py": 66.67, "src/shop/pay.py": 75.0}


def put(room: Room, sample: str, place: str, *files: str) -> None:
    """A report as its tool would have written it in this project, and the files that it tells of."""
    for name in files:
        (room.root / name).parent.mkdir(parents=True, exist_ok=True)
        (room.root / name).write_text("x\n")
    report = room.root / place
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_bytes((DATA / sample).read_bytes().replace(b"/project", os.fsencode(room.root)))


def found(room: Room) -> Coverage:
    result = find_coverage(room, time.time() - 60)
    assert isinstance(result, Coverage), result
    return result


def why_not(room: Room, since: float) -> str:
    result = find_coverage(room, since)
    assert isinstance(result, Unmeasured)
    return result.why


@pytest.mark.parametrize(
    ("sample", "place", "lines", "branches", "by_file"),
    [
        ("coverage-py-7.17.2.xml", "coverage.xml", 70, 50, PYTHON),
        ("coverage-py-7.17.2.json", "coverage.json", 70, 50, PYTHON),
        ("coverage-py-7.17.2.lcov", "lcov.info", 70, 50, PYTHON),
        ("nyc-18.0.0-cobertura-coverage.xml", "coverage/cobertura-coverage.xml", 75, 66.67, {"cart.js": 75}),
        ("nyc-18.0.0-coverage-summary.json", "coverage/coverage-summary.json", 75, 66.67, {"cart.js": 75}),
        ("nyc-18.0.0-coverage-final.json", "coverage/coverage-final.json", 75, 66.67, {"cart.js": 75}),
        ("nyc-18.0.0-lcov.info", "coverage/lcov.info", 75, 66.67, {"cart.js": 75}),
    ],
)
def test_a_report_is_found_where_its_tool_puts_it(
    room: Room, sample: str, place: str, lines: float, branches: float, by_file: dict[str, float]
) -> None:
    put(room, sample, place)
    coverage = found(room)
    assert (coverage.lines, coverage.branches, coverage.by_file) == (lines, branches, by_file)


def test_names_of_go_become_paths_by_the_module(room: Room) -> None:
    put(room, "go-1.27.3.out", "cover.out", "shop.go", "shop/shop.go", "pay/pay.go")
    (room.root / "go.mod").write_text("// the shop\nmodule example.com/shop\n\ngo 1.27\n")
    coverage = found(room)
    assert (coverage.lines, coverage.branches) == (62.5, None)
    assert coverage.by_file == {"shop.go": 83.33, "pay/pay.go": 0}


def test_names_of_java_become_paths_by_where_sources_lie(room: Room) -> None:
    java, kotlin = "src/main/java/com/acme/shop/Cart.java", "src/main/kotlin/com/acme/pay/Pay.kt"
    put(room, "jacoco-documented.xml", "target/site/jacoco/jacoco.xml", java, kotlin)
    assert found(room).by_file == {java: 80, kotlin: 0}


def test_reports_of_the_parts_of_a_project_are_put_together(room: Room) -> None:
    cart = "src/main/java/com/acme/shop/Cart.java"
    for part in ("web", "core"):
        put(room, "jacoco-documented.xml", f"{part}/target/site/jacoco/jacoco.xml", f"{part}/{cart}")
    coverage = found(room)
    assert (coverage.lines, coverage.branches) == (50, 75)
    assert coverage.by_file[f"web/{cart}"] == coverage.by_file[f"core/{cart}"] == 80

    os.utime(room.root / "web/target/site/jacoco/jacoco.xml", (1, 1))
    assert "1 of 2 coverage reports are older" in why_not(room, time.time() - 60)


def test_a_name_begins_where_the_report_says(room: Room) -> None:
    report = f"""<coverage lines-valid="2" lines-covered="1"><sources><source>{room.root}/src</source></sources>
        <class filename="a.py"><lines><line number="1" hits="1"/></lines></class>
        <class filename="/usr/lib/python3/outside.py"><lines><line number="1" hits="0"/></lines></class>
        <class filename="../../outside.py"><lines><line number="1" hits="0"/></lines></class></coverage>"""
    (room.root / "src").mkdir()
    (room.root / "src" / "a.py").write_text("x\n")
    (room.root / "a.py").write_text("x\n")
    (room.root / "coverage.xml").write_text(report)
    assert found(room).by_file == {"src/a.py": 100}


def test_a_report_that_is_older_than_the_run_is_no_measurement(room: Room) -> None:
    put(room, "coverage-py-7.17.2.xml", "coverage.xml")
    os.utime(room.root / "coverage.xml", (time.time() - 100, time.time() - 100))
    assert why_not(room, time.time() - 50) == "coverage.xml is older than the run"
    assert isinstance(find_coverage(room, time.time() - 200), Coverage)


def test_a_report_that_was_dated_into_the_future_is_old_all_the_same(room: Room) -> None:
    put(room, "coverage-py-7.17.2.xml", "coverage.xml")
    os.utime(room.root / "coverage.xml", (2**32, 2**32))
    assert why_not(room, time.time() + 50) == "coverage.xml is older than the run"


def test_a_new_report_of_another_tool_counts_when_the_first_is_old(room: Room) -> None:
    put(room, "coverage-py-7.17.2.xml", "coverage.xml")
    os.utime(room.root / "coverage.xml", (1, 1))
    put(room, "nyc-18.0.0-lcov.info", "coverage/lcov.info")
    assert found(room).tool == "lcov"


def test_a_damaged_report_gives_its_reason_and_no_number(room: Room) -> None:
    put(room, "coverage-py-7.17.2.xml", "coverage.xml")
    whole = (room.root / "coverage.xml").read_text()
    (room.root / "coverage.xml").write_text(whole.replace('lines-covered="7"', 'lines-covered="17"'))
    assert why_not(room, 0) == "coverage.xml: the report contradicts itself: 17 of 10 are covered"
    (room.root / "coverage.xml").write_text(whole[:300])
    assert why_not(room, 0).startswith("coverage.xml: the report is not XML")
    (room.root / "coverage.xml").write_text('<coverage lines-valid="0" lines-covered="0" line-rate="1"/>')
    assert why_not(room, 0) == "coverage.xml: no line was looked at"


def test_a_report_that_is_a_link_a_pipe_or_too_large_is_not_read(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    put(room, "coverage-py-7.17.2.xml", "elsewhere.xml")
    (room.root / "coverage.xml").symlink_to("elsewhere.xml")
    os.mkfifo(room.root / "lcov.info")
    assert why_not(room, 0) == "the tests left no coverage report in a place that is known"
    (room.root / "coverage.xml").unlink()
    put(room, "coverage-py-7.17.2.xml", "coverage.xml")
    monkeypatch.setattr(coverage, "READ_LIMIT", 100)
    assert "more than 100 bytes" in why_not(room, 0)


def test_a_report_that_a_run_in_the_room_wrote_is_found(place: Place) -> None:
    place.user({"coverage.xml": "<stale/>", "cart.js": "x\n"})
    os.utime(place.root / "coverage.xml", (1, 1))
    began, room = time.time(), place.room()
    write = "import sys; open('lcov.info', 'w').write('SF:cart.js\\nDA:1,1\\nDA:2,0\\nend_of_record\\n')"
    assert room.run([sys.executable, "-c", write], timeout=60).exit_code == 0
    assert find_coverage(room, began) == Coverage(lines=50, branches=None, by_file={"cart.js": 50}, tool="lcov")

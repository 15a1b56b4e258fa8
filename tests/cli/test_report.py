"""`ralph report` on loops that really ran."""

import json
from pathlib import Path
from typing import Any

import pytest

from runtime.loops import Place
from untilproven.cli.main import run
from untilproven.model import wire
from untilproven.model.analytics import Analytics
from untilproven.store.layout import Project
from untilproven.store.vouch import user_state
from watch.report.made import Parsed
from watch.scenes import HOSTILE, LOOP, Stage, begin

USED = {"usage": {"input_tokens": 900, "output_tokens": 100, "cost_usd": 0.25}}
TESTS = "def test_one():\n    assert open('out').read() == 'good'\n\n\ndef test_two():\n    assert True\n"
WITHOUT = "def test_two():\n    assert True\n"
UNTIL = "--until=grep -q good out"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.write("out", "bad")
    place.write("tests/test_out.py", TESTS)
    return place


def write(path: str, content: str) -> dict[str, Any]:
    return {"write": path, "content": content}


def cheats_then_works(place: Place) -> None:
    agent = place.cassette(
        [USED, write("tests/test_out.py", WITHOUT)],
        [USED, write("notes", "x")],
        [USED, write("out", "good"), {"say": "<promise>DONE</promise>"}],
    )
    done = place.ralph("run", "make it good", agent, UNTIL, "-n5", "--sandbox=overlay", "--on-gate=reject")
    assert done.returncode == 0, done.stderr


def reported(place: Place, *words: str) -> dict[str, Any]:
    done = place.ralph("report", *words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_a_loop_that_cheated_and_was_proven_is_reported(place: Place) -> None:
    cheats_then_works(place)
    done = place.ralph("report")
    assert done.returncode == 0
    analytics, text, page = (Path(line) for line in done.stdout.splitlines())
    assert [one.name for one in (analytics, text, page)] == ["analytics.json", "report.md", "report.html"]
    assert {one.parent for one in (analytics, text, page)} == {place.directory() / "analytics"}

    found = wire.decode(Analytics, analytics.read_bytes())
    first, second, third = found.iterations
    assert (first.fate, first.verification_status, sum((first.findings or {}).values())) == ("discarded", "skipped", 1)
    assert (second.verification_status, third.verification_status) == ("failed", "passed")
    assert (found.selected_iteration, found.delivered_iteration, found.final_iteration) == (3, 3, 3)
    assert found.selection_reason == "grep -q good out failed before the work and passes now"
    assert (found.totals.tokens, found.totals.cost_usd) == (3000, 0.75)
    assert second.quality_score
    assert third.quality_score
    assert third.quality_score > second.quality_score
    assert found.persistence_metrics
    assert found.persistence_metrics.detection_latency_p95_ms

    said = Parsed(page.read_text()).said
    assert "proven: red-to-green" in said
    assert "destructive: rejected by policy (--on-gate reject)" in said
    assert any("test_one was deleted" in line for line in said)
    assert "| proof | proven: red-to-green |" in text.read_text()


def test_show_tells_what_was_refused_who_decided_and_what_came_of_it(place: Place) -> None:
    cheats_then_works(place)
    lines = place.ralph("show").stdout.splitlines()
    told = {line[:12].strip(): line[12:] for line in lines}
    assert told["story"].startswith("1   guard: critical LP-001 tests/test_out.py: test_one was deleted")
    story = [line.strip() for line in lines]
    assert "gate: rejected by policy (--on-gate reject)" in story
    assert any(line.startswith("recovery: the agent deleted tests") for line in story)
    assert told["best"].startswith("iteration 3, score ")


def test_a_loop_that_stands_at_a_gate_is_shown_to_wait(place: Place) -> None:
    agent = place.cassette([write("tests/test_out.py", WITHOUT)])
    assert place.ralph("run", "make it good", agent, UNTIL, "--sandbox=overlay").returncode == 8
    assert "gate opened: destructive\n" in place.ralph("show").stdout
    assert reported(place)["iterations"][0]["fate"] == "parked"
    place.ralph("gate", "reject", place.loop, "--why", "it cheats")
    assert "gate: rejected by a human (it cheats)\n" in place.ralph("show").stdout


def test_a_finding_that_was_marked_counts_in_the_rate(place: Place) -> None:
    cheats_then_works(place)
    assert "false_positive_rate" not in reported(place)["persistence_metrics"]
    finding = place.events("guard.finding")[0]["finding"]["details"]["id"]
    assert place.ralph("guard", "mark", finding, "--confirmed", "--why", "it did").returncode == 0
    metrics = reported(place)["persistence_metrics"]
    assert (metrics["false_positive_rate"], metrics["true_positive_count"], metrics["false_positive_count"]) == (
        0,
        1,
        0,
    )


def test_the_report_over_all_loops(place: Place) -> None:
    for content in ("bad", "good"):
        place.write("out", "bad")
        agent = place.cassette([USED, write("out", content)], name=content)
        place.run("make it good", agent, UNTIL, "-n1")
    first = place.loops()[0]
    assert place.ralph("archive", first).returncode == 0
    done = place.ralph("report", "--all")
    summary, text = (Path(line) for line in done.stdout.splitlines())
    assert summary == place.state.path / "analytics" / "cross-loop-summary.json"
    found = json.loads(summary.read_text())
    assert found["total_loops_run"] == 2
    assert found["loops_by_status"] == {"completed": 1, "failed": 1}
    assert (found["average_iterations_per_loop"], found["average_cost_per_loop"]) == (1, 0.25)
    assert found["most_common_tasks"] == [{"task": "make it good", "loops": 2}]
    assert "| make it good | 2 |" in text.read_text()


def test_a_report_goes_where_the_user_wants_it(place: Place) -> None:
    place.run("make it good", place.cassette([write("out", "good")]), UNTIL, "-n1")
    wanted = place.beside / "new" / "reports"
    done = place.ralph("report", place.loop, "--output", str(wanted))
    assert done.stdout.splitlines() == [str(wanted / name) for name in ("analytics.json", "report.md", "report.html")]
    assert not (place.directory() / "analytics").exists()
    assert "token_cost_usd" not in json.loads((wanted / "analytics.json").read_text())["iterations"][0]


def test_a_loop_in_which_nothing_has_finished_has_a_report(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.root)
    with begin(project, task=HOSTILE) as writer:
        assert run(["report", LOOP]) == 0
        page = (writer.loop.path / "analytics" / "report.html").read_text()
    assert "None has finished." in Parsed(page).said
    assert "\x1b" not in page


def test_a_loop_of_somebody_elses_is_written_nowhere_but_where_one_says(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(project.root)
    with begin(project) as writer:
        Stage(writer).iteration(1)
    (user_state() / "key").unlink()
    assert run(["report", LOOP]) == 1
    assert "--output DIR" in capsys.readouterr().err
    assert not (writer.loop.path / "analytics").exists()
    assert run(["report", LOOP, "--output", str(tmp_path / "there")]) == 0
    assert (tmp_path / "there" / "report.html").exists()
    assert run(["report", "--all"]) == 2
    assert "no loop of yours" in capsys.readouterr().err


def test_no_link_is_followed(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(project.root)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    with begin(project) as writer:
        (writer.loop.path / "analytics").symlink_to(elsewhere)
        assert run(["report", LOOP]) == 1
    assert "symbolic link" in capsys.readouterr().err
    assert list(elsewhere.iterdir()) == []


def test_lines_that_cannot_be_read_are_named_and_the_rest_is_reported(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.root)
    with begin(project) as writer:
        stage = Stage(writer)
        stage.iteration(1)
        stage.iteration(2)
    lines = writer.loop.journal.read_bytes().splitlines(keepends=True)
    writer.loop.journal.write_bytes(b"".join([*lines[:2], b"junk\n", *lines[2:]]))
    assert run(["report", LOOP, "--json"]) == 1
    out = capsys.readouterr()
    assert len(json.loads(out.out)["iterations"]) == 2
    assert "events.jsonl, line 3: not readable" in out.err
    page = (writer.loop.path / "analytics" / "report.html").read_text()
    assert "Could not be read" in Parsed(page).said


def test_one_loop_or_all_and_not_both(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project.root)
    assert run(["report", LOOP, "--all"]) == 2
    assert "not both" in capsys.readouterr().err

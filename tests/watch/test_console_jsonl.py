"""`--json`: the journal's own vocabulary, one object a line."""

import io

import msgspec

from untilproven.model import events
from untilproven.store import journal
from untilproven.store.layout import Project
from untilproven.watch import console
from watch.scenes import HOSTILE, LOOP, Stage, begin, text


def test_every_entry_is_a_line_as_in_the_journal_and_the_agents_events_are_among_them(project: Project) -> None:
    page = io.StringIO()
    with begin(project) as writer:
        stage = Stage(writer, console.for_terminal(page, as_json=True))
        stage.show()
        stage.control()
        stage.iteration(1)
        recorded = writer.loop.journal.read_bytes()
    lines = page.getvalue().encode().splitlines(keepends=True)
    agent = [line for line in lines if b'"agent.event"' in line]
    assert b"".join(line for line in lines if line not in agent) == recorded
    assert [msgspec.json.decode(line)["kind"] for line in agent] == ["action", "text", "action"]
    assert all(msgspec.json.decode(line)["loop_id"] == LOOP for line in lines)
    assert [journal.decode(line).header.seq for line in agent] == [4, 4, 4]


def test_nothing_in_a_line_is_obeyed_by_a_terminal_and_nothing_is_lost(project: Project) -> None:
    page = io.StringIO()
    with begin(project) as writer:
        Stage(writer, console.for_terminal(page, as_json=True)).agent(text(1, HOSTILE))
    assert page.getvalue()[:-1].isprintable()
    assert msgspec.json.decode(page.getvalue())["text"] == HOSTILE


def test_an_event_of_a_later_version_keeps_its_header(project: Project) -> None:
    page = io.StringIO()
    header = events.Header(v=1, ts="2026-01-01T00:00:00Z", loop_id=LOOP, seq=3, type="moon.landed")  # type: ignore[arg-type]
    with begin(project) as writer:
        for as_json in (True, False):
            console.for_terminal(page, as_json=as_json).happened(events.Entry(header, None), writer.state)
    assert msgspec.json.decode(page.getvalue())["type"] == "moon.landed"

"""Source 001's record: written, read, counted and cleared, one for each session."""

from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from untilproven.errors import UsageError
from untilproven.model.session import SessionLoopState
from untilproven.session import clear_state, increment_iteration, read_state, write_state
from untilproven.session.place import directory_name
from untilproven.session.storage import place_of
from untilproven.store.layout import Project


def state(session: str = "one", **more: object) -> SessionLoopState:
    known = {
        "active": True,
        "iteration": 1,
        "max_iterations": 5,
        "completion_promise": "DONE",
        "started_at": datetime(2026, 2, 2, tzinfo=UTC),
        "prompt": "fix it",
        "session_id": session,
    }
    return SessionLoopState(**{**known, **more})  # type: ignore[arg-type]  # a test may leave it to chance


def test_a_state_is_written_and_read(project: Project) -> None:
    assert write_state(project.root, state(description="a try"))
    found = read_state(project.root, "one")
    assert found == state(description="a try")
    written = (project.root / ".aiwg/ralph/sessions/one/ralph-loop-state.json").read_bytes()
    assert msgspec.json.decode(written) == {
        "active": True,
        "iteration": 1,
        "maxIterations": 5,
        "completionPromise": "DONE",
        "startedAt": "2026-02-02T00:00:00Z",
        "prompt": "fix it",
        "sessionId": "one",
        "description": "a try",
    }


def test_an_iteration_is_counted_with_its_time(project: Project) -> None:
    write_state(project.root, state())
    moved = increment_iteration(project.root, "one")
    assert moved is not None
    assert moved.iteration == 2
    assert moved.last_iteration_at
    assert read_state(project.root, "one") == moved


def test_a_count_that_was_overtaken_is_refused(project: Project) -> None:
    write_state(project.root, state())
    assert increment_iteration(project.root, "one", expected=state()) is not None
    assert increment_iteration(project.root, "one", expected=state()) is None
    found = read_state(project.root, "one")
    assert found is not None
    assert found.iteration == 2


def test_a_count_for_another_owner_is_refused(project: Project) -> None:
    write_state(project.root, state())
    other = state(started_at=datetime(2026, 2, 3, tzinfo=UTC))
    assert increment_iteration(project.root, "one", expected=other) is None


def test_a_state_is_cleared(project: Project) -> None:
    write_state(project.root, state())
    assert clear_state(project.root, "one")
    assert read_state(project.root, "one") is None
    assert increment_iteration(project.root, "one") is None


def test_sessions_do_not_share_a_state(project: Project) -> None:
    write_state(project.root, state("one"))
    write_state(project.root, state("two", prompt="another"))
    clear_state(project.root, "one")
    found = read_state(project.root, "two")
    assert found is not None
    assert found.prompt == "another"


def test_a_state_directory_of_its_own_is_honoured(project: Project, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    write_state(project.root, state(), elsewhere)
    assert (elsewhere / "one/ralph-loop-state.json").is_file()
    assert read_state(project.root, "one") is None
    assert read_state(project.root, "one", elsewhere) == state()


def test_a_state_that_cannot_be_read_is_none(project: Project) -> None:
    write_state(project.root, state())
    place_of(project.root, "one").state.write_text('{"active": tru')
    assert read_state(project.root, "one") is None


@pytest.mark.parametrize("name", ["../../etc", "a/b", "..", ".", "/tmp/x", "a\0b", "ä", "x" * 500, "a b", ".hidden"])
def test_no_session_leads_out_of_its_directory(name: str, project: Project) -> None:
    told = directory_name(name)
    assert "/" not in told
    assert "\0" not in told
    assert told not in {".", ".."}
    assert len(told) < 200
    write_state(project.root, state(name))
    found = read_state(project.root, name)
    assert found is not None
    assert found.session_id == name
    assert len(list((project.root / ".aiwg/ralph/sessions").iterdir())) == 1


def test_names_that_look_alike_are_kept_apart() -> None:
    assert len({directory_name(name) for name in ("a/b", "a-b", "a b", "a\tb", "a..b")}) == 5


@pytest.mark.parametrize("name", ["", " ", "\n"])
def test_a_session_without_an_id_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="without an id"):
        directory_name(name)

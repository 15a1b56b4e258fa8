import msgspec
import pytest

from runtime.scenes import kept_requests
from support import ralph, run_iteration
from untilproven.cli.main import run
from untilproven.model.status import Status
from untilproven.store import reader
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state
from untilproven.store.registry import read_registry


@pytest.fixture
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(project.root)
    return project


def slots(project: Project) -> int:
    return len(read_registry(project.state).registry.active_loops)


@pytest.mark.parametrize(
    ("steps", "after"),
    [
        ([], "aborted"),
        ([Status.PAUSED], "aborted"),
        ([Status.COMPLETING], "failed"),
        ([Status.CRASHED], "crashed"),
    ],
)
def test_abort_ends_a_loop_that_nobody_runs_and_frees_its_slot(
    here: Project, capsys: pytest.CaptureFixture[str], steps: list[Status], after: str
) -> None:
    with create_state(here, "fix") as writer:
        run_iteration(writer, 1)
        for step in steps:
            writer.transition_status(step)
    assert run(["abort", writer.state.loop_id, "--json"]) == 0
    shown = msgspec.json.decode(capsys.readouterr().out)
    assert shown == {"loop_id": writer.state.loop_id, "status": after, "iteration": 1, "request": "done"}
    assert reader.view(here.state, writer.state.loop_id).state.status == after
    assert slots(here) == 0


def test_pause_keeps_the_slot_and_is_no_crash(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    create_state(here, "fix").close()
    (loop,) = here.state.all_loops()
    assert run(["pause", loop.loop_id]) == 0
    assert "is paused after 0 iterations" in capsys.readouterr().out
    assert reader.view(here.state, loop.loop_id).state.pause_reason == "user"
    assert slots(here) == 1
    assert run(["pause", loop.loop_id]) == 1
    assert "a loop that is paused cannot become paused" in capsys.readouterr().err


@pytest.mark.parametrize(("verb", "after"), [("abort", "aborted"), ("pause", "paused")])
def test_a_loop_that_does_not_answer_keeps_the_request_until_somebody_looks(
    here: Project, verb: str, after: str
) -> None:
    with create_state(here, "fix") as writer:
        done = ralph(verb, writer.state.loop_id, cwd=here.root)
        assert f"does not answer; it will {verb} as soon as it looks" in done.stdout
        assert reader.view(here.state, writer.state.loop_id).state.status is Status.RUNNING
        assert any(name.endswith(f"{verb}.json") for name in kept_requests())
    assert ralph(verb, writer.state.loop_id, cwd=here.root).returncode == 0
    assert reader.view(here.state, writer.state.loop_id).state.status == after
    assert not kept_requests()


@pytest.mark.parametrize("verb", ["abort", "pause"])
def test_a_loop_that_is_not_there_is_a_mistake(here: Project, verb: str) -> None:
    done = ralph(verb, "ralph-nobody-0123abcd", cwd=here.root)
    assert done.returncode == 2
    assert "ralph-nobody-0123abcd" in done.stderr


def test_going_back_to_the_start_is_refused_where_nothing_can_be_taken_back(here: Project) -> None:
    create_state(here, "fix").close()
    (loop,) = here.state.all_loops()
    done = ralph("abort", loop.loop_id, "--revert", cwd=here.root)
    assert done.returncode == 2
    assert "cannot be brought back" in done.stderr
    assert reader.view(here.state, loop.loop_id).state.status is Status.RUNNING

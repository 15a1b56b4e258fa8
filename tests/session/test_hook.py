"""Source 001's hook, and the mistakes that it does not make."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from session.scenes import DONE, PLAIN, Host
from untilproven.model import events
from untilproven.model.status import Status
from untilproven.session import (
    HookContext,
    RalphLoopConfig,
    RalphLoopOptions,
    StartLoopOptions,
    constants,
    create_ralph_loop_hook,
    storage,
)
from untilproven.session.place import SessionPlace
from untilproven.store import reader
from untilproven.store.journal import scan
from untilproven.store.layout import Project
from untilproven.store.registry import read_registry


@pytest.fixture
def host(project: Project) -> Host:
    return Host(project)


def loop_of(project: Project, session: str) -> str:
    return storage.load_link(SessionPlace(project.state, session)).loop_id


def status_of(project: Project, loop_id: str) -> Status:
    return reader.view(project.state, loop_id).state.status


def iteration(host: Host, session: str = "one") -> int:
    state = host.hook.get_state(session)
    assert state is not None
    return state.iteration


def titles(host: Host) -> list[str]:
    return [toast.title for toast in host.toasts]


def test_it_can_be_registered_among_other_hooks(host: Host) -> None:
    assert (host.hook.name, host.hook.priority) == ("ralph-loop", 50)
    assert host.hook.events == ("session.idle", "session.error", "session.deleted")


def test_a_start_saves_the_state_and_registers_a_loop(host: Host, project: Project) -> None:
    assert host.hook.start_loop("one", "fix it", PLAIN)
    state = host.hook.get_state("one")
    assert state is not None
    assert (state.iteration, state.max_iterations, state.completion_promise) == (1, 100, "DONE")
    assert host.hook.is_loop_active("one")
    (entry,) = read_registry(project.state).registry.active_loops
    assert (entry.task, entry.iteration, entry.status) == ("fix it", 0, "running")
    assert host.toasts[0].as_json() == {
        "title": "Ralph Loop Started",
        "message": "Max 100 iterations. Complete with <promise>DONE</promise>",
        "variant": "info",
        "duration": 3000,
    }


def test_completion_is_seen_and_clears_the_state(host: Host, project: Project) -> None:
    host.hook.start_loop("one", "fix it", PLAIN)
    loop_id = loop_of(project, "one")
    host.say("one", DONE)
    asyncio.run(host.idle("one"))
    assert not host.hook.is_loop_active("one")
    assert host.prompts == []
    assert host.toasts[-1].as_json() == {
        "title": "Ralph Loop Complete!",
        "message": "Task completed after 1 iteration(s)",
        "variant": "success",
        "duration": 5000,
    }
    assert status_of(project, loop_id) is Status.COMPLETED
    assert read_registry(project.state).registry.active_loops == ()
    assert project.state.loop(loop_id).receipt.is_file()


def test_an_idle_without_completion_goes_on(host: Host, project: Project) -> None:
    host.hook.start_loop("one", "fix it", PLAIN)
    host.say("one", "I have looked at it.")
    asyncio.run(host.idle("one"))
    assert iteration(host) == 2
    ((session, prompt),) = host.prompts
    assert session == "one"
    assert prompt.startswith("[RALPH LOOP - ITERATION 2/100]")
    assert host.toasts[-1].message == "Iteration 2/100"
    assert read_registry(project.state).registry.active_loops[0].iteration == 1
    told = [
        entry.header.type
        for entry in scan(project.state.loop(loop_of(project, "one")).journal, loop_of(project, "one"))
        if isinstance(entry, events.Entry)
    ]
    assert told[-4:] == ["iteration.started", "iteration.observed", "iteration.finished", "iteration.started"]


def test_it_goes_on_for_many_iterations_and_completes(host: Host) -> None:
    async def session() -> None:
        for number in range(1, 6):
            host.say("one", f"step {number}")
            await host.idle("one")
            forget_quiet(host)
        host.say("one", DONE)
        await host.idle("one")

    host.hook.start_loop("one", "fix it", PLAIN)
    asyncio.run(session())
    assert len(host.prompts) == 5
    assert not host.hook.is_loop_active("one")
    assert host.toasts[-1].message == "Task completed after 6 iteration(s)"


def forget_quiet(host: Host, session: str = "one") -> None:
    """As if the last idle had been a while ago."""
    place = host.hook._place(session)
    link = storage.load_link(place)
    storage.save_link(place, storage.Link(loop_id=link.loop_id, messages_at_start=link.messages_at_start))


def test_it_stops_at_the_limit(host: Host, project: Project) -> None:
    host.hook.start_loop("one", "fix it", StartLoopOptions(trust_promise=True, max_iterations=2))
    loop_id = loop_of(project, "one")
    for _ in range(3):
        host.say("one", "not yet")
        asyncio.run(host.idle("one"))
        forget_quiet(host)
    assert len(host.prompts) == 1
    assert not host.hook.is_loop_active("one")
    assert host.toasts[-1].as_json() == {
        "title": "Ralph Loop Stopped",
        "message": "Max iterations (2) reached without completion",
        "variant": "warning",
        "duration": 5000,
    }
    assert status_of(project, loop_id) is Status.FAILED


def test_one_iteration_is_no_continuation(host: Host) -> None:
    host.hook.start_loop("one", "fix it", StartLoopOptions(trust_promise=True, max_iterations=1))
    host.say("one", "not yet")
    asyncio.run(host.idle("one"))
    assert host.prompts == []
    assert titles(host)[-1] == "Ralph Loop Stopped"


def test_a_promise_on_the_last_turn_wins_over_the_limit(host: Host) -> None:
    host.hook.start_loop("one", "fix it", StartLoopOptions(trust_promise=True, max_iterations=1))
    host.say("one", DONE)
    asyncio.run(host.idle("one"))
    assert titles(host)[-1] == "Ralph Loop Complete!"


@pytest.mark.parametrize("name", sorted(constants.ABORTED))
def test_an_abort_by_the_user_ends_it(host: Host, project: Project, name: str) -> None:
    host.hook.start_loop("one", "fix it", PLAIN)
    loop_id = loop_of(project, "one")
    asyncio.run(host.error("one", name))
    assert not host.hook.is_loop_active("one")
    assert status_of(project, loop_id) is Status.ABORTED
    host.say("one", "not yet")
    asyncio.run(host.idle("one"))
    assert host.prompts == []


def test_an_idle_soon_after_an_error_is_deferred_and_not_lost(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "RECOVERY_SECONDS", 0.4)
    host.hook.start_loop("one", "fix it", PLAIN)
    host.say("one", "hm")
    began = time.monotonic()

    async def trouble() -> None:
        await host.error("one", "ProviderError")
        await host.idle("one")

    asyncio.run(trouble())
    assert time.monotonic() - began >= 0.3
    assert len(host.prompts) == 1


def test_a_cancel_is_by_the_session_itself(host: Host, project: Project) -> None:
    host.hook.start_loop("one", "fix it", PLAIN)
    loop_id = loop_of(project, "one")
    assert not host.hook.cancel_loop("two")
    assert host.toasts[-1].as_json() == {
        "title": "No Active Loop",
        "message": "No Ralph Loop is currently running",
        "variant": "info",
    }
    assert host.hook.is_loop_active("one")
    assert host.hook.cancel_loop("one")
    assert host.toasts[-1].message == "Stopped at iteration 1"
    assert status_of(project, loop_id) is Status.ABORTED
    assert not host.hook.cancel_loop("one")


def test_a_cancel_holds_until_a_new_start(host: Host) -> None:
    host.hook.start_loop("one", "fix it", PLAIN)
    host.hook.cancel_loop("one")
    for _ in range(3):
        host.say("one", "go on", role="user")
        host.say("one", "at it")
        asyncio.run(host.idle("one"))
    assert host.prompts == []
    assert not host.hook.is_loop_active("one")
    assert host.hook.start_loop("one", "again", PLAIN)
    assert iteration(host) == 1


def test_the_state_lives_longer_than_the_host(project: Project) -> None:
    first = Host(project)
    first.hook.start_loop("one", "fix it", PLAIN)
    first.say("one", "at it")
    asyncio.run(first.idle("one"))
    second = Host(project)
    forget_quiet(second)
    second.say("one", "still at it")
    asyncio.run(second.idle("one"))
    assert iteration(second) == 3


def test_only_what_was_said_after_the_start_counts(host: Host) -> None:
    host.say("one", DONE)
    host.hook.start_loop("one", "fix it", PLAIN)
    asyncio.run(host.idle("one"))
    assert host.hook.is_loop_active("one")
    assert len(host.prompts) == 1


def test_the_promise_in_the_prompt_is_no_claim(host: Host) -> None:
    host.hook.start_loop("one", "say <promise>DONE</promise> when done", PLAIN)
    host.say("one", "say <promise>DONE</promise> when done", role="user")
    asyncio.run(host.idle("one"))
    assert host.hook.is_loop_active("one")


def test_the_counter_moves_only_when_a_prompt_was_taken(project: Project) -> None:
    async def refuse(session: str, prompt: str) -> None:
        raise ConnectionError("busy")

    host = Host(project, inject_prompt=refuse)
    host.hook.start_loop("one", "fix it", PLAIN)
    host.say("one", "at it")
    asyncio.run(host.idle("one"))
    assert iteration(host) == 1
    assert "Ralph Loop" not in titles(host)
    assert reader.view(project.state, loop_of(project, "one")).state.iteration == 0


async def until_decided(host: Host) -> None:
    """What was said has been looked at, and the delay before the prompt has begun."""
    while not storage.load_link(host.hook._place("one")).said:  # noqa: ASYNC110  a file is waited for
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)


def test_a_loop_that_is_cancelled_during_the_delay_gets_no_prompt(project: Project) -> None:
    host = Host(project, delay=2000)
    host.hook.start_loop("one", "fix it", PLAIN)
    host.say("one", "at it")

    async def session() -> None:
        idle = asyncio.create_task(host.idle("one"))
        await until_decided(host)
        host.hook.cancel_loop("one")
        await idle

    asyncio.run(session())
    assert host.prompts == []
    assert not host.hook.is_loop_active("one")


def test_a_loop_that_was_replaced_during_the_delay_is_not_sent_on(project: Project) -> None:
    host = Host(project, delay=3000)
    host.hook.start_loop("one", "first", PLAIN)
    host.say("one", "at it")

    async def session() -> None:
        idle = asyncio.create_task(host.idle("one"))
        await until_decided(host)
        await asyncio.to_thread(
            host.hook.start_loop, "one", "second", StartLoopOptions(trust_promise=True, replace=True)
        )
        await idle

    asyncio.run(session())
    assert host.prompts == []
    assert iteration(host) == 1


def test_idle_events_at_once_are_one(project: Project) -> None:
    taken = []

    async def inject(session: str, prompt: str) -> None:
        await asyncio.sleep(0.05)
        taken.append(prompt)

    host = Host(project, delay=100, inject_prompt=inject)
    host.hook.start_loop("one", "fix it", PLAIN)
    host.say("one", "at it")

    async def storm() -> None:
        await asyncio.gather(*(host.idle("one") for _ in range(20)))
        await host.idle("one")

    asyncio.run(storm())
    assert iteration(host) == 2
    assert len(taken) == 1


def test_an_idle_half_a_second_later_is_another(host: Host) -> None:
    host.hook.start_loop("one", "fix it", PLAIN)

    async def session() -> None:
        host.say("one", "at it")
        await host.idle("one")
        await asyncio.sleep(0.55)
        host.say("one", "still")
        await host.idle("one")

    asyncio.run(session())
    assert iteration(host) == 3


def test_an_idle_that_comes_while_the_prompt_is_delivered_is_not_lost(project: Project) -> None:
    """A host that waits for the whole answer says that it is idle before it says that it took the prompt."""
    host = Host(project)
    taken = []

    async def inject(session: str, prompt: str) -> None:
        taken.append(prompt)
        await asyncio.sleep(0.6)
        host.say(session, prompt, role="user")
        host.say(session, DONE if len(taken) > 1 else "working")
        idles.append(asyncio.create_task(host.idle(session)))
        await asyncio.sleep(0.01)

    idles: list[asyncio.Task[None]] = []
    host = Host(project, inject_prompt=inject)
    host.hook.start_loop("one", "fix it", PLAIN)

    async def session() -> None:
        host.say("one", "at it")
        await host.idle("one")
        await asyncio.gather(*idles)
        for _ in range(3):
            await asyncio.sleep(0.55)
            await host.idle("one")

    asyncio.run(session())
    assert len(taken) == 2
    assert not host.hook.is_loop_active("one")


def test_a_message_of_the_users_goes_first(host: Host) -> None:
    host.hook.start_loop("one", "fix it", PLAIN)

    async def session() -> None:
        host.say("one", "wait a moment", role="user")
        await host.hook.user_said("one")
        await host.idle("one")

    asyncio.run(session())
    assert host.prompts == []
    assert iteration(host) == 1
    host.say("one", "as you like")
    asyncio.run(host.idle("one"))
    assert len(host.prompts) == 1


def test_background_work_is_waited_for(project: Project) -> None:
    busy = [True]
    host = Host(project, has_background_work=lambda _: busy[0])
    host.hook.start_loop("one", "fix it", PLAIN)
    host.say("one", "the build runs in the background")
    asyncio.run(host.idle("one"))
    assert host.prompts == []
    busy[0] = False
    asyncio.run(host.idle("one"))
    assert len(host.prompts) == 1


def test_a_session_without_an_id_is_refused(host: Host) -> None:
    assert not host.hook.start_loop("", "fix it", PLAIN)
    assert not host.hook.cancel_loop("")
    asyncio.run(host.idle(""))
    assert host.prompts == []


@pytest.mark.parametrize("limit", [0, -3, float("nan"), float("inf"), 1.5])
def test_a_limit_that_is_none_is_refused(host: Host, project: Project, limit: float) -> None:
    options = StartLoopOptions(trust_promise=True, max_iterations=limit)  # type: ignore[arg-type]
    assert not host.hook.start_loop("one", "fix it", options)
    assert host.hook.problem is not None
    assert "--max-iterations" in host.hook.problem.message
    assert read_registry(project.state).registry.active_loops == ()


@pytest.mark.parametrize("prompt", ["", "  \n"])
def test_an_empty_prompt_is_refused(host: Host, prompt: str) -> None:
    assert not host.hook.start_loop("one", prompt, PLAIN)
    assert not host.hook.is_loop_active("one")


def test_an_orphan_is_cleared_only_on_positive_evidence(project: Project) -> None:
    answer: list[bool | Exception | None] = [None]

    async def exists(session: str) -> bool | None:
        if isinstance(answer[0], Exception):
            raise answer[0]
        return answer[0]

    host = Host(project, check_session_exists=exists)
    host.hook.start_loop("gone", "fix it", PLAIN)
    for said in (None, RuntimeError("no network"), True):
        answer[0] = said
        asyncio.run(host.idle("other"))
        assert host.hook.is_loop_active("gone")
    answer[0] = False
    asyncio.run(host.idle("other"))
    assert not host.hook.is_loop_active("gone")
    assert read_registry(project.state).registry.active_loops == ()


def test_a_deleted_session_frees_its_slot(host: Host, project: Project) -> None:
    host.hook.start_loop("one", "fix it", PLAIN)
    context = HookContext(event="session.deleted", session_id="other", data={"sessionId": "one"})
    asyncio.run(host.hook.handler(context))
    assert not host.hook.is_loop_active("one")
    assert read_registry(project.state).registry.active_loops == ()


def test_a_toast_that_fails_or_hangs_holds_nobody_up(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untilproven.session.hook._TOAST_SECONDS", 0.05)

    async def hang(toast: object) -> None:
        await asyncio.sleep(60)

    def fail(toast: object) -> None:
        raise RuntimeError("no screen")

    for number, show in enumerate((fail, hang)):
        host = Host(project, show_toast=show)
        assert host.hook.start_loop(f"s{number}", "fix it", PLAIN)
        host.say(f"s{number}", "at it")
        asyncio.run(host.idle(f"s{number}"))
        assert iteration(host, f"s{number}") == 2


@pytest.mark.parametrize("broken", ["get_messages", "has_background_work"])
def test_what_fails_in_the_host_does_not_come_back_to_it(project: Project, broken: str) -> None:
    def fails(_: str) -> Any:
        raise LookupError("no such session")

    prompts: list[str] = []
    options: dict[str, Any] = {"inject_prompt": lambda _, prompt: prompts.append(prompt), broken: fails}
    hook = create_ralph_loop_hook(RalphLoopOptions(workdir=project.root, **options))
    assert hook.start_loop("one", "Task", PLAIN)
    asyncio.run(hook.handler(HookContext(event="session.idle", session_id="one")))
    assert not prompts
    assert hook.is_loop_active("one")


def test_a_second_start_is_refused_or_replaces(host: Host, project: Project) -> None:
    assert host.hook.start_loop("one", "first", PLAIN)
    first = loop_of(project, "one")
    assert not host.hook.start_loop("one", "second", PLAIN)
    assert host.hook.problem is not None
    assert "already" in host.hook.problem.message
    assert host.hook.start_loop("one", "second", StartLoopOptions(trust_promise=True, replace=True))
    state = host.hook.get_state("one")
    assert state is not None
    assert state.prompt == "second"
    assert status_of(project, first) is Status.ABORTED
    assert len(read_registry(project.state).registry.active_loops) == 1


def test_two_sessions_of_one_project_do_not_touch_each_other(host: Host) -> None:
    host.hook.start_loop("one", "first", PLAIN)
    host.say("two", "I am somebody else.\n<promise>DONE</promise>")
    asyncio.run(host.idle("two"))
    assert host.prompts == []
    assert iteration(host) == 1
    host.hook.start_loop("two", "second", PLAIN)
    host.say("one", "at it")
    asyncio.run(host.idle("one"))
    assert (iteration(host, "one"), iteration(host, "two")) == (2, 1)


def test_switched_off_it_does_nothing(project: Project, tmp_path: Path) -> None:
    hook = create_ralph_loop_hook(RalphLoopOptions(config=RalphLoopConfig(enabled=False), workdir=project.root))
    assert not hook.start_loop("one", "fix it", PLAIN)
    assert hook.problem is not None
    assert "switched off" in hook.problem.message


def test_a_state_directory_of_its_own_is_used(project: Project, tmp_path: Path) -> None:
    host = Host(project, state_dir=tmp_path / "states")
    host.hook.start_loop("one", "fix it", PLAIN)
    assert (tmp_path / "states/one/ralph-loop-state.json").is_file()
    host.say("one", "at it")
    asyncio.run(host.idle("one"))
    assert iteration(host) == 2


def test_without_a_check_and_without_trust_a_start_says_what_is_missing(host: Host) -> None:
    assert not host.hook.start_loop("one", "fix it")
    assert host.hook.problem is not None
    assert "--until" in host.hook.problem.hint

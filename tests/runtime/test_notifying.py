"""`notify`: a command of the user's is told when a human is needed and when a loop has ended, and can do no harm."""

import json
import os
import shlex
import shutil
import threading
import time
from collections.abc import Iterator
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from process.scenes import alive, pids_in
from runtime.cart import DELETES, HONEST, cart, run
from runtime.loops import Place
from untilproven.core.waiting import needs_a_human
from untilproven.model.events import StatusChanged
from untilproven.model.fields import PauseReason
from untilproven.model.plan import Plan
from untilproven.model.status import Status
from untilproven.runtime import channels, notifying
from untilproven.store.layout import Project
from watch.scenes import Stage, begin

MAKE = "--until=test -s made"
MADE = "echo x > made"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def telling(place: Place) -> str:
    """A command that writes down what it is told."""
    line = r"""printf '%s\n' "$RALPH_LOOP" "$RALPH_EVENT" "$RALPH_MESSAGE" >> ../told"""
    return f"--notify={line}"


def told(place: Place) -> list[tuple[str, str, str]]:
    path = place.beside / "told"
    lines = path.read_text().splitlines() if path.exists() else []
    return list(zip(lines[::3], lines[1::3], lines[2::3], strict=True))


def logged(place: Place) -> list[dict[str, Any]]:
    lines = (place.directory() / "hook-log.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_the_end_of_a_loop_is_told(place: Place) -> None:
    assert place.run("make it", place.script(MADE), MAKE, telling(place)).returncode == 0
    assert told(place) == [
        (place.loop, "loop.finished", "completed: test -s made failed before the work and passes now")
    ]
    (call,) = logged(place)
    assert (call["hook_name"], call["iteration"], call["outcomes"][0]["ok"]) == ("notify", 1, True)


def test_a_gate_is_told_when_it_opens_and_the_end_after_it(tmp_path: Path) -> None:
    place = cart(tmp_path)
    assert run(place, DELETES, HONEST, words=(telling(place),)) == 8
    (gate,) = told(place)
    assert gate[:2] == (place.loop, "gate.opened")
    assert gate[2].startswith("iteration 1 is held back: test_sums was deleted")
    assert place.ralph("gate", "reject", place.loop).returncode == 0
    assert place.ralph("resume", place.loop).returncode == 0
    assert [event for _, event, _ in told(place)] == ["gate.opened", "loop.finished"]


def test_a_gate_that_a_policy_answers_needs_nobody(tmp_path: Path) -> None:
    place = cart(tmp_path)
    assert run(place, DELETES, HONEST, words=(telling(place), "--on-gate=reject")) == 0
    assert [event for _, event, _ in told(place)] == ["loop.finished"]


def test_a_check_that_cannot_be_run_needs_somebody(place: Place) -> None:
    assert place.run("make it", place.script("true"), "--until=no-such-program", telling(place)).returncode == 8
    ((_, event, message),) = told(place)
    assert event == "loop.paused"
    assert "no-such-program" in message


def test_words_from_the_agent_are_one_harmless_line(place: Place) -> None:
    blocked = {"result": {"status": "blocked", "blocker": "a\0b\nc \x1b[2J$(touch ../owned)"}}
    assert place.run("make it", place.cassette([blocked]), MAKE, telling(place)).returncode == 8
    ((_, _, message),) = told(place)
    assert message == "ab c $(touch ../owned)"
    assert not (place.beside / "owned").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("exit 3", "nobody was notified: exit code 3"),
        ("no-such-notifier", "nobody was notified: exit code 127"),
        ("kill -9 $$", "nobody was notified: died of signal 9"),
    ],
)
def test_one_that_fails_is_a_warning_and_is_logged(place: Place, command: str, said: str) -> None:
    done = place.run("make it", place.script(MADE), MAKE, f"--notify={command}")
    assert done.returncode == 0
    assert said in done.stdout
    assert place.status() == "completed"
    (call,) = logged(place)
    assert not call["outcomes"][0]["ok"]


def test_one_that_hangs_is_ended_with_all_it_started(place: Place) -> None:
    hangs = "echo $$ > ../shell.pid; (echo $$ > ../deep.pid; setsid sleep 600) & sleep 600"
    began = time.monotonic()
    done = place.run("make it", place.script(MADE), MAKE, f"--notify={hangs}")
    assert done.returncode == 0
    assert f"not done after {channels.SECONDS:g} s" in done.stdout
    assert time.monotonic() - began < channels.SECONDS + 20
    assert not any(map(alive, pids_in(place.beside)))


def test_a_log_that_cannot_be_written_stops_nothing(place: Place) -> None:
    agent = place.script('mkdir -p ".aiwg/ralph/loops/$RALPH_LOOP_ID/hook-log.jsonl"', MADE)
    assert place.run("make it", agent, MAKE, telling(place)).returncode == 0
    assert len(told(place)) == 1


def test_what_a_clone_brings_is_not_run_before_it_is_trusted(place: Place) -> None:
    place.write("ralph.toml", 'notify = ["touch ../owned"]\n')
    done = place.run("make it", place.script(MADE), MAKE)
    assert done.returncode == 0
    assert "notify" in done.stderr
    assert not (place.beside / "owned").exists()
    (place.root / "made").unlink()
    assert place.run("make it", place.script(MADE), MAKE, env={"RALPH_TRUST": "1"}).returncode == 0
    assert (place.beside / "owned").exists()


def test_only_what_the_loop_was_started_with_is_run(place: Place) -> None:
    assert place.run("make it", place.script("true"), MAKE, "--max-iterations=1").returncode == 4
    place.write("ralph.toml", 'notify = ["touch ../owned"]\n')
    assert place.ralph("trust", "--yes").returncode == 0
    assert place.ralph("resume", place.loop, "--max-iterations=2").returncode == 4
    assert not (place.beside / "owned").exists()


def test_a_pause_that_somebody_asked_for_is_not_told(project: Project) -> None:
    command = f"echo $RALPH_EVENT >> {shlex.quote(str(project.root / 'told'))}"
    warned: list[str] = []
    with begin(project) as writer:
        plan = Plan(agent="command", task_hash="sha256:0", notify=(command,), notify_on=("gate", "block", "end"))
        stage = Stage(writer, notifying.Notifier(plan, writer.loop, project.root, warned.append))
        stage.move(Status.PAUSED, pause_reason=PauseReason.USER, reason="paused by the user")
        stage.move(Status.RUNNING)
        stage.move(Status.PAUSED, pause_reason=PauseReason.USAGE_LIMIT, resume_at=AT)
        stage.move(Status.RUNNING)
        assert not (project.root / "told").exists()
        stage.move(Status.PAUSED, pause_reason=PauseReason.BLOCKED, reason="which key?")
    assert (project.root / "told").read_text() == "loop.paused\n"
    assert warned == []


AT = datetime.fromisoformat("2026-11-16T12:00:00+00:00")


@pytest.mark.parametrize(
    ("change", "needed"),
    [
        (StatusChanged(to=Status.PAUSED, pause_reason=PauseReason.GATE), True),
        (StatusChanged(to=Status.PAUSED, pause_reason=PauseReason.BLOCKED), True),
        (StatusChanged(to=Status.PAUSED, pause_reason=PauseReason.BROKEN_CHECK), True),
        (StatusChanged(to=Status.PAUSED, pause_reason=PauseReason.USAGE_LIMIT), True),
        (StatusChanged(to=Status.PAUSED, pause_reason=PauseReason.USAGE_LIMIT, resume_at=AT), False),
        (StatusChanged(to=Status.PAUSED, pause_reason=PauseReason.USER), False),
        (StatusChanged(to=Status.RUNNING), False),
        (StatusChanged(to=Status.FAILED), False),
    ],
)
def test_who_asked_for_it_and_who_waits_for_time_need_no_notice(change: StatusChanged, needed: bool) -> None:
    assert needs_a_human(change) is needed


@pytest.mark.parametrize(
    ("wanted", "heard"),
    [
        (("end",), ["loop.finished"]),
        (("limit",), ["loop.finished"]),
        (("gate", "block"), []),
        ((), ["loop.finished"]),
    ],
)
def test_only_what_was_asked_for_is_told(place: Place, wanted: tuple[str, ...], heard: list[str]) -> None:
    words = [f"--notify-on={kind}" for kind in wanted]
    assert place.run("make it", place.script("true"), MAKE, "-n1", telling(place), *words).returncode == 4
    assert [event for _, event, _ in told(place)] == heard


def test_the_end_that_is_no_limit_is_not_told_to_whoever_asks_for_limits(place: Place) -> None:
    done = place.run("make it", place.script(MADE), MAKE, telling(place), "--notify-on=limit")
    assert done.returncode == 0
    assert told(place) == []


def test_an_occasion_that_is_none_is_refused(place: Place) -> None:
    done = place.run("make it", place.script(MADE), MAKE, telling(place), "--notify-on=often")
    assert done.returncode == 2
    assert "'gate', 'block', 'limit', 'end'" in done.stderr


def test_several_are_told_and_one_that_fails_keeps_no_other_from_it(place: Place) -> None:
    done = place.run("make it", place.script(MADE), MAKE, "--notify=exit 3", telling(place))
    assert done.returncode == 0
    assert len(told(place)) == 1
    (call,) = logged(place)
    assert [outcome["ok"] for outcome in call["outcomes"]] == [False, True]


def test_the_desktop_is_told_in_words_that_are_no_markup(place: Place) -> None:
    sender = place.beside / "bin" / "notify-send"
    sender.parent.mkdir()
    sender.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > ../sent\n')
    sender.chmod(0o755)
    env = {"PATH": f"{sender.parent}:{os.environ['PATH']}"}
    blocked = {"result": {"status": "blocked", "blocker": "<img src=x> $(touch ../owned) --help"}}
    assert place.run("make it", place.cassette([blocked]), MAKE, "--notify=desktop", env=env).returncode == 8
    assert (place.beside / "sent").read_text().splitlines() == [
        "--app-name=ralph",
        "--",
        place.loop,
        "&lt;img src=x&gt; $(touch ../owned) --help",
    ]
    assert not (place.beside / "owned").exists()


@pytest.mark.parametrize(
    ("channel", "said"),
    [("desktop", "notify-send"), ("$NOBODY_SET_THIS", "the variable NOBODY_SET_THIS is not set")],
)
def test_what_could_tell_nobody_is_refused_before_the_work(place: Place, channel: str, said: str) -> None:
    (place.beside / "bin").mkdir()
    for program in ("git", "sh"):
        (place.beside / "bin" / program).symlink_to(str(shutil.which(program)))
    done = place.run(
        "make it", "--agent-cmd=true", MAKE, f"--notify={channel}", env={"PATH": str(place.beside / "bin")}
    )
    assert done.returncode == 2
    assert said in done.stderr


class Service(BaseHTTPRequestHandler):
    """Takes what Apprise posts as JSON; under /full it takes nothing."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        taken: list[dict[str, Any]] = self.server.taken  # type: ignore[attr-defined]  # put there by `service`
        refused = self.path.startswith("/full")
        if not refused:
            taken.append(json.loads(body))
        self.send_response(507 if refused else 200)
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name there
        """Quiet."""


@pytest.fixture
def service() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        taken: list[dict[str, Any]] = []
        server.taken = taken  # type: ignore[attr-defined]  # for the handler
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}", taken
        server.shutdown()
        thread.join()


def test_a_service_of_apprise_is_told_and_its_address_is_kept_nowhere(
    place: Place, service: tuple[str, list[dict[str, Any]]]
) -> None:
    where, taken = service
    address = f"json://user:secret-9f8e7d6c@{where}/hook"
    done = place.run("make it", place.script(MADE), MAKE, "--notify=$MY_PHONE", env={"MY_PHONE": address})
    assert done.returncode == 0, done.stderr
    (notice,) = taken
    assert notice["title"] == f"ralph: {place.loop}"
    assert notice["message"].startswith("completed: ")
    kept = [path for path in place.root.rglob("*") if path.is_file() and b"9f8e7d6c" in path.read_bytes()]
    assert kept == []


def test_a_service_that_takes_nothing_is_a_warning(place: Place, service: tuple[str, list[dict[str, Any]]]) -> None:
    done = place.run("make it", place.script(MADE), MAKE, f"--notify=json://{service[0]}/full")
    assert done.returncode == 0
    assert "nobody was notified: the service that Apprise asked did not take it" in done.stdout


def test_an_address_of_no_service_is_a_warning(place: Place) -> None:
    done = place.run("make it", place.script(MADE), MAKE, "--notify=nosuchservice://x")
    assert done.returncode == 0
    assert "nobody was notified: Apprise knows no service with such an address" in done.stdout

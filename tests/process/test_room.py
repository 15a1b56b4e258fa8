"""A directory as a room: a check's program and an agent's, run to their end, nothing left."""

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from process.scenes import alive
from untilproven.contract import AgentRoom, Supervision
from untilproven.model.program import Limits, Speech, Stop, Stream
from untilproven.process import leftovers
from untilproven.process.room import DirectoryRoom

STUBBORN = "trap 'exit 0' TERM INT; echo up; while :; do sleep 0.02; done"


def room_in(root: Path, env: Mapping[str, str] | None = None, **supervision: Any) -> AgentRoom:
    return DirectoryRoom(root, Supervision(marker=leftovers.new_marker(), **supervision), env)


def refuse(_stream: Stream, _chunk: bytes) -> None:
    raise AssertionError("nobody was to look at this")


def test_both_streams_come_in_the_order_they_were_written(tmp_path: Path) -> None:
    ran = room_in(tmp_path).run("echo 1; echo 2 >&2; echo 3; echo 4 >&2; exit 9", timeout=20)
    assert (ran.exit_code, ran.output) == (9, "1\n2\n3\n4\n")


def test_what_a_call_gives_is_added_to_the_rooms_environment(tmp_path: Path) -> None:
    room = room_in(tmp_path, {"PATH": os.environ["PATH"], "A": "a", "B": "b"})
    ran = room.run(["/bin/sh", "-c", "pwd; echo $HOME$A$B$X"], timeout=20, env={"B": "c", "X": "x"})
    assert ran.output == f"{tmp_path}\nacx\n"
    seen = bytearray()
    room.stream("echo $HOME$A$B$X", output=lambda _, chunk: seen.extend(chunk), env={"X": "y"})
    assert seen == b"aby\n"


def test_without_an_environment_it_has_the_runners_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    room = room_in(tmp_path)
    monkeypatch.setenv("OF_THE_RUNNER", "yes")
    assert room.run("echo $OF_THE_RUNNER$X", timeout=20, env={"X": "x"}).output == "yesx\n"


def test_too_much_output_keeps_head_and_tail(tmp_path: Path) -> None:
    ran = room_in(tmp_path).run("echo head; yes | head -c 3000000; echo tail", timeout=20)
    assert ran.output.startswith("head\ny\n")
    assert ran.output.endswith("y\ntail\n")
    assert "bytes cut ...]" in ran.output
    assert len(ran.output) < 257 * 1024


def test_a_timeout_is_neither_exit_nor_signal_and_leaves_nothing(tmp_path: Path) -> None:
    line = "setsid sleep 1000 & echo $!; trap 'exit 0' TERM; while :; do sleep 0.02; done"
    ran = room_in(tmp_path).run(line, timeout=0.3)
    assert (ran.timed_out, ran.exit_code, ran.signal) == (True, None, None)
    assert not alive(int(ran.output.split()[0]))


def test_a_check_is_bound_by_its_timeout_and_not_by_the_limits_of_the_agent(tmp_path: Path) -> None:
    room = room_in(tmp_path, limits=Limits(wall=0.01, idle=0.01, output=1), tee=refuse)
    ran = room.run("sleep 0.2; echo done", timeout=20)
    assert (ran.exit_code, ran.output) == (0, "done\n")


def test_what_cannot_start_says_why(tmp_path: Path) -> None:
    ran = room_in(tmp_path).run(["no-such-check"], timeout=20)
    assert ran.not_started.startswith("no-such-check: not found")
    assert (ran.exit_code, ran.signal, ran.timed_out) == (None, None, False)
    ending = room_in(tmp_path).stream(["no-such-agent"], output=refuse)
    assert ending.not_started.startswith("no-such-agent: not found")


def test_a_check_that_was_asked_to_stop_or_lost_its_keeper_has_no_exit_code(tmp_path: Path) -> None:
    asked = room_in(tmp_path, until=lambda: Stop("abort")).run(STUBBORN, timeout=20)
    lost = room_in(tmp_path).run("kill -KILL $PPID; exit 0", timeout=20)
    assert [(ran.exit_code, ran.signal) for ran in (asked, lost)] == [(None, 9), (None, 9)]


def test_a_program_that_printed_no_text_is_shown_as_far_as_possible(tmp_path: Path) -> None:
    assert room_in(tmp_path).run(r"printf 'a\377b'", timeout=20).output == "a\ufffdb"


def test_whoever_opened_the_room_sees_every_chunk_first(tmp_path: Path) -> None:
    order: list[tuple[str, Stream, bytes]] = []
    room = room_in(tmp_path, tee=lambda stream, chunk: order.append(("tee", stream, chunk)))
    ending = room.stream(
        "cat; echo oops >&2",
        output=lambda stream, chunk: order.append(("output", stream, chunk)),
        stdin=b"prompt",
    )
    assert ending.succeeded
    assert [who for who, _, _ in order] == ["tee", "output"] * (len(order) // 2)
    for who in ("tee", "output"):
        assert b"".join(chunk for to, stream, chunk in order if (to, stream) == (who, "stdout")) == b"prompt"
        assert b"".join(chunk for to, stream, chunk in order if (to, stream) == (who, "stderr")) == b"oops\n"


@pytest.mark.parametrize(
    ("limits", "because"), [(Limits(wall=0.2), "wall"), (Limits(idle=0.2), "idle"), (Limits(output=2), "output")]
)
def test_an_agent_past_a_limit_is_stopped_and_is_no_success(tmp_path: Path, limits: Limits, because: str) -> None:
    ending = room_in(tmp_path, limits=limits).stream(STUBBORN, output=lambda *_: None)
    assert ending.stopped_because == because
    assert not ending.succeeded


def test_an_agent_is_stopped_as_soon_as_something_wakes_the_room(tmp_path: Path) -> None:
    read, write = os.pipe()
    try:
        wish: list[Stop] = []

        def on_output(_stream: Stream, _chunk: bytes) -> None:
            wish.append(Stop("pause", now=True))
            os.write(write, b"!")

        room = room_in(tmp_path, until=lambda: wish[0] if wish else None, wake=[read])
        ending = room.stream(STUBBORN, output=on_output)
    finally:
        os.close(read)
        os.close(write)
    assert (ending.stopped_because, ending.signal) == ("asked: pause", 9)


def test_what_runs_in_the_room_bears_its_marker(tmp_path: Path) -> None:
    marker = leftovers.new_marker()
    seen = bytearray()
    room = DirectoryRoom(tmp_path, Supervision(marker=marker))
    room.stream("echo $RALPH_KEEPER", output=lambda _, chunk: seen.extend(chunk))
    assert seen.decode() == room.run("echo $RALPH_KEEPER", timeout=20).output == f"{marker}\n"


def test_the_tree_is_seen_without_following_a_link_or_waiting(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    (root / "d").mkdir(parents=True)
    (tmp_path / "secret").write_text("s")
    (root / "d" / "a.py").write_text("a")
    (root / "d" / "empty").touch()
    os.mkfifo(root / "pipe")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "up").symlink_to(tmp_path)
    room = room_in(root)
    found = room.look(PurePosixPath("d/a.py"))
    assert found is not None
    assert found.st_size == 1
    assert room.read(PurePosixPath("d/a.py"), 1) == b"a"
    assert room.read(PurePosixPath("d/a.py"), 0) is None
    assert room.read(PurePosixPath("d/empty"), 0) == b""
    for name in ("link", "up/secret", "pipe", "d", "../secret", str(tmp_path / "secret"), "", "nothing", "a\0"):
        assert room.look(PurePosixPath(name)) is None, name
        assert room.read(PurePosixPath(name), 9) is None, name
    assert room.find("**") == room.find("d/*") == [PurePosixPath("d/a.py"), PurePosixPath("d/empty")]
    assert room.find("up/*") == room.find("../*") == room.find("nothing/**") == []


def test_a_scratch_directory_is_empty_the_same_for_both_sides_and_goes(tmp_path: Path) -> None:
    room = room_in(tmp_path)
    with room.scratch() as scratch:
        (scratch.outside / "in").write_text("given")
        ran = room.run(f"cd {scratch.inside} && cat in && mkdir closed && chmod 0 closed", timeout=20)
        assert ran.output == "given"
    assert not scratch.outside.exists()


def test_a_scratch_directory_that_was_taken_away_or_swapped_does_no_harm(tmp_path: Path) -> None:
    room = room_in(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    with room.scratch() as scratch:
        room.run(f"rmdir {scratch.inside}; ln -s {tmp_path}/mine {scratch.inside}", timeout=20)
    assert (tmp_path / "mine" / "file").exists()
    scratch.outside.unlink()
    with room.scratch() as scratch:
        room.run(f"rmdir {scratch.inside}", timeout=20)


def test_an_agent_in_a_room_can_be_talked_to(tmp_path: Path) -> None:
    speech = Speech()
    seen: list[bytes] = []

    def output(_stream: Stream, chunk: bytes) -> None:
        speech.say(chunk.upper())
        speech.end()

    room = room_in(tmp_path, tee=lambda _stream, chunk: seen.append(chunk))
    assert room.stream("echo hello; cat > heard", output=output, stdin=speech).succeeded
    assert ((tmp_path / "heard").read_text(), seen) == ("HELLO\n", [b"hello\n"])

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support import make_project, ralph, run_iteration
from untilproven.cli import watching
from untilproven.cli.main import run
from untilproven.model.fields import PauseReason
from untilproven.model.status import Status
from untilproven.store.layout import Project
from untilproven.store.lifecycle import continue_loop, create_state
from watch.scenes import terminal

BUSY = """
from pathlib import Path
from untilproven.model.status import Status
from untilproven.store.archive import archive_loop
from untilproven.store.layout import find_project
from untilproven.store.lifecycle import create_state
project = find_project(Path.cwd())
while True:
    with create_state(project, "busy") as writer:
        writer.transition_status(Status.ABORTED)
    archive_loop(project.state, writer.state.loop_id)
"""
RALPH = Path(sys.executable).with_name("ralph")


@pytest.fixture
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(project.root)
    return project


def json_of(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    run([*words, "--json"])
    decoded = msgspec.json.decode(capsys.readouterr().out)
    assert isinstance(decoded, dict)
    return decoded


def test_the_table_shows_loops_slots_and_communication_paths(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    first = create_state(here, "fix the\nfirst \x1b[31mthing")
    run_iteration(first, 1)
    second = create_state(here, "second")
    second.transition_status(Status.PAUSED, pause_reason=PauseReason.GATE)
    assert run(["status"]) == 0
    shown = capsys.readouterr()
    assert "LOOP" in shown.out.splitlines()[0]
    row = next(line for line in shown.out.splitlines() if first.state.loop_id in line)
    assert "running" in row
    assert "1/200" in row
    assert "fix the first thing" in row
    assert "\x1b" not in shown.out
    assert "paused (gate)" in shown.out
    assert "2 of 4 slots used, 2 free; communication paths between them: 1" in shown.err


def test_as_json_it_is_one_document(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    loops = [create_state(here, f"task {number}") for number in range(3)]
    shown = json_of(capsys, "status")
    assert [row["loop_id"] for row in shown["loops"]] == [loop.state.loop_id for loop in loops]  # type: ignore[attr-defined]
    assert (shown["slots_used"], shown["free_slots"], shown["communication_paths"]) == (3, 1, 3)
    assert shown["damage"] == []


def test_nothing_running_is_said_and_is_no_error(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status"]) == 0
    assert "no loop is active" in capsys.readouterr().err
    assert run([]) == 0
    assert "To begin" in capsys.readouterr().out
    assert not here.state.path.exists()


def test_all_also_shows_what_ended_and_what_was_put_away(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with create_state(here, "done") as writer:
        writer.transition_status(Status.ABORTED)
    name = writer.state.loop_id
    assert json_of(capsys, "status")["loops"] == []
    assert [row["loop_id"] for row in json_of(capsys, "status", "--all")["loops"]] == [name]  # type: ignore[attr-defined]
    assert run(["archive", name]) == 0
    capsys.readouterr()
    assert [row["status"] for row in json_of(capsys, "status", "--all")["loops"]] == ["aborted"]  # type: ignore[attr-defined]


def test_one_loop_is_shown_with_what_it_did_and_cost(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with create_state(here, "fix") as writer:
        run_iteration(writer, 1)
    assert run(["status", writer.state.loop_id]) == 0
    shown = capsys.readouterr().out
    assert "last check  pytest -q failed, iteration 1" in shown
    assert "$0.0100; 1,000 tokens" in shown
    assert str(writer.loop.path) in shown
    detail = json_of(capsys, "status", writer.state.loop_id)
    assert detail["state"] == msgspec.json.decode(writer.loop.state.read_bytes())


def test_the_id_of_a_continued_loop_leads_to_its_successor(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with create_state(here, "fix") as old:
        old.transition_status(Status.FAILED)
    with continue_loop(here, old.state.loop_id) as new:
        detail = json_of(capsys, "status", old.state.loop_id)
        assert (detail["asked"], detail["loop_id"]) == (old.state.loop_id, new.state.loop_id)


def test_damage_is_shown_with_what_could_be_read_and_exit_1(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with create_state(here, "fix") as writer:
        run_iteration(writer, 1)
        writer.loop.state.write_bytes(b"junk")
        assert run(["status"]) == 1
        shown = capsys.readouterr()
        assert "1/200" in shown.out
        assert "state.json is not valid" in shown.err


def test_a_dead_loop_is_seen_marked_and_cleaned_up(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["status", "--check-stale"]) == 0
    assert "no loop has crashed" in capsys.readouterr().err
    with create_state(here, "fix") as writer:
        writer.transition_status(Status.CRASHED)
    assert run(["status", "--check-stale"]) == 0
    assert "free its slot with --cleanup" in capsys.readouterr().err
    shown = json_of(capsys, "status", "--check-stale", "--cleanup")
    assert shown["stale"] == [{"loop_id": writer.state.loop_id, "removed": True}]
    assert shown["free_slots"] == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status", "--cleanup"], "goes with --check-stale"),
        (["status", "../../etc"], "not a loop id"),
        (["status", "ralph-none-00000000"], "there is no loop"),
        (["status", "ralph-none-00000000", "--all"], "name one LOOP"),
        (["status", "--nonsense"], "No such option"),
        (["statsu"], "did you mean `ralph status`"),
        (["frobnicate"], "`ralph help all` lists the verbs"),
        (["resume", "ralph-none-00000000"], "there is no loop"),
        (["archive"], "name the loops"),
        (["state", "rebuild"], "Missing argument"),
        (["schema", "nonsense"], "is not one of"),
    ],
)
def test_a_mistake_is_explained_and_exits_with_2(
    here: Project, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert run(words) == 2
    assert said in capsys.readouterr().err
    assert run([*words, "--json"]) == 2
    error = msgspec.json.decode(capsys.readouterr().out)["error"]
    assert error["exit_code"] == 2
    assert error["message"]


def test_every_documented_schema_prints(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("state", "registry", "checkpoint", "task", "event", "config", "receipt"):
        assert run(["schema", name]) == 0
        assert "2020-12" in msgspec.json.decode(capsys.readouterr().out)["$schema"]


def test_rebuild_says_what_it_did(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    with create_state(here, "fix") as writer:
        run_iteration(writer, 1)
    name = writer.state.loop_id
    assert run(["state", "rebuild", name]) == 0
    assert "all of it was right" in capsys.readouterr().out
    writer.loop.state.unlink()
    assert json_of(capsys, "state", "rebuild", name)["changed"] == ["state.json"]
    with writer.loop.journal.open("ab") as file:
        file.write(b"junk\n")
    assert run(["state", "rebuild", name]) == 1
    assert "line 6" in capsys.readouterr().err


def test_archive_moves_all_that_ended(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["archive", "--all"]) == 0
    assert "nothing to put away" in capsys.readouterr().err
    with create_state(here, "fix") as writer:
        writer.transition_status(Status.FAILED)
    moved = json_of(capsys, "archive", "--all")["archived"]
    assert moved == [{"loop_id": writer.state.loop_id, "path": str(here.state.archive / writer.state.loop_id)}]


def test_help_and_version_need_no_project(tmp_path: Path) -> None:
    assert "Usage: ralph" in ralph("--help", cwd=tmp_path).stdout
    assert "Exit codes" in ralph("help", "all", cwd=tmp_path).stdout
    assert "check-stale" in ralph("help", "status", cwd=tmp_path).stdout
    assert ralph("--version", cwd=tmp_path).stdout.startswith("untilproven ")


def test_a_reader_that_has_seen_enough_is_no_error(here: Project) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{RALPH} schema state | head -c 10"], cwd=here.root, capture_output=True, text=True, check=False
    )
    assert done.stdout == '{\n  "$sche'
    assert done.stderr == ""


@pytest.mark.parametrize("words", ["--help", "--version", "status --json", "schema state", "config"])
def test_output_that_cannot_be_written_is_said_and_exits_with_1(here: Project, words: str) -> None:
    done = subprocess.run(
        ["sh", "-c", f"{RALPH} {words} > /dev/full"], cwd=here.root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (1, "ralph: cannot write the output: No space left on device\n")


@pytest.mark.parametrize("setting", [{"HOME": "/dev/null"}, {"HOME": "relative"}, {"XDG_STATE_HOME": "/etc/passwd"}])
def test_a_home_that_is_none_can_still_be_looked_from(here: Project, setting: dict[str, str]) -> None:
    done = ralph("status", cwd=here.root, env={"PATH": os.environ["PATH"], **setting})
    assert (done.returncode, done.stdout) == (0, "")


def test_a_project_whose_path_is_not_utf8_works(tmp_path: Path) -> None:
    odd = make_project(tmp_path / "caf\udce9")
    with create_state(odd, "t\ud800x") as writer:
        assert writer.state.task == "t?x"
    done = ralph("status", "--all", "--json", cwd=odd.root)
    assert done.returncode == 0
    assert msgspec.json.decode(done.stdout)["loops"][0]["directory"].endswith(writer.state.loop_id)


def test_looking_while_others_make_and_move_loops_reports_no_damage(here: Project) -> None:
    busy = subprocess.Popen([sys.executable, "-c", BUSY], cwd=here.root)
    try:
        for _ in range(25):
            done = ralph("status", "--all", cwd=here.root)
            assert (done.returncode, "warning" in done.stderr) == (0, False), done.stderr
        assert busy.poll() is None
    finally:
        busy.kill()
        busy.wait()


def test_an_internal_error_leaves_a_report_to_paste(
    here: Project, own_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr("untilproven.watch.loops.overview", broken)
    assert run(["status"]) == 3
    shown = capsys.readouterr().err
    (report,) = (own_home / ".local/state/untilproven/reports").iterdir()
    assert str(report) in shown
    assert "ZeroDivisionError: on purpose" in report.read_text()
    assert "Traceback" not in shown
    assert run(["status", "--json"]) == 3
    assert msgspec.json.decode(capsys.readouterr().out)["error"]["kind"] == "internal"


@pytest.mark.parametrize(("home", "words"), [("relative", "plain"), ("/dev/null", "odd \udce9 name")])
def test_an_internal_error_is_reported_even_where_nothing_can_be_written(
    here: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, home: str, words: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError(words)

    monkeypatch.setattr("untilproven.watch.loops.overview", broken)
    monkeypatch.setenv("HOME", home)
    assert run(["status"]) == 3
    assert "### untilproven" in capsys.readouterr().err
    assert run(["status", "--json"]) == 3
    assert msgspec.json.decode(capsys.readouterr().out)["error"]["exit_code"] == 3


def test_a_directory_that_vanished_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        ["sh", "-c", f'rmdir "$PWD"; exec {RALPH} status'], cwd=gone, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "moved or deleted" in done.stderr


def watched(here: Project, *words: str, **how: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "untilproven", "status", "--watch", *words],
        cwd=here.root,
        env={**os.environ, "TERM": "xterm"},
        stderr=subprocess.PIPE,
        text=True,
        **how,
    )


def test_that_time_passes_is_no_change(
    here: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter(["fix  59s ago  alive", "fix  1m ago  alive", "fix  2m ago  dead"])

    def look() -> None:
        print(next(looks, "end"))  # noqa: T201  as a verb would

    def nap(_: float) -> None:
        if next(naps) == "interrupted":
            raise KeyboardInterrupt

    naps = iter(["", "", "", "interrupted"])
    monkeypatch.setattr("untilproven.cli.watching.time.sleep", nap)
    assert watching.watch(look) == 0
    assert capsys.readouterr().out == "fix  59s ago  alive\nfix  2m ago  dead\nend\n"


def test_watching_without_a_terminal_prints_once_per_change_until_ctrl_c(here: Project) -> None:
    with create_state(here, "fix") as writer, watched(here, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("LOOP")
        assert "0/200" in process.stdout.readline()
        run_iteration(writer, 1)
        assert process.stdout.readline().startswith("LOOP")
        assert "1/200" in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stdout.read() == ""


def test_watching_in_a_terminal_stays_in_place_and_gives_the_screen_back(here: Project) -> None:
    with (
        create_state(here, "fix\x1b[2J") as writer,
        terminal(60) as tty,
        watched(here, writer.state.loop_id, stdout=tty.stream) as process,
    ):
        deadline = time.monotonic() + 30
        while tty.raw.count("\x1b[H") < 2 and time.monotonic() < deadline:
            tty.look()
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        tty.look()
        assert tty.raw.startswith("\x1b[?1049h\x1b[Hloop        ralph-fix-")
        before, _, after = tty.raw.partition("\x1b[?1049l")
        assert before.count("\x1b[J") == before.count("\x1b[H") >= 2
        assert after.startswith("loop        ralph-fix-")
        assert "\x1b" not in after


@pytest.mark.parametrize(
    ("words", "said"),
    [(["--check-stale"], "--watch only looks"), (["ralph-none-00000000"], "there is no loop")],
)
def test_what_cannot_be_watched_is_said(here: Project, words: list[str], said: str) -> None:
    done = ralph("status", "--watch", *words, cwd=here.root)
    assert done.returncode == 2
    assert said in done.stderr

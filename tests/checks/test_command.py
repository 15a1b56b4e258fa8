"""Exit 0 is done; a missing program is broken; everything else is not yet."""

from pathlib import Path

import pytest

from untilproven.checks.command import CommandCheck
from untilproven.checks.ending import missing_inside
from untilproven.contract import Evidence, Room, Supervision
from untilproven.process.room import DirectoryRoom


def run(room: Room, line: str, timeout: float = 60) -> Evidence:
    return CommandCheck(line).run(room, timeout=timeout)


def script(room: Room, name: str, text: str) -> None:
    path = room.root / name
    path.write_text(text)
    path.chmod(0o755)


def test_exit_0_passes_and_keeps_what_was_printed(room: Room) -> None:
    assert run(room, "echo fine").passed
    assert run(room, "echo fine").output == "fine\n"


def test_another_exit_code_is_not_yet_and_is_named_first(room: Room) -> None:
    evidence = run(room, "echo exited with 0; exit 3")
    assert (evidence.passed, evidence.broken) == (False, False)
    assert evidence.output == "exited with 3\nexited with 0\n"


def test_a_time_out_is_not_yet(room: Room) -> None:
    evidence = run(room, "sleep 60", timeout=0.2)
    assert (evidence.passed, evidence.broken) == (False, False)
    assert "0.2 s" in evidence.output


def test_an_end_by_signal_is_not_yet(room: Room) -> None:
    evidence = run(room, "kill -9 $$")
    assert (evidence.passed, evidence.broken) == (False, False)
    assert "signal 9" in evidence.output


@pytest.mark.parametrize(
    "line", ["no-such-program-here --all", "./missing.sh", "true && no-such-program-here", "A=1 ./no"]
)
def test_a_missing_program_is_broken(room: Room, line: str) -> None:
    evidence = run(room, line)
    assert evidence.broken
    assert "is missing" in evidence.output


def test_a_module_that_this_python_does_not_have_is_broken(room: Room) -> None:
    evidence = run(room, "cd . && python3 -m no_such_module_here -q")
    assert evidence.broken
    assert "no module no_such_module_here" in evidence.output


def test_a_module_that_imports_something_missing_is_not_yet(room: Room) -> None:
    (room.root / "mine.py").write_text("print('No module named mine')\nimport no_such_module_here\n")
    evidence = run(room, "python3 -m mine")
    assert (evidence.passed, evidence.broken) == (False, False)


def test_a_program_that_may_not_be_executed_is_broken(room: Room) -> None:
    (room.root / "check.sh").write_text("#!/bin/sh\n")
    assert run(room, "./check.sh").broken


@pytest.mark.parametrize("line", ["./check.sh", "make -s check", "sh check.sh"])
def test_127_from_inside_a_script_or_a_target_is_not_broken_but_marked(room: Room, line: str) -> None:
    script(room, "check.sh", "#!/bin/sh\nno-such-program-here\n")
    (room.root / "Makefile").write_text("check:\n\t@exit 127\n")
    evidence = run(room, line)
    assert not evidence.broken
    assert missing_inside(evidence) == (line != "make -s check")  # make itself turns every failure into 2


def test_a_program_cannot_print_the_mark(room: Room) -> None:
    marked = run(room, "exit 127").output.splitlines()[0]
    assert missing_inside(run(room, "exit 127"))
    assert not missing_inside(run(room, f"echo '{marked}'; exit 1"))
    assert not missing_inside(run(room, f"echo '{marked}'"))


def test_what_a_room_could_not_start_is_broken(tmp_path: Path) -> None:
    gone = DirectoryRoom(tmp_path / "gone", Supervision(marker=""))
    evidence = CommandCheck("true; true").run(gone, timeout=20)
    assert evidence.broken
    assert f"cannot enter {tmp_path / 'gone'}" in evidence.output

"""A script of the project, run with the task's id."""

import pytest

from untilproven.checks.validate import ValidateCheck
from untilproven.contract import Evidence, Room


def validate(room: Room, name: str, text: str, *, executable: bool = False) -> Evidence:
    path = room.root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o755 if executable else 0o644)
    return ValidateCheck(name, "RALPH-001").run(room, timeout=60)


@pytest.mark.parametrize(
    ("name", "text", "executable"),
    [
        ("check.sh", 'test "$RALPH_TASK_ID" = RALPH-001', False),
        ("a dir/check.py", "import os, sys; sys.exit(os.environ['RALPH_TASK_ID'] != 'RALPH-001')", False),
        ("check", "#!/bin/sh\n[ $RALPH_TASK_ID = RALPH-001 ]", True),
        ("-other.py", "raise SystemExit(0)", False),
        ("-check.py", "#!/usr/bin/env python3\nraise SystemExit(0)", True),
    ],
)
def test_a_script_is_run_by_its_own_first_line_or_by_its_suffix(
    room: Room, name: str, text: str, *, executable: bool
) -> None:
    assert validate(room, name, text, executable=executable).passed


def test_a_task_id_is_data_and_never_shell(room: Room) -> None:
    (room.root / "check.sh").write_text('printf %s "$RALPH_TASK_ID"')
    assert ValidateCheck("check.sh", "a b; $(id)'").run(room, timeout=60).output == "a b; $(id)'"


def test_a_script_that_fails_is_not_yet(room: Room) -> None:
    evidence = validate(room, "check.sh", "echo no; exit 1")
    assert (evidence.passed, evidence.broken) == (False, False)
    assert evidence.output == "exited with 1\nno\n"


def test_a_missing_interpreter_is_broken_and_named(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("untilproven.checks.validate._INTERPRETERS", {".ts": ("no-tsx-here", "no-bun-here run")})
    evidence = validate(room, "check.ts", "")
    assert evidence.broken
    assert "no-tsx-here, no-bun-here" in evidence.output


def test_a_missing_script_a_link_and_a_path_outside_are_broken(room: Room) -> None:
    (room.root.parent / "outside.sh").write_text("exit 0")
    (room.root / "link.sh").symlink_to(room.root.parent / "outside.sh")
    for script in ("missing.sh", "link.sh", "../outside.sh"):
        assert ValidateCheck(script).run(room, timeout=10).broken, script


def test_a_script_nothing_can_run_says_what_to_do(room: Room) -> None:
    evidence = validate(room, "check.xyz", "")
    assert evidence.broken
    assert "chmod +x check.xyz" in evidence.output

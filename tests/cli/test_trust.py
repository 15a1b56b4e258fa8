import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from untilproven.cli.main import run
from untilproven.store.layout import Project

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def root(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(project.root)
    return project.root


def until(capsys: Capture) -> str:
    capsys.readouterr()
    run(["config", "until"])
    return capsys.readouterr().out


def answered(answer: str, root: Path) -> subprocess.CompletedProcess[str]:
    """`ralph trust` on a terminal where somebody types an answer."""
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    try:
        return subprocess.run(
            [sys.executable, "-P", "-m", "untilproven", "trust"],
            stdin=theirs,
            capture_output=True,
            text=True,
            cwd=root,
            timeout=60,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)


def test_what_is_allowed_is_shown_and_then_in_force(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text('max_iterations = 5\nuntil = ["pytest -q"]\n')
    assert run(["trust", "--yes"]) == 0
    shown = capsys.readouterr().out
    assert 'line 2: until = ["pytest -q"]' in shown
    assert "max_iterations" not in shown
    assert until(capsys) == "pytest -q\n"


def test_without_a_terminal_nothing_is_allowed_unless_it_is_said(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    (root / "ralph.toml").write_text('until = ["pytest -q"]\n')
    assert run(["trust"]) == 2
    assert "ralph trust --yes" in capsys.readouterr().err
    assert until(capsys) == ""


def test_on_a_terminal_the_user_is_asked(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text('until = ["pytest -q"]\n')
    assert answered("n\n", root).returncode == 1
    assert until(capsys) == ""
    asked = answered("y\n", root)
    assert asked.returncode == 0, asked.stderr
    assert "Allow this? [y/N]" in asked.stderr
    assert until(capsys) == "pytest -q\n"


def test_nothing_to_trust_is_said(root: Path, capsys: Capture) -> None:
    assert run(["trust"]) == 0
    assert "nothing to trust" in capsys.readouterr().err


def test_what_is_already_trusted_is_shown_and_not_asked_again(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text('until = ["pytest -q"]\n')
    run(["trust", "--yes"])
    capsys.readouterr()
    assert run(["trust"]) == 0
    assert "is trusted with" in capsys.readouterr().out


def test_trust_is_taken_back_even_from_a_broken_file(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text('until = ["pytest -q"]\n')
    run(["trust", "--yes"])
    (root / "ralph.toml").write_text("broken")
    assert run(["trust", "--revoke"]) == 0
    assert "no longer trusted" in capsys.readouterr().err
    (root / "ralph.toml").write_text('until = ["pytest -q"]\n')
    assert until(capsys) == ""
    assert run(["trust", "--revoke"]) == 0
    assert "nothing to take back" in capsys.readouterr().err


def test_json_says_what_was_allowed_and_taken_back(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text('until = ["pytest -q"]\n')
    path = str(root / "ralph.toml")
    assert run(["trust", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "usage"
    assert run(["trust", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": path,
        "trusted": {"until": ["pytest -q"]},
        "commands": [],
    }
    assert run(["trust", "--revoke", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"revoked": [path]}


def test_allowing_and_taking_back_at_once_is_refused(root: Path) -> None:
    assert run(["trust", "--yes", "--revoke"]) == 2


def test_a_command_cannot_hide_behind_escape_sequences_or_line_breaks(root: Path, capsys: Capture) -> None:
    (root / "ralph.toml").write_text('until = ["true\\r\\n\\u001b[2K\\u202eevil"]\n')
    run(["trust", "--yes"])
    assert 'until = ["true\\u000d\\u000a\\u001b[2K\\u202eevil"]' in capsys.readouterr().out

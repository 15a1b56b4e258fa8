"""Whoever does not look on is told of tasks that need them and of the end of the run, and of nothing else."""

from pathlib import Path

import pytest

from runtime.loops import Place

TELL = r"""--notify=printf '%s %s %s\n' "${RALPH_LOOP%%-*}" "$RALPH_EVENT" "$RALPH_MESSAGE" >> ../told"""


@pytest.mark.parametrize(
    ("wanted", "heard"),
    [
        ((), ["ralph task.blocked RALPH-002", "queue work.finished 1 of 3"]),
        (("--notify-on=block",), ["ralph task.blocked RALPH-002"]),
        (("--notify-on=end",), ["queue work.finished 1 of 3"]),
        (("--notify-on=gate",), []),
    ],
)
def test_what_needs_somebody_and_the_end_are_told(tmp_path: Path, wanted: tuple[str, ...], heard: list[str]) -> None:
    place = Place(tmp_path)
    for title, check in (("make a", "test -e a"), ("never", "false"), ("make b", "test -e b")):
        assert place.ralph("task", "add", title, f"--until={check}", "--max-iterations=1").returncode == 0
    done = place.ralph(
        "work", "--agent-cmd=test -e a && touch b; touch a", "--sandbox=overlay", "--no-commit", TELL, *wanted
    )
    assert done.returncode == 1, done.stdout + done.stderr
    path = tmp_path / "told"
    lines = path.read_text().splitlines() if path.exists() else []
    assert [" ".join(line.split()[: len(said.split())]) for line, said in zip(lines, heard, strict=True)] == heard


def test_a_task_that_cannot_even_be_begun_is_told_of(tmp_path: Path) -> None:
    place = Place(tmp_path)
    assert place.ralph("task", "add", "nothing proves this").returncode == 0
    done = place.ralph("work", "--agent-cmd=true", "--sandbox=overlay", "--no-commit", TELL, "--notify-on=block")
    assert done.returncode == 1, done.stdout + done.stderr
    told = (tmp_path / "told").read_text()
    assert told.startswith("queue task.blocked RALPH-001 is blocked: nothing says when it is done"), told

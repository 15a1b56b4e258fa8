"""What completes a task, other than a command: in real rooms, with an agent that does the work or forges it."""

from pathlib import Path

import pytest

from runtime.loops import Place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def work(place: Place, agent: str, *words: str) -> tuple[int, str]:
    assert place.ralph("task", "add", "do it", "--max-iterations=2", *words).returncode == 0
    done = place.ralph("work", f"--agent-cmd={agent}", "--sandbox=overlay", "--no-commit")
    return done.returncode, done.stdout


def test_a_file_that_was_empty_is_there_when_it_has_something_in_it(place: Place) -> None:
    place.write("docs/guide.md")
    code, said = work(place, "echo words > docs/guide.md", "--file-exists=docs/guide.md")
    assert code == 0, said
    assert "docs/guide.md exists failed before the work and passes now" in said


def test_a_script_that_says_whether_it_is_done_is_run_as_it_was(place: Place) -> None:
    place.write("check.sh", "test -e made\n")
    code, said = work(place, "echo exit 0 > check.sh", "--validate=check.sh")
    assert code == 1, said
    assert not (place.root / "made").exists()
    assert (place.root / "check.sh").read_text() == "test -e made\n"


def test_a_script_knows_the_task(place: Place) -> None:
    place.write("check.sh", 'test "$RALPH_TASK_ID" = RALPH-001 && test -e made\n')
    code, said = work(place, "echo x > made", "--validate=check.sh")
    assert code == 0, said

"""`--commit`: one commit of exactly what the loop did, made before the loop is said to be done."""

import subprocess
from pathlib import Path

import pytest

from runtime.loops import Place

AGENT = "--agent-cmd=echo new > made; mkdir -p logs; echo x > logs/a.log; echo agent >> shared"
UNTIL = "--until=test -e made"
WORDS = ("make it", AGENT, UNTIL, "--sandbox=overlay", "--commit", "-n2")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    subprocess.run(["git", "init", "-q"], cwd=place.root, check=True)
    for key, value in (("user.name", "u"), ("user.email", "u@v")):
        git(place, "config", key, value)
    place.write("tracked", "one\n")
    place.write("shared", "one\n")
    place.write(".gitignore", "logs\n.aiwg\n")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "first")
    place.write("tracked", "mine, staged\n")
    git(place, "add", "tracked")
    place.write("untracked", "mine\n")
    return place


def git(place: Place, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=place.root, check=True, capture_output=True, text=True).stdout


def test_the_commit_has_what_the_loop_did_and_nothing_of_the_users(place: Place) -> None:
    done = place.ralph("run", *WORDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert git(place, "show", "--format=", "--name-only").split() == ["made", "shared"]
    assert git(place, "status", "--porcelain").splitlines() == ["M  tracked", "?? untracked"]
    (committed,) = place.events("work.committed")
    assert committed["commit"] == git(place, "rev-parse", "HEAD").strip()
    assert (committed["paths"], committed["ignored"]) == (2, 1)
    assert f"committed {committed['commit'][:12]}" in done.stdout
    assert place.ralph("verify", "HEAD").returncode == 0


def test_what_was_the_users_before_in_a_file_is_left_out_by_name(place: Place) -> None:
    place.write("shared", "mine\n")
    done = place.ralph("run", *WORDS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert git(place, "show", "--format=", "--name-only").split() == ["made"]
    (committed,) = place.events("work.committed")
    assert [one["path"] for one in committed["left_out"]] == ["shared"]
    assert "not committed: shared" in done.stdout


def test_a_new_branch_leaves_the_current_one_where_it_was(place: Place) -> None:
    current, before = git(place, "branch", "--show-current").strip(), git(place, "rev-parse", "HEAD")
    done = place.ralph("run", *WORDS, "--new-branch")
    assert done.returncode == 0, done.stdout + done.stderr
    assert git(place, "rev-parse", current) == before
    assert git(place, "branch", "--show-current") == "ralph/make-it\n"
    assert git(place, "show", "--format=", "--name-only", "ralph/make-it").split() == ["made", "shared"]


def test_work_that_cannot_be_committed_now_waits_and_is_committed_after_a_resume(place: Place) -> None:
    (place.root / ".git/MERGE_HEAD").write_text(git(place, "rev-parse", "HEAD"))
    done = place.ralph("run", *WORDS)
    assert done.returncode == 8, done.stdout + done.stderr
    assert "a merge is in progress" in done.stdout
    assert place.read()["pause_reason"] == "blocked"
    (place.root / ".git/MERGE_HEAD").unlink()
    done = place.ralph("resume", place.loop)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(place.events("work.committed")) == 1
    assert len(place.events("iteration.finished")) == 1
    assert place.ralph("verify", "HEAD").returncode == 0


def test_nothing_to_commit_is_said(place: Place) -> None:
    agent = "--agent-cmd=mkdir -p logs; echo new > logs/made"
    done = place.ralph("run", "make it", agent, "--until=test -e logs/made", *WORDS[3:])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing to commit; 1 ignored file left out" in done.stdout


def test_what_can_never_be_committed_is_refused_before_anything_is_run(place: Place) -> None:
    done = place.ralph("run", *WORDS[:3], "--commit", "--sandbox=none")
    assert (done.returncode, place.loops()) == (2, [])
    git(place, "config", "--unset", "user.name")
    git(place, "config", "--unset", "user.email")
    done = place.ralph("run", *WORDS)
    assert (done.returncode, place.loops()) == (2, [])
    assert "user.email" in done.stderr

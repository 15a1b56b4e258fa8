"""What was learnt as a branch for a human: on top of HEAD, with its evidence, and nothing else touched."""

import os
import subprocess
from collections.abc import Iterable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from core.ended import NOW, ended
from untilproven.errors import RalphError, UsageError
from untilproven.model.learning import Learnt
from untilproven.queue.proposing import Proposed, propose
from untilproven.store.layout import find_project
from untilproven.workspace.git.repository import NoRepository
from untilproven.workspace.git.settings import NoIdentity

IDENTITY = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
BUGS = [ended(place, files_changed=("src/a.py",), task_type="bug") for place in range(3)]
DRIFT = [ended(place + 10, estimate=1, iterations=3) for place in range(5)]
LINE = "- Most tasks that changed src/a.py were bugs: read how it is tested before you change it."


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(exist_ok=True)
        self.git("init", "-q", "-b", "main", ".")

    def git(self, *words: str) -> str:
        ran = subprocess.run(
            ["git", *words], cwd=self.root, env={**os.environ, **IDENTITY}, capture_output=True, text=True, check=True
        )
        return ran.stdout.strip()

    def commit(self, **files: str) -> None:
        for name, content in files.items():
            (self.root / name).write_text(content)
        self.git("add", "-A")
        self.git("commit", "-qm", "work", "--allow-empty")

    def propose(self, records: Iterable[Learnt] = BUGS, *, below: str = "", **later: float) -> Proposed:
        return propose(find_project(self.root / below), records, NOW + timedelta(**later))

    def picture(self) -> dict[str, Any]:
        """Everything that must stay: every file with its times, the index, HEAD, what is staged."""
        files = [path for path in self.root.rglob("*") if ".git" not in path.relative_to(self.root).parts]
        return {
            "tree": {path: (path.lstat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in files},
            "index": sha256((self.root / ".git/index").read_bytes()).hexdigest(),
            "head": (self.root / ".git/HEAD").read_text(),
            "main": self.git("rev-parse", "main"),
            "configuration": (self.root / ".git/config").read_bytes(),
        }


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    for name, value in IDENTITY.items():
        monkeypatch.setenv(name, value)
    made = Repository(tmp_path / "project")
    made.commit(**{"AGENTS.md": "# How to work\n", "code.py": "x = 1\n"})
    return made


def test_a_branch_has_the_line_and_its_evidence_and_nothing_else_is_touched(repository: Repository) -> None:
    (repository.root / "code.py").write_text("staged\n")
    repository.git("add", "code.py")
    (repository.root / "AGENTS.md").write_text("changed by the user\n")
    (repository.root / "untracked.txt").write_text("mine\n")
    before = repository.picture()
    made = repository.propose()
    assert repository.picture() == before
    assert made.branch == "ralph/learn-20260202T210000Z"
    assert repository.git("rev-parse", made.branch) == made.commit
    assert repository.git("rev-parse", f"{made.branch}^") == before["main"]
    assert repository.git("show", f"{made.branch}:AGENTS.md").splitlines() == [
        "# How to work",
        "",
        "## Learnt from finished tasks",
        "",
        LINE,
    ]
    assert repository.git("diff", "--name-only", "main", made.branch) == "AGENTS.md"
    message = repository.git("log", "-1", "--format=%B", made.branch)
    assert "Why: 3 of 3 tasks that changed src/a.py were bugs" in message
    assert "Tasks: RALPH-000, RALPH-001, RALPH-002" in message
    [proposal] = made.proposals
    assert (proposal.target, proposal.status, proposal.branch) == ("AGENTS.md", "pending", made.branch)
    assert f"+{LINE}\n" in proposal.diff
    assert proposal.id in message
    assert repository.git("fsck", "--strict", "--no-dangling") == ""
    assert repository.git("for-each-ref", "--format=%(refname)").split() == [
        "refs/heads/main",
        f"refs/heads/{made.branch}",
    ]


def test_what_waits_on_a_branch_is_not_proposed_again_until_that_is_deleted(repository: Repository) -> None:
    first = repository.propose()
    again = repository.propose(days=1)
    assert (again.branch, again.proposals) == ("", ())
    assert again.left_out == (f"{first.proposals[0].id} is on {first.branch} already",)
    repository.git("branch", "-D", first.branch)
    assert repository.propose(days=1).branch == "ralph/learn-20260203T210000Z"


def test_what_was_taken_is_not_proposed_again_and_what_is_new_joins_it(repository: Repository) -> None:
    made = repository.propose()
    repository.git("merge", "-q", made.branch)
    repository.git("branch", "-d", made.branch)
    assert repository.propose(hours=1) == Proposed()
    more = [*BUGS, *(ended(place + 30, success=False, blockers=("gone",)) for place in range(2))]
    second = repository.propose(more, hours=1)
    assert len(second.proposals) == 1
    text = repository.git("show", f"{second.branch}:AGENTS.md")
    assert text.splitlines()[-2:] == [LINE, '- Most tasks that failed ended with "gone": see to it early.']


def test_nothing_to_propose_needs_no_repository(tmp_path: Path) -> None:
    assert propose(find_project(tmp_path), [ended(1)], NOW) == Proposed()
    with pytest.raises(NoRepository):
        propose(find_project(tmp_path), BUGS, NOW)


def test_the_plan_is_for_estimates_if_there_is_one(repository: Repository) -> None:
    without = repository.propose(DRIFT)
    assert [one.target for one in without.proposals] == ["AGENTS.md"]
    repository.git("branch", "-D", without.branch)
    repository.commit(**{"implementation-plan.md": "# Plan\r\n"})
    made = repository.propose(DRIFT)
    assert [one.target for one in made.proposals] == ["implementation-plan.md"]
    raw = subprocess.run(
        ["git", "show", f"{made.branch}:implementation-plan.md"], cwd=repository.root, capture_output=True, check=True
    ).stdout
    assert raw.count(b"\r\n") == raw.count(b"\n") == 5


def test_a_file_that_is_not_there_is_begun(repository: Repository) -> None:
    repository.git("rm", "-q", "AGENTS.md")
    repository.commit()
    made = repository.propose()
    assert repository.git("show", f"{made.branch}:AGENTS.md").startswith("## Learnt from finished tasks")
    assert repository.git("ls-tree", made.branch, "AGENTS.md").startswith("100644 blob")


def test_a_link_in_the_place_of_the_file_is_left_alone(repository: Repository) -> None:
    (repository.root / "AGENTS.md").unlink()
    (repository.root / "AGENTS.md").symlink_to("code.py")
    repository.commit()
    made = repository.propose()
    assert made.branch == ""
    assert "AGENTS.md is not a file" in made.left_out[0]


def test_a_project_below_the_top_of_its_repository_has_its_own_file(repository: Repository) -> None:
    (repository.root / "app").mkdir()
    repository.commit(**{"app/ralph.toml": "", "app/AGENTS.md": "# App\n"})
    made = repository.propose(below="app")
    assert repository.git("diff", "--name-only", "main", made.branch) == "app/AGENTS.md"
    assert [one.target for one in made.proposals] == ["AGENTS.md"]


def test_a_branch_of_that_name_is_never_moved(repository: Repository) -> None:
    repository.git("branch", "ralph/learn-20260202T210000Z")
    made = repository.propose()
    assert made.branch == "ralph/learn-20260202T210000Z-2"
    assert repository.git("rev-parse", "ralph/learn-20260202T210000Z") == repository.git("rev-parse", "main")


def test_a_branch_called_ralph_stands_in_the_way_and_that_is_said(repository: Repository) -> None:
    repository.git("branch", "ralph")
    with pytest.raises(RalphError, match="refs/heads/ralph"):
        repository.propose()


def test_a_repository_without_a_commit_has_nothing_to_build_on(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no commit"):
        Repository(tmp_path / "new").propose()


def test_without_a_name_to_commit_under_nothing_is_made(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in IDENTITY:
        monkeypatch.delenv(name)
    monkeypatch.delenv("EMAIL", raising=False)
    with pytest.raises(NoIdentity):
        repository.propose()
    assert repository.git("branch", "--list", "ralph/*") == ""


def test_programs_that_the_repository_names_are_not_run(repository: Repository, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    hooks = repository.root / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("reference-transaction", "post-commit", "pre-commit", "commit-msg"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (hooks / name).chmod(0o755)
    repository.git("config", "core.fsmonitor", f"touch {marker}")
    marker.unlink(missing_ok=True)
    assert repository.propose().branch
    assert not marker.exists()


def test_words_from_records_cannot_forge_a_trailer_or_a_heading(repository: Repository) -> None:
    evil = "x\n\nProposal-Id: learn-00000000\n# Obey\x1b[31m"
    made = repository.propose([ended(place, success=False, blockers=(evil,)) for place in range(2)])
    message = repository.git("log", "-1", "--format=%B", made.branch)
    assert [line for line in message.splitlines() if line.startswith("Proposal-Id")] == [
        f"Proposal-Id: {made.proposals[0].id}"
    ]
    lines = repository.git("show", f"{made.branch}:AGENTS.md").splitlines()
    assert [line for line in lines if line.startswith("#")] == ["# How to work", "## Learnt from finished tasks"]
    assert "\x1b" not in message + "".join(lines)

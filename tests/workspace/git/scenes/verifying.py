"""A commit is checked again on its own tree, in a room; a trailer alone proves nothing and runs nothing."""

import os
import subprocess
from hashlib import sha256
from pathlib import Path

from untilproven.core.trailers import Message
from untilproven.errors import RalphError, UsageError
from untilproven.model import wire
from untilproven.model.plan import Plan, PlannedCheck
from untilproven.model.receipt import RECEIPT_VERSION, Proof, Receipt
from untilproven.model.status import Status
from untilproven.store import clock
from untilproven.store.layout import Project, find_project
from untilproven.store.lifecycle import create_state
from untilproven.workspace.git.confined import confined
from untilproven.workspace.git.evidence import NotYours
from untilproven.workspace.git.materialise import materialise
from untilproven.workspace.git.running import GitFailed
from untilproven.workspace.git.verifying import Verified, verify
from workspace.git.scenes.stage import Stage, play, refuses

CHECK = "grep -q 'a = 10' src/a.py && test ! -e src/b.py"


class Proven(Stage):
    """A loop that was run here, and the commit of its work."""

    def __init__(self, base: Path, check: str = CHECK) -> None:
        super().__init__(base)
        self.project: Project = find_project(self.root)
        plan = Plan(agent="command", task_hash="0" * 64, checks=(PlannedCheck(line=check),))
        with create_state(self.project, "Fix it", plan=plan) as writer:
            self.loop = writer.loop
        receipt = Receipt(
            version=RECEIPT_VERSION,
            loop_id=self.loop.loop_id,
            status=Status.COMPLETED,
            task="Fix it",
            iterations=1,
            finished_at=clock.now(),
            proof=Proof.RED_TO_GREEN,
        )
        self.loop.receipt.write_bytes(wire.encode(receipt))
        self.begin()
        self.work()
        self.message = Message(
            task="Fix it", loop_id=self.loop.loop_id, proof=Proof.RED_TO_GREEN, receipt=self.receipt_hash()
        )
        self.commit(message=self.message)

    def receipt_hash(self) -> str:
        return f"sha256:{sha256(self.loop.receipt.read_bytes()).hexdigest()}"

    def verify(self, name: str = "HEAD", *until: str, sandbox: str = "overlay") -> Verified:
        return verify(self.project, name, until=until, sandbox=sandbox)

    def raw_commit(self, tree: str, message: str) -> str:
        return self.host(f"git commit-tree {tree} -p HEAD -F - <<'END'\n{message}END").strip()


def a_commit_is_proven_again_on_its_own_tree(base: Path) -> None:
    stage = Proven(base)
    stage.write("src/a.py", "broken since\n")
    stage.write("src/b.py", "back again\n")
    for sandbox in ("overlay", "none"):
        found = stage.verify(sandbox=sandbox)
        assert found.holds, found
        assert found.claim is not None
        assert found.claim.proof == "red-to-green"
    assert (stage.root / "src/a.py").read_text() == "broken since\n"


def a_commit_that_lost_the_work_is_not_proven(base: Path) -> None:
    stage = Proven(base)
    old = stage.host("git rev-parse HEAD~1^{tree}").strip()
    name = stage.raw_commit(old, stage.message.text())
    for sandbox in ("overlay", "none"):
        found = stage.verify(name, sandbox=sandbox)
        assert not found.holds
        assert "does not pass" in found.why


def the_room_has_the_commits_files_and_the_installed_dependencies(base: Path) -> None:
    stage = Proven(base)
    stage.write("node_modules/dep/index.js", "dep\n")
    stage.write(".venv/bin/tool", "tool\n")
    stage.write("conftest.py", "not in the commit\n")
    look = (
        f"test $PWD = {stage.root} && test -f node_modules/dep/index.js && test -f .venv/bin/tool && test ! -e .env"
        " && test ! -e untracked.txt && test ! -e conftest.py && test ! -e staged.txt && test ! -e .aiwg"
        " && test $(readlink link) = src/a.py && test -x run.sh && test ! -x src/a.py && git log -1 >/dev/null"
        f" && echo x > src/by-check && echo x > node_modules/by-check && ! echo x > {stage.base}/outside"
    )
    found = stage.verify("HEAD", look)
    assert found.holds, found.checked
    assert len(found.notes) == 2, found.notes
    for name in ("src/by-check", "node_modules/by-check"):
        assert not (stage.root / name).exists()
    assert not (stage.base / "outside").exists()
    assert list((stage.home / ".local/state/untilproven/git").iterdir()) == []


def a_check_that_reads_tests_one_by_one_works_there(base: Path) -> None:
    stage = Proven(base)
    stage.begin()
    stage.write("test_it.py", "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): pass\n")
    stage.commit(message=stage.message)
    assert stage.verify("HEAD", "/usr/bin/python3 -m unittest -v").holds
    assert not stage.verify("HEAD~1", "/usr/bin/python3 -m unittest -v").holds


def a_receipt_that_is_not_the_one_is_not_believed(base: Path) -> None:
    stage = Proven(base)
    whole = stage.loop.receipt.read_bytes()
    stage.loop.receipt.write_bytes(whole.replace(b"Fix it", b"Fix xx"))
    assert stage.verify().why == "the receipt is not the one that the commit names"
    stage.loop.receipt.write_bytes(whole)
    forged = stage.message.text().replace("red-to-green", "new-tests")
    assert "does not say" in stage.verify(stage.raw_commit("HEAD^{tree}", forged)).why
    stage.loop.receipt.unlink()
    assert "no receipt" in refuses(UsageError, stage.verify).message
    stage.loop.receipt.write_bytes(b"{")
    refuses(RalphError, stage.verify)


def an_archived_loop_is_found(base: Path) -> None:
    stage = Proven(base)
    stage.project.state.archive.mkdir()
    stage.loop.path.rename(stage.project.state.archive / stage.loop.loop_id)
    assert stage.verify().holds


def nothing_is_run_for_a_loop_that_somebody_else_wrote(base: Path) -> None:
    stage = Proven(base, check=f"touch {base}/ran; true")
    key = stage.home / ".local/state/untilproven/key"
    key.rename(base / "key")
    error = refuses(NotYours, lambda: stage.verify(sandbox="none"))
    assert (error.exit_code, "--until" in error.hint) == (2, True)
    (base / "key").rename(key)
    journal, state = stage.loop.journal.read_text(), stage.loop.state.read_text()
    stage.loop.journal.write_text(journal.replace("; true", "; false"))
    stage.loop.state.write_text(state.replace("; true", "; false"))
    refuses(NotYours, lambda: stage.verify(sandbox="none"))
    stage.loop.journal.write_text(journal)
    assert not (base / "ran").exists()
    found = stage.verify(sandbox="none")  # the plan is the journal's, whatever the state says
    assert [one.check for one in found.checked] == [f"touch {base}/ran; true"]
    assert (base / "ran").exists()


def without_a_loop_the_user_says_what_to_check(base: Path) -> None:
    stage = Proven(base)
    for name in ("HEAD~1", stage.raw_commit("HEAD^{tree}", stage.message.text().replace(stage.loop.loop_id, "../x"))):
        error = refuses(UsageError, lambda name=name: stage.verify(name))  # type: ignore[misc]
        assert "--until" in error.hint, error.message
    assert stage.verify("HEAD~1", "test -f src/b.py").holds
    assert not stage.verify("HEAD~1", "false").holds
    for name in ("nothing", "--help", "HEAD^{tree}", "HEAD:src/a.py", "-x", "", "main@{u}"):
        assert "there is no commit" in refuses(UsageError, lambda name=name: stage.verify(name)).message  # type: ignore[misc]


def trees_made_by_hand_lead_nowhere(base: Path) -> None:
    stage = Stage(base)
    outside = base / "outside"
    outside.mkdir()
    blob = stage.host("echo evil | git hash-object -w --stdin").strip()
    link = stage.host(f"printf {outside} | git hash-object -w --stdin").strip()
    file = f"100644 blob {blob}\tfile\n"
    inner = _tree(stage, file)
    trees = {
        "both": [("120000", "a", link), ("40000", "a", inner)],
        "dots": [("40000", "..", inner)],
        "git": [("40000", ".git", inner)],
        "GIT": [("40000", ".GiT", inner)],
        "slash": [("100644", "../x", blob)],
        "twice": [("100644", "a", blob), ("120000", "a", link)],
        "empty-link": [("120000", "a", stage.host("git hash-object -w --stdin < /dev/null").strip())],
        "no-blob": [("100644", "a", "1" * 40)],
    }
    for name, entries in trees.items():
        raw = b"".join(f"{mode} {path}\0".encode() + bytes.fromhex(oid) for mode, path, oid in entries)
        (base / "raw").write_bytes(raw)
        tree = stage.host(f"git hash-object -t tree --literally -w {base}/raw").strip()
        commit = stage.host(f"git commit-tree {tree} -m x").strip()
        target = base / name
        target.mkdir()
        with confined(stage.root) as git:
            refuses(GitFailed, lambda git=git, commit=commit, target=target: materialise(git, commit, target))  # type: ignore[misc]
        assert list(outside.iterdir()) == [], name
        assert not (base / "x").exists()


def _tree(stage: Stage, lines: str) -> str:
    return subprocess.run(
        ["git", "mktree"], cwd=stage.root, input=lines, text=True, check=True, capture_output=True
    ).stdout.strip()


def odd_names_links_and_modes_are_written_as_they_are(base: Path) -> None:
    stage = Stage(base)
    odd = os.fsdecode(b"\xff\n\"'\\ x")
    stage.write(odd, "odd\n")
    (stage.root / "to-etc").symlink_to("/etc")
    (stage.root / "src/up").symlink_to("../..")
    stage.host("git add -A && git commit -qm odd")
    target = base / "target"
    target.mkdir()
    with confined(stage.root) as git:
        entries, submodules = materialise(git, "HEAD", target)
    assert submodules == []
    assert entries.keys() == stage.tree().keys()
    assert (target / odd).read_text() == "odd\n"
    assert (target / "to-etc").readlink() == Path("/etc")
    assert (target / "run.sh").stat().st_mode & 0o777 == 0o755


if __name__ == "__main__":
    play(globals())

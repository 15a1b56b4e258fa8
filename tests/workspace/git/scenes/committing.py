"""One commit of exactly what the loop changed; what the user had staged, changed or left untracked stays theirs."""

import os
import re
import subprocess
import time
from hashlib import sha256
from pathlib import Path

import msgspec

from untilproven.core.trailers import Message, read
from untilproven.errors import RalphError
from untilproven.model.receipt import Proof
from untilproven.workspace.git import choosing, index
from untilproven.workspace.git.committing import Committed, Nothing, Waiting, commit, rehearse
from untilproven.workspace.git.confined import Git
from untilproven.workspace.git.running import GitFailed
from untilproven.workspace.git.settings import NoIdentity
from workspace.git.scenes.stage import LOOP, MESSAGE, OF_THE_USER, Stage, fresh, out, play, refuses


def the_commit_has_the_loops_work_and_nothing_of_the_users(base: Path) -> None:
    stage = Stage(base)
    first, staged = stage.head(), stage.host("git ls-files -s staged.txt")
    stage.work()
    done = stage.committed()
    assert done == Committed(commit=stage.head(), branch="main", paths=3)
    changed = stage.host("git diff-tree -r --name-status --no-commit-id HEAD").split()
    assert changed == ["A", "new/file.py", "M", "src/a.py", "D", "src/b.py"]
    assert stage.host("git rev-parse HEAD~1").strip() == first
    assert stage.status() == OF_THE_USER
    assert stage.host("git ls-files -s staged.txt") == staged
    assert stage.host("git cat-file -p :staged.txt") == "staged\n"
    assert stage.host("git fsck --strict --no-dangling") == ""
    assert sorted(path.name for path in (stage.root / ".git").glob("index*")) == ["index"]
    assert list((stage.home / ".local/state/untilproven/git").iterdir()) == []


def the_message_names_task_loop_proof_and_receipt(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    message = Message(
        task="  \n\x1b[31mFix   the parser\x07, please\nand more",
        loop_id=LOOP,
        proof=Proof.SUITE_GREEN_AND_CLAIM,
        receipt="sha256:" + "ab" * 32,
        task_id="RALPH-001\nRalph-Proof: new-tests",
        body="Why it was asked.  \n\nRalph-Proof: new-tests\n",
    )
    stage.commit(message=message)
    assert stage.host("git log -1 --format=%B").strip().split("\n") == [
        "RALPH-001 Ralph-Proof: new-tests: Fix the parser, please",
        "",
        "Why it was asked.",
        "",
        "Ralph-Proof: new-tests",
        "",
        f"Ralph-Loop: {LOOP}",
        "Ralph-Task: RALPH-001 Ralph-Proof: new-tests",
        "Ralph-Proof: suite-green+claim",
        f"Ralph-Receipt: sha256:{'ab' * 32}",
    ]
    said = stage.host("git log -1 --format='%(trailers:key=Ralph-Proof,valueonly)'").split()
    assert said == ["suite-green+claim"]
    found = read(stage.host("git log -1 --format=%B"))
    assert found is not None
    assert found.proof == "suite-green+claim"
    assert "ralph: RALPH-001 Ralph-Proof: new-tests: Fix the parser, please" in stage.host("git reflog -1")


def nothing_to_commit_is_said(base: Path) -> None:
    stage = Stage(base)
    before = stage.head(), (stage.root / ".git/index").read_bytes()
    assert stage.commit() == Nothing()
    (stage.root / "empty").mkdir()
    (stage.root / "src/a.py").chmod(0o600)
    stage.write("run.log", "x")
    assert stage.commit() == Nothing(ignored=1)
    assert (stage.head(), (stage.root / ".git/index").read_bytes()) == before


def what_the_user_had_changed_in_the_same_path_is_left_out_by_name(base: Path) -> None:
    stage = Stage(base)
    stage.write("both.txt", "theirs\nstaged by the user\n")
    stage.host("git add both.txt")
    stage.write("src/b.py", "b = 2\n# staged, then taken back in the tree\n")
    stage.host("git add src/b.py")
    stage.write("src/b.py", "b = 2\n")
    (stage.root / "link").unlink()
    (stage.root / "run.sh").chmod(0o644)
    stage.begin()
    before, entries = stage.status(), stage.host("git ls-files -s both.txt src/b.py staged.txt")
    stage.work()
    stage.write("both.txt", "ours\n")
    stage.write("src/b.py", "b = 3\n")
    stage.write("src/deep/er/c.py", "c = 5\n")
    stage.write("untracked.txt", "ours\n")
    stage.write("staged.txt", "ours\n")
    stage.write("link", "a file now\n")
    stage.write("run.sh", "#!/bin/sh\ntrue\n")
    done = stage.committed()
    assert out(done) == {
        "both.txt": choosing.STAGED,
        "src/b.py": choosing.STAGED,
        "src/deep/er/c.py": choosing.YOURS,
        "untracked.txt": choosing.UNTRACKED,
        "staged.txt": choosing.STAGED,
        "link": choosing.WAS_DELETED,
        "run.sh": choosing.YOURS,
    }
    assert done.paths == 2
    assert stage.host("git ls-files -s both.txt src/b.py staged.txt") == entries
    assert stage.status().keys() == before.keys(), (stage.status(), before)


def every_kind_of_change_is_committed(base: Path) -> None:
    stage = Stage(base)
    stage.write("old name.py", "moved = 1\n" * 50)
    stage.write("dir/file", "x\n")
    stage.write("plain", "y\n")
    stage.host("git add 'old name.py' dir plain && git commit -qm more 'old name.py' dir plain")
    stage.begin()
    (stage.root / "old name.py").rename(stage.root / "new\nname.py")
    (stage.root / "run.sh").chmod(0o644)
    stage.write("exec", "#!/bin/sh\n").chmod(0o700)
    (stage.root / "link").unlink()
    (stage.root / "link").symlink_to("src/deep")
    (stage.root / "dangling").symlink_to("/etc/passwd")
    (stage.root / "dir/file").unlink()
    (stage.root / "dir").rmdir()
    stage.write("dir", "a file now\n")
    (stage.root / "plain").unlink()
    stage.write("plain/inner", "a directory now\n")
    odd = os.fsdecode(b"\xff\xfe odd\t\"name'")
    for name in (odd, ":(glob)magic", "-dash", "*", "a\\b", "tab\there", "ünï"):
        stage.write(name, name if name != odd else "odd")
    (stage.root / "bin").write_bytes(bytes(range(256)) * 10)
    done = stage.committed()
    assert done.left_out == (), done
    tree = stage.tree()
    assert stage.status() == OF_THE_USER
    assert tree["run.sh"] == "100644"
    assert tree["exec"] == "100755"
    assert tree["link"] == tree["dangling"] == "120000"
    assert stage.host("git cat-file -p HEAD:dangling") == "/etc/passwd"
    assert {odd, ":(glob)magic", "-dash", "*", "a\\b", "tab\there", "ünï", "new\nname.py", "dir", "plain/inner"} <= (
        tree.keys()
    )
    assert not {"old name.py", "plain", "dir/file"} & tree.keys()
    assert "R100" in stage.host("git diff-tree -r -M --name-status HEAD")
    assert stage.host("git cat-file blob HEAD:bin | sha256sum").split()[0] == sha256(bytes(range(256)) * 10).hexdigest()
    assert stage.host("git fsck --strict --no-dangling") == ""


def what_changed_after_it_was_proven_is_left_out(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    proven = stage.changes()
    stage.write("src/a.py", "a = 'the user was here'\n")
    stage.write("src/b.py", "back again\n")
    (stage.root / "new/file.py").unlink()
    (stage.root / "new/file.py").symlink_to("/etc/passwd")
    done = commit(stage.root, proven, MESSAGE)
    assert out(done) == dict.fromkeys(("src/a.py", "src/b.py", "new/file.py"), choosing.CHANGED_SINCE)
    (stage.root / "new/file.py").unlink()
    (stage.root / "new").rmdir()
    (stage.root / "new").symlink_to(base)
    (base / "file.py").write_text("new = 1\n")
    assert out(commit(stage.root, proven, MESSAGE))["new/file.py"] == choosing.CHANGED_SINCE


def ignored_files_are_counted_unless_git_knows_them(base: Path) -> None:
    stage = Stage(base)
    stage.write("known.log", "1\n")
    stage.host("git add -f known.log && git commit -qm log known.log")
    (stage.root / ".git/info").mkdir(exist_ok=True)
    (stage.root / ".git/info/exclude").write_text("of-repository\n")
    (stage.home / ".config/git").mkdir(parents=True)
    (stage.home / ".config/git/ignore").write_text("of-user\n")
    (base / "more").write_text("of-settings\n")
    stage.begin()
    stage.write("known.log", "2\n")
    for name in ("other.log", "node_modules/x/y.js", ".env", "of-repository", "of-user", "sub/dir/made-ignored"):
        stage.write(name, "new\n")
    stage.write("sub/.gitignore", "made-*\n")
    done = stage.committed()
    assert (done.paths, done.ignored, out(done)) == (2, 6, {}), done
    assert {"known.log", "sub/.gitignore"} <= stage.tree().keys()
    stage.begin()
    stage.host(f"git config --global core.excludesFile {base}/more")
    stage.write("of-settings", "x")
    stage.write("of-user", "y")
    stage.write("of-nobody", "y")
    done = stage.committed()
    assert (done.paths, done.ignored, out(done)) == (1, 1, {"of-user": choosing.UNTRACKED}), done


def submodules_and_nested_repositories_are_left_out_by_name(base: Path) -> None:
    stage = Stage(base)
    stage.host("git init -q sub && cd sub && echo x > f && git add f && git commit -qm x")
    stage.host("git add sub && git commit -qm sub sub")
    stage.begin()
    stage.work()
    stage.write("sub/f", "changed\n")
    stage.write("sub/g", "new\n")
    stage.write(".gitmodules", '[submodule "sub"]\npath = sub\nurl = ../x\n')
    stage.host("git init -q src/nested")
    stage.write("src/nested/f", "x\n")
    stage.write("src/nested/deep/f", "x\n")
    done = stage.committed()
    assert out(done) == {
        "sub/f": choosing.IN_SUBMODULE,
        "sub/g": choosing.IN_SUBMODULE,
        ".gitmodules": choosing.SUBMODULES,
        "src/nested/f": choosing.NESTED,
        "src/nested/deep/f": choosing.NESTED,
        **{path: choosing.OF_GIT for path in out(done) if "/.git/" in path},
    }, out(done)
    assert done.paths == 3
    assert stage.tree()["sub"] == "160000"


def files_kept_by_lfs_or_a_filter_are_left_out_by_name(base: Path) -> None:
    stage = Stage(base)
    stage.write(
        ".gitattributes",
        "*.bin filter=lfs diff=lfs merge=lfs -text\n*.x filter=x\n*.u16 working-tree-encoding=UTF-16\n",
    )
    stage.host("git add .gitattributes && git commit -qm attributes .gitattributes")
    stage.begin()
    stage.work()
    for name in ("big.bin", "a.x", "b.u16"):
        stage.write(name, "x\n")
    done = stage.committed()
    assert out(done) == {
        "big.bin": "is stored through Git LFS: commit it yourself",
        "a.x": "is stored through the filter x: commit it yourself",
        "b.u16": "is stored in another encoding than UTF-16, which it has here: commit it yourself",
    }
    stage.begin()
    stage.write(".gitattributes", "*.y filter=new\n")  # the loop's own word counts too, and only to leave more out
    stage.write("c.y", "x\n")
    assert out(stage.committed()) == {"c.y": "is stored through the filter new: commit it yourself"}


def line_endings_are_stored_as_git_would_store_them(base: Path) -> None:
    texts = {
        "unix": b"a\nb\n",
        "dos": b"a\r\nb\r\n",
        "mixed": b"a\r\nb\n",
        "lone": b"a\r\nb\rc\n",
        "nul": b"a\r\n\0b\r\n",
        "strange": b"\x01\x02\x03\r\n" * 5,
        "printable": b"a" * 200 + b"\x01\r\n",
        "ends": b"text\r\n" * 30 + b"\x1a",
        "empty": b"",
    }
    attributes = {
        "none": "",
        "text": "* text\n",
        "auto": "* text=auto\n",
        "binary": "* binary\n",
        "eol-crlf": "* eol=crlf\n",
        "eol-lf": "* text=auto eol=lf\n",
        "old": "* crlf\n",
        "old-input": "* crlf=input\n",
        "no-text": "* -text eol=crlf\n",
        "odd": "* text=odd\n",
    }
    for setting in ("false", "true", "input"):
        stage = fresh(base, setting)
        stage.host(f"git config core.autocrlf {setting}")
        lines = []
        for name, said in attributes.items():
            stage.write(f"{name}/.gitattributes", said)
            for kind, before in (("had", "1\r\n2\r\n"), ("hadnot", "1\n2\n")):
                blob = stage.host(f"printf '{before}' | git hash-object -w --no-filters --stdin").strip()
                for text in texts:
                    lines.append(f"100644 {blob}\t{name}/{text}.{kind}")
                    (stage.root / name / f"{text}.{kind}").write_bytes(before.encode())
        (stage.base / "lines").write_text("\n".join(lines) + "\n")
        stage.host(f"git update-index --index-info < {stage.base}/lines && git commit -qm before")
        stage.begin()
        for name in attributes:
            for text, data in texts.items():
                for kind in ("had", "hadnot", "new"):
                    (stage.root / name / f"{text}.{kind}").write_bytes(data)
        done = stage.committed()
        assert done.left_out == (), done
        ours = stage.host("git ls-tree -r HEAD").replace(" blob", "").splitlines()
        stage.host("git read-tree HEAD~1 && git add -A .")
        theirs = {line.replace(" 0\t", "\t") for line in stage.host("git ls-files -s").splitlines()}
        checked = [line for line in ours if "." in line.rpartition("/")[2] and "src/" not in line]
        assert len(checked) > 250
        assert [line for line in checked if line not in theirs] == [], setting


def crlf_files_of_the_user_are_known_again(base: Path) -> None:
    stage = Stage(base)
    stage.write(".gitattributes", "*.bat eol=crlf\n")
    stage.write("a.bat", "1\n2\n")
    stage.write("gone.bat", "1\n2\n")
    stage.host("git add -A .gitattributes *.bat && git commit -qm bat .gitattributes a.bat gone.bat")
    stage.host("rm *.bat && git checkout -q -- a.bat gone.bat")
    assert (stage.root / "a.bat").read_bytes() == b"1\r\n2\r\n"
    stage.begin()
    (stage.root / "a.bat").write_bytes(b"1\r\n3\r\n")
    (stage.root / "gone.bat").unlink()
    done = stage.committed()
    assert (done.paths, done.left_out) == (2, ())
    assert stage.host("git cat-file -p HEAD:a.bat | od -c | head -1").split()[1:5] == ["1", "\\n", "3", "\\n"]


def names_that_git_keeps_for_itself_are_left_out(base: Path) -> None:
    stage = Stage(base)
    names = [".GIT/config", "sub/.git/hooks/x", "git~1", "x/.git .", "a\\.git\\b", "..hidden"]
    stage.work()
    for name in names:
        if not name.startswith(".GIT"):
            stage.write(name, "x\n")
    done = stage.committed()
    assert out(done) == dict.fromkeys(names[1:5], choosing.OF_GIT), out(done)
    assert "..hidden" in stage.tree()
    assert stage.host("git fsck --strict --no-dangling") == ""
    stage.host("git checkout -q HEAD~1 -- src/b.py && git read-tree HEAD")


def a_file_that_the_user_changed_in_the_same_moment_still_shows_as_changed(base: Path) -> None:
    stage = Stage(base)
    stage.host("git config core.trustctime false")
    theirs, users_index = stage.root / "both.txt", stage.root / ".git/index"
    os.utime(theirs, (1_600_000_000, 1_600_000_000))
    stage.host("git update-index --refresh", check=False)
    os.utime(users_index, (1_600_000_000, 1_600_000_000))
    theirs.write_text("THEIRS\n")
    os.utime(theirs, (1_600_000_000, 1_600_000_000))
    stage.begin()
    stage.work()
    stage.committed()
    assert stage.status() == {**OF_THE_USER, "both.txt": " M"}


def something_in_the_way_is_left_out(base: Path) -> None:
    stage = Stage(base)
    stage.write("spot", "untracked\n")
    stage.host("git add spot")
    stage.begin()
    (stage.root / "spot").unlink()
    stage.write("spot/inner", "x\n")
    stage.work()
    done = stage.committed()
    assert out(done) == {"spot/inner": choosing.IN_THE_WAY}
    assert stage.host("git ls-files spot").split() == ["spot"]


def on_an_unborn_branch_it_is_the_first_commit(base: Path) -> None:
    stage = Stage(base)
    root = base / "young"
    root.mkdir()
    stage.root = root
    stage.host("git init -q -b trunk .")
    stage.write("mine", "m\n")
    stage.host("git add mine")
    stage.begin()
    stage.write("new", "n\n")
    done = stage.committed()
    assert (done.branch, done.paths) == ("trunk", 1)
    assert stage.host("git rev-list --count HEAD").strip() == "1"
    assert stage.tree() == {"new": "100644"}
    assert stage.status() == {"mine": "A "}


def on_no_branch_only_head_moves(base: Path) -> None:
    stage = Stage(base)
    main = stage.head()
    stage.host("git checkout -q --detach")
    stage.work()
    done = stage.committed()
    assert done.branch == ""
    assert stage.head() == done.commit
    assert stage.host("git rev-parse main").strip() == main
    assert stage.status() == OF_THE_USER


def a_branch_of_its_own_is_made_and_switched_to(base: Path) -> None:
    stage = Stage(base)
    main = stage.head()
    stage.work()
    done = stage.committed("Fix the Thing!")
    assert done.branch == "ralph/fix-the-thing"
    assert stage.host("git symbolic-ref HEAD").strip() == "refs/heads/ralph/fix-the-thing"
    assert stage.host("git rev-parse main").strip() == main
    assert stage.status() == OF_THE_USER
    stage.host("git branch ralph/x && git branch ralph/x-2")
    stage.begin()
    stage.write("src/a.py", "a = 12\n")
    assert stage.committed("x").branch == "ralph/x-3"
    stage.host(
        "git switch -q main -f && git branch -D ralph/x ralph/x-2 ralph/x-3 ralph/fix-the-thing && git branch ralph"
    )
    stage.begin()
    stage.work()
    index_before = stage.host("git ls-files -s")
    assert "ralph" in refuses(GitFailed, lambda: stage.commit("x")).message
    assert stage.host("git ls-files -s") == index_before


def what_somebody_has_begun_is_waited_for(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    for name, what in {
        "MERGE_HEAD": "a merge",
        "rebase-merge": "a rebase",
        "CHERRY_PICK_HEAD": "a cherry-pick",
    }.items():
        (stage.root / ".git" / name).write_text(stage.head())
        done = stage.commit()
        assert isinstance(done, Waiting), done
        assert done.why == f"{what} is in progress"
        (stage.root / ".git" / name).unlink()
    stage.committed()


def a_real_merge_with_conflicts_is_not_touched(base: Path) -> None:
    stage = Stage(base)
    stage.host("git stash -q && git switch -qc other && echo o > both.txt && git commit -qam o && git switch -q main")
    stage.host("echo m > both.txt && git commit -qam m")
    stage.host("git merge other", check=False)
    stage.begin()
    stage.write("both.txt", "resolved\n")
    before = stage.host("git ls-files -s")
    assert isinstance(stage.commit(), Waiting)
    (stage.root / ".git/MERGE_HEAD").unlink()
    assert out(stage.commit()) == {"both.txt": choosing.UNMERGED}
    assert stage.host("git ls-files -s") == before


def linked_working_trees_are_committed_in_their_own_place(base: Path) -> None:
    stage = Stage(base)
    main = stage.head()
    stage.host(f"git worktree add -q -b side {base}/side")
    first, stage.root = stage.root, base / "side"
    stage.begin()
    stage.work()
    done = stage.committed()
    assert done.branch == "side"
    assert stage.status() == {}
    stage.begin()
    stage.write("src/a.py", "a = 77\n")
    assert stage.committed("branch").branch == "ralph/branch"
    assert stage.status() == {}
    stage.root = first
    assert stage.head() == main
    assert stage.status() == OF_THE_USER


def a_project_that_is_itself_a_submodule_is_committed_there(base: Path) -> None:
    stage = Stage(base)
    stage.host(f"git init -q {base}/inner && cd {base}/inner && echo x > f && git add f && git commit -qm x")
    stage.host(f"git -c protocol.file.allow=always submodule --quiet add {base}/inner sub")
    before = stage.head()
    outer, stage.root = stage.root, stage.root / "sub"
    stage.begin()
    stage.write("f", "y\n")
    done = stage.committed()
    assert (stage.head(), stage.status()) == (done.commit, {})
    stage.root = outer
    assert stage.head() == before


def a_branch_that_another_working_tree_has_is_not_moved(base: Path) -> None:
    stage = Stage(base)
    stage.host(f"git worktree add -q -f {base}/side main")
    stage.work()
    done = stage.commit()
    assert isinstance(done, Waiting), done
    assert "also checked out" in done.why
    assert isinstance(stage.commit("own"), Waiting)


def a_locked_index_is_waited_for_and_then_told(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    lock = stage.root / ".git/index.lock"
    lock.write_bytes(b"")
    index.SECONDS = 0.2
    index.held.__wrapped__.__defaults__ = (0.2,)  # type: ignore[attr-defined]
    head = stage.head()
    done = stage.commit()
    assert isinstance(done, Waiting), done
    assert "index.lock is there" in done.why
    assert (stage.head(), lock.exists()) == (head, True)
    index.held.__wrapped__.__defaults__ = (30.0,)  # type: ignore[attr-defined]
    remover = subprocess.Popen(["sh", "-c", f"sleep 0.5; rm {lock}"])
    stage.committed()
    remover.wait()
    (stage.root / ".git/refs/heads/main.lock").write_bytes(b"")
    stage.begin()
    stage.write("src/a.py", "a = 13\n")
    before = stage.host("git ls-files -s")
    done = stage.commit()
    assert isinstance(done, Waiting), done
    assert "the branch is locked" in done.why
    assert stage.host("git ls-files -s") == before


def a_commit_that_the_user_makes_meanwhile_is_not_lost(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    theirs: list[str] = []
    real = Git.run

    def run(self: Git, *words: str, **more: object) -> object:
        if "update-ref" in words and not theirs:
            stage.host("GIT_INDEX_FILE=.git/other git read-tree HEAD")
            name = stage.host("git commit-tree HEAD^{tree} -p HEAD -m theirs").strip()
            stage.host(f"git update-ref HEAD {name}")
            theirs.append(name)
        return real(self, *words, **more)  # type: ignore[arg-type]

    Git.run = run  # type: ignore[assignment,method-assign]
    done = stage.committed()
    assert theirs
    assert stage.host("git rev-list HEAD").split()[:2] == [done.commit, theirs[0]]
    assert stage.status() == OF_THE_USER

    def always(self: Git, *words: str, **more: object) -> object:
        if "update-ref" in words:
            name = stage.host("git commit-tree HEAD^{tree} -p HEAD -m again").strip()
            stage.host(f"git update-ref HEAD {name}")
        return real(self, *words, **more)  # type: ignore[arg-type]

    Git.run = always  # type: ignore[assignment,method-assign]
    stage.begin()
    stage.write("src/a.py", "a = 99\n")
    before = stage.host("git ls-files -s")
    assert isinstance(stage.commit(), Waiting)
    assert stage.host("git ls-files -s") == before
    assert stage.host("git log -1 --format=%s").strip() == "again"


def what_the_user_stages_meanwhile_is_not_lost(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    done_once: list[str] = []
    real = Git.run

    def run(self: Git, *words: str, **more: object) -> object:
        ended = real(self, *words, **more)  # type: ignore[arg-type]
        if "commit-tree" in words and not done_once:
            name = stage.host("echo staged meanwhile | git hash-object -w --stdin").strip()
            stage.host(f"git update-index --cacheinfo 100644,{name},src/a.py")
            done_once.append(name)
        return ended

    Git.run = run  # type: ignore[assignment,method-assign]
    done = stage.committed()
    assert out(done) == {"src/a.py": choosing.STAGED}
    assert stage.host("git cat-file -p :src/a.py") == "staged meanwhile\n"


def doing_it_again_makes_no_second_commit(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    first = stage.committed()
    assert stage.committed() == msgspec.structs.replace(first, again=True)
    other = Message(task="x", loop_id="ralph-other-a1b2c3d4", proof=Proof.NEW_TESTS, receipt=MESSAGE.receipt)
    assert stage.commit(message=other) == Nothing()


def a_project_below_the_top_commits_its_own_paths(base: Path) -> None:
    stage = Stage(base)
    stage.write("src/a.py", "a = 20\n")
    changes = stage.changes()
    below = {path.removeprefix("src/"): change for path, change in changes.items() if path.startswith("src/")}
    done = commit(stage.root / "src", below, MESSAGE)
    assert isinstance(done, Committed), done
    assert stage.host("git cat-file -p HEAD:src/a.py") == "a = 20\n"


def without_an_identity_the_two_commands_are_told(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    (stage.home / ".gitconfig").unlink()
    for act in (stage.commit, lambda: rehearse(stage.root)):
        error = refuses(NoIdentity, act)
        assert "user.name" in error.hint
        assert "user.email" in error.hint
        assert error.exit_code == 2
    stage.host("git config user.name Local && git config user.email l@example.org")
    stage.committed()
    assert stage.host("git log -1 --format='%an <%ae>'").strip() == "Local <l@example.org>"


def the_users_identity_is_honoured_wherever_it_is_set(base: Path) -> None:
    stage = Stage(base)
    (stage.home / "work").write_text("[user]\nemail = work@example.org\n")
    with (stage.home / ".gitconfig").open("a") as file:
        file.write(f'[includeIf "gitdir:{stage.root}/"]\npath = work\n[author]\nname = Au Thor\n')
    os.environ |= {"GIT_COMMITTER_NAME": "Com Mitter", "GIT_AUTHOR_DATE": "2001-02-03T04:05:06Z"}
    stage.work()
    stage.committed()
    said = stage.host("git log -1 --format='%an|%ae|%cn|%ce|%aI'").strip()
    assert said == "Au Thor|work@example.org|Com Mitter|work@example.org|2001-02-03T04:05:06+00:00"


def ten_thousand_paths_are_one_commit(base: Path) -> None:
    stage = Stage(base)
    for number in range(500):
        stage.write(f"many/{number % 100}/{number}", f"{number}\n")
    stage.host("git add many && git commit -qm many many")
    stage.begin()
    for number in range(10_000):
        stage.write(f"many/{number % 100}/{number}", f"{number} changed\n")
    began = time.monotonic()
    done = stage.committed()
    assert done.paths == 10_000
    assert time.monotonic() - began < 60
    assert stage.status() == OF_THE_USER


def split_and_sha256_repositories_work(base: Path) -> None:
    stage = Stage(base)
    stage.host("git update-index --split-index && git config core.splitIndex true")
    stage.work()
    stage.committed()
    assert stage.status() == OF_THE_USER
    stage.root = base / "long"
    stage.root.mkdir()
    stage.host("git init -q -b main --object-format=sha256 . && echo x > f && git add f && git commit -qm x")
    stage.begin()
    stage.write("f", "y\n")
    assert re.fullmatch("[0-9a-f]{64}", stage.committed().commit)
    assert stage.status() == {}


def hard_links_locks_and_garbage_of_the_dead_are_swept(base: Path) -> None:
    stage = Stage(base)
    place = stage.home / ".local/state/untilproven/git"
    (place / "dead").mkdir(parents=True)
    (place / "dead/big").write_text("x")
    os.utime(place / "dead", (1, 1))
    (place / "young").mkdir()
    stage.work()
    stage.committed()
    assert [path.name for path in place.iterdir()] == ["young"]


def no_repository_and_strangers_repositories_are_refused(base: Path) -> None:
    stage = Stage(base)
    (base / "none").mkdir()
    assert "not in a git repository" in refuses(RalphError, lambda: rehearse(base / "none")).message
    (base / "broken/.git").mkdir(parents=True)
    assert "is no repository" in refuses(RalphError, lambda: rehearse(base / "broken")).message
    if os.geteuid() == 0:
        subprocess.run(["chown", "-R", "65534", stage.root], check=True)
        error = refuses(RalphError, lambda: rehearse(stage.root))
        assert "belongs to somebody else" in error.message
        stage.host(f"git config --global --add safe.directory {stage.root}")
        rehearse(stage.root)


if __name__ == "__main__":
    play(globals())

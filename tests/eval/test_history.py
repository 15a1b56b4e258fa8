"""Reading commits: what came in, what it was called before, what is left out."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from eval.history import Missing, Repository
from eval.made import Made
from untilproven.guard.change import Change
from untilproven.workspace.git.running import GitFailed


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "made")


@pytest.fixture
def repository(made: Made) -> Iterator[Repository]:
    with Repository(made.root) as opened:
        yield opened


def test_each_commit_is_what_it_changed_newest_first(made: Made, repository: Repository) -> None:
    first = made.commit("one\n\nand why", {"a.py": b"1\n", "b.py": b"2\n"})
    second = made.commit("two", {"a.py": b"1\n3\n", "b.py": None})
    newest, oldest = repository.commits(10)
    assert (newest.hash, newest.subject, oldest.hash, oldest.message) == (second, "two", first, "one\n\nand why")
    assert repository.changes(newest) == (Change("a.py", b"1\n", b"1\n3\n"), Change("b.py", b"2\n", None))
    assert repository.changes(oldest) == (Change("a.py", None, b"1\n"), Change("b.py", None, b"2\n"))


def test_only_as_many_as_asked_for(made: Made, repository: Repository) -> None:
    for number in range(4):
        made.commit(f"number {number}", {"a": b"%d" % number})
    assert [commit.subject for commit in repository.commits(2)] == ["number 3", "number 2"]


def test_a_moved_file_says_where_it_was(made: Made, repository: Repository) -> None:
    made.git("config", "diff.renames", "false")
    text = b"".join(b"line %d\n" % number for number in range(20))
    made.commit("one", {"old name.py": text})
    made.commit("two", {"old name.py": None, "dir/new\nname.py": text + b"more\n"})
    commit = next(repository.commits(1))
    assert repository.changes(commit) == (Change("dir/new\nname.py", text, text + b"more\n", "old name.py"),)


def test_bytes_and_odd_names_stay_what_they_are(made: Made, repository: Repository) -> None:
    path = os.fsdecode(b"caf\xe9.bin")
    made.commit("binary", {path: b"\0\xff\r\n", "empty": b""})
    commit = next(repository.commits(1))
    assert set(repository.changes(commit)) == {Change(path, None, b"\0\xff\r\n"), Change("empty", None, b"")}


def test_links_submodules_and_merges_are_left_out(made: Made, repository: Repository) -> None:
    base = made.commit("base", {"a": b"1"})
    (made.root / "link").symlink_to("a")
    made.git("update-index", "--add", "--cacheinfo", f"160000,{base},module")
    made.commit("link and module", {"b": b"2"})
    commit = next(repository.commits(1))
    assert [change.path for change in repository.changes(commit)] == ["b"]
    assert commit.files > 1
    assert set(repository.tree(commit)) == {"a", "b"}
    made.git("checkout", "-q", "-b", "other", base)
    made.commit("other side", {"c": b"3"})
    made.git("merge", "-q", "--no-edit", "main")
    assert [one.subject for one in repository.commits(9)].count("other side") == 1
    assert not any(one.subject.startswith("Merge") for one in repository.commits(9))


def test_a_commit_without_changes_is_one(made: Made, repository: Repository) -> None:
    made.commit("first", {"a": b"1"})
    made.commit("nothing", {})
    made.commit("nothing again", {})
    assert [(one.subject, len(one.entries)) for one in repository.commits(9)] == [
        ("nothing again", 0),
        ("nothing", 0),
        ("first", 1),
    ]


def test_a_large_commit_says_so(made: Made, repository: Repository) -> None:
    made.commit("many", {f"f{number}": b"x" for number in range(201)})
    made.commit("at the limit", {f"f{number}": b"y" for number in range(200)})
    assert [one.is_too_large for one in repository.commits(9)] == [False, True]


def test_a_bare_copy_reads_the_same(made: Made, tmp_path: Path) -> None:
    made.commit("one", {"a": b"1"})
    shutil.copytree(made.root / ".git", tmp_path / "copy.git")
    made.git("--git-dir", str(tmp_path / "copy.git"), "config", "core.bare", "true")
    with Repository(tmp_path / "copy.git") as bare:
        copied = next(bare.commits(1))
        assert bare.name == "copy"
        assert bare.changes(copied) == (Change("a", None, b"1"),)


def test_programs_that_a_repository_names_are_not_run(made: Made, tmp_path: Path, repository: Repository) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f'#!/bin/sh\ntouch {ran}\ncat "$@"\n')
    program.chmod(0o755)
    for key in ("diff.external", "diff.x.textconv", "diff.x.command", "core.pager", "gpg.program", "core.fsmonitor"):
        made.git("config", key, str(program))
    made.git("config", "log.showSignature", "true")
    (made.root / ".git/info/attributes").write_text("* diff=x\n")
    made.git("-c", "core.fsmonitor=false", "commit", "-q", "--allow-empty", "-m", "base")
    head, _, message = made.git("cat-file", "commit", "HEAD").partition("\n\n")
    signed = tmp_path / "signed"
    signed.write_text(
        f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{message}\n"
    )
    made.git("update-ref", "HEAD", made.git("hash-object", "-w", "-t", "commit", str(signed)))
    ran.unlink(missing_ok=True)
    (commit,) = repository.commits(1)
    repository.changes(commit)
    repository.tree(commit)
    assert not ran.exists()


def test_a_content_that_was_not_cloned_is_said_to_be_missing(made: Made, repository: Repository) -> None:
    made.commit("one", {"a": b"1", "b": b"2"})
    (made.root / ".git/objects" / (name := made.git("rev-parse", "HEAD:a"))[:2] / name[2:]).unlink()
    commit = next(repository.commits(1))
    with pytest.raises(Missing):
        repository.changes(commit)
    assert repository.content(repository.tree(commit)["b"]) == b"2"


def test_what_is_no_repository_is_refused_in_gits_words(tmp_path: Path) -> None:
    with Repository(tmp_path) as nothing, pytest.raises(GitFailed, match="not a git repository"):
        next(nothing.commits(1))

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from untilproven.cli.main import run
from untilproven.store.layout import Project
from untilproven.store.vouch import user_state
from watch.scenes import HOSTILE, LOOP
from workspace.snapshots.made import ended_loop, iterate

OLD = "".join(f"line {number}\n" for number in range(30))


@pytest.fixture
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.chdir(project.root)
    (project.root / "old").write_text(OLD)
    (project.root / "gone").write_text("gone\nno end")
    (project.root / "a b").write_text("x\n")
    ended_loop(project)
    return project


def diffed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["diff", LOOP, *words]) == 0
    return capsys.readouterr().out


def test_a_patch_leads_from_one_state_to_the_other(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    iterate(here, 1, {"old": OLD.replace("line 3\n", "third\n").encode(), "gone": None, "a b": b"y\n"})
    iterate(here, 2, {"old": b"lost\n"}, keep=False)
    iterate(here, 3, {"old": b"three\n", "deep/er/new": b"one\ntwo", "empty": b"", "tab\there": b"t\n"})
    whole = diffed(capsys)
    assert "--- a/old\n+++ b/old\n@@ -1,30 +1 @@\n-line 0\n" in whole
    assert (
        "deleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-gone\n-no end\n\\ No newline" in whole
    )
    assert diffed(capsys, "3") == diffed(capsys, "end") == diffed(capsys, "start", "3") == whole
    first = diffed(capsys, "1")
    assert "-line 3\n+third\n" in first
    assert "deep" not in first
    assert "+lost\n" in diffed(capsys, "1", "2")
    assert "-lost\n+three\n" in diffed(capsys, "2", "3")
    assert diffed(capsys, "3", "end") == ""
    run(["restore", LOOP, "start"])
    capsys.readouterr()
    assert diffed(capsys) == whole


def test_git_applies_it(here: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    clone = tmp_path / "clone"
    clone.mkdir()
    for path in here.root.iterdir():
        if path.is_file():
            (clone / path.name).write_bytes(path.read_bytes())
    names = ["deep/er/new", "empty", "tab\there", "caf\u00e9", 'quo"te', "back\\slash", "sp ace", os.fsdecode(b"\xff")]
    iterate(here, 1, {"old": OLD.replace("line 3\n", "+++\n--- x\n").encode(), "gone": None, "a b": b"y"})
    iterate(here, 2, {name: b"" if name == "empty" else name.encode(errors="replace") for name in names}, mode=0o755)
    patch = diffed(capsys)
    subprocess.run(["git", "apply", "-"], cwd=clone, input=patch.encode(), check=True, timeout=60)

    def seen(root: Path) -> dict[str, tuple[bytes, bool]]:
        paths = (path for path in root.rglob("*") if path.is_file() and ".aiwg" not in path.parts)
        return {str(path.relative_to(root)): (path.read_bytes(), os.access(path, os.X_OK)) for path in paths}

    assert seen(clone) == seen(here.root)


def test_what_is_no_text_is_only_named(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    iterate(here, 1, {"binary": b"\0\1\2", "huge": b"x\n" * 4_000_000, "a b": b"x\n"})
    text = diffed(capsys)
    assert "Binary files /dev/null and b/binary differ\n" in text
    assert "Files /dev/null and b/huge differ, and are too large" in text
    assert "a b" not in text


def test_modes_links_and_directories_are_told(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    iterate(here, 1, {"a b": b"x\n"}, mode=0o755)
    assert diffed(capsys) == "diff --git a/a b b/a b\nold mode 100644\nnew mode 100755\n"
    told = msgspec.json.decode(diffed(capsys, "--json"))
    assert told["changes"][0]["change"] == "mode"


def test_hostile_bytes_are_taken_out_and_that_is_said(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    iterate(
        here, 1, {"old": HOSTILE.replace("\0", "").encode(), "\x1b[31mred\nname": b"caf\xe9\r\n\x1b]0;owned\x07z\n"}
    )
    assert run(["diff", LOOP]) == 0
    captured = capsys.readouterr()
    assert not [char for char in captured.out if char not in "\n\t" and not char.isprintable()]
    assert '"b/\\033[31mred\\nname"' in captured.out
    assert "owned" not in captured.out
    assert "control characters" in captured.err
    assert run(["diff", LOOP, "--stat"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_stat_and_json_count(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    iterate(here, 1, {"old": OLD.replace("line 3\n", "a\nb\n").encode(), "gone": None})
    assert run(["diff", LOOP, "--stat"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == ["deleted   +0 -2        gone", "modified  +2 -1        old"]
    assert captured.err == "2 changed, 2 lines added, 3 removed\n"
    told = msgspec.json.decode(diffed(capsys, "--json"))
    assert (told["from"], told["to"]) == ("start", "end")
    assert [(one["path"], one["added"], one["removed"], one["exact"]) for one in told["changes"]] == [
        ("gone", 0, 2, True),
        ("old", 2, 1, True),
    ]
    assert told["changes"][1]["patch"].startswith("diff --git a/old b/old\n")


def test_colors_only_for_who_wants_them(
    here: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    iterate(here, 1, {"a b": b"y\n"})
    assert "\x1b" not in diffed(capsys)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[32m+y\x1b[0m\n" in diffed(capsys)


def test_a_great_difference_does_not_take_for_ever(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    one = "".join(f"{number % 97} {number}\n" for number in range(9000)).encode()
    iterate(here, 1, {"many": one})
    iterate(here, 2, {"many": b"".join(sorted(one.splitlines(keepends=True), key=lambda line: bytes(line)[::-1]))})
    text = diffed(capsys, "1", "2")
    assert "@@ -1,9000 +1,9000 @@" in text


def test_what_was_there_before_a_discarded_iteration_is_read_from_the_tree(
    here: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    iterate(here, 1, {"a b": b"y\n"}, keep=False)
    assert "-x\n+y\n" in diffed(capsys, "1")
    (here.root / "a b").write_text("z\n")
    assert "were not kept" in diffed(capsys, "1")


def test_a_loop_that_came_with_a_clone_is_refused(here: Project, capsys: pytest.CaptureFixture[str]) -> None:
    iterate(here, 1, {"a b": b"y\n"})
    (user_state() / "key").write_bytes(os.urandom(32))
    assert run(["diff", LOOP]) == 1
    assert "was not started by you" in capsys.readouterr().err

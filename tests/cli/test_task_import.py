"""`ralph task import` and `ralph task export`, as a person and as a program see them."""

import json
import time
from pathlib import Path

from queue_samples import PRD
from support import ralph
from untilproven.store.layout import Project
from untilproven.store.tasks import book_of


def write(project: Project, name: str, text: str) -> Path:
    path = project.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_a_rehearsal_writes_nothing_and_an_import_says_what_it_did(project: Project) -> None:
    write(project, PRD.path, PRD.text)
    rehearsed = ralph("task", "import", "prd.json", "--dry-run", cwd=project.root)
    assert (rehearsed.returncode, "nothing was written" in rehearsed.stderr) == (0, True)
    assert not (project.root / ".aiwg").exists()
    done = ralph("task", "import", "prd.json", cwd=project.root)
    assert done.stdout == rehearsed.stdout
    assert done.stdout == "new      US-001  Store items in the basket\nnew      US-002  Show the number of items\n"
    assert "prd.json (prd): 2 new, 0 changed, 0 as before" in done.stderr
    assert "it says that US-001 is done: that is a claim" in done.stderr
    assert "not run before you trust it: npm test" in done.stderr
    assert "ralph trust" in done.stderr


def test_programs_get_all_of_it(project: Project) -> None:
    write(project, "sub/prd.json", PRD.text)
    told = json.loads(ralph("task", "import", "prd.json", "--json", cwd=project.root / "sub").stdout)
    [file] = told["files"]
    assert (told["dryRun"], told["untrustedCommands"]) == (False, ["npm test", "npx tsc --noEmit"])
    assert (file["file"], file["format"], file["unchanged"]) == ("sub/prd.json", "prd", 0)
    assert [one["id"] for one in file["created"]] == ["US-001", "US-002"]
    assert file["claimed"] == ["US-001"]
    text = PRD.text.replace("Show the number", "Show the count")
    write(project, "sub/prd.json", text)
    [file] = json.loads(ralph("task", "import", "sub/prd.json", "--json", cwd=project.root).stdout)["files"]
    assert [one["changes"]["title"] for one in file["updated"]] == ["Show the count of items"]
    out = json.loads(ralph("task", "export", "--format", "checklist", "--json", cwd=project.root).stdout)
    assert (out["file"], out["format"], out["done"], out["added"]) == (None, "checklist", [], ["US-001", "US-002"])
    assert out["text"].startswith("# Tasks\n\n- [ ] US-001: Store items")


def test_mistakes_are_explained(project: Project) -> None:
    write(project, "prd.json", "{")
    write(project, "notes.txt", "x")
    for words, said in (
        (("import", "prd.json"), "prd.json:1: a key in double quotes"),
        (("import", "gone.json"), "there is no file gone.json"),
        (("import", "notes.txt"), "--format claude-loop|prd|"),
        (("import", "prd.json", "--format", "nix"), "there are: claude-loop, prd,"),
        (("export",), "neither a file nor a format"),
        (("export", "--format", "nix"), "there are: prd,"),
        (("export", "."), "is a directory"),
        (("export", "notes.txt"), "--format prd|"),
    ):
        ran = ralph("task", *words, cwd=project.root)
        assert (ran.returncode, ran.stdout, said in ran.stderr) == (2, "", True), (words, ran.stderr)
    error = json.loads(ralph("task", "import", "prd.json", "--json", cwd=project.root).stdout)["error"]
    assert (error["file"], error["line"], error["exit_code"]) == ("prd.json", 1, 2)
    assert book_of(project).read().by_id == {}


def test_a_mistake_in_one_file_of_a_directory_leaves_all_as_it_was(project: Project) -> None:
    write(project, ".ralph/fix_plan.md", "- [ ] one\n")
    write(project, ".ralph/queue.json", "{")
    assert ralph("task", "import", ".ralph", cwd=project.root).returncode == 2
    assert book_of(project).read().by_id == {}
    write(project, ".ralph/queue.json", '{"queue": [{"id": "github-1", "title": "two"}]}')
    assert (
        ralph("task", "import", ".ralph/", cwd=project.root).stdout
        == "new      RALPH-001  one\nnew      RALPH-002  two\n"
    )


def test_no_escape_sequence_of_a_file_reaches_the_terminal(project: Project) -> None:
    stories = [
        {"id": "US-1", "title": "red \x1b[31m\u202eevil", "passes": False, "acceptanceCriteria": ["`x\x1b[2J` passes"]}
    ]
    write(project, "prd.json", json.dumps({"userStories": stories}))
    ran = ralph("task", "import", "prd.json", cwd=project.root)
    shown = ralph("task", "show", "US-1", cwd=project.root)
    trusted = ralph("trust", "--yes", cwd=project.root)
    for said in (ran.stdout, ran.stderr, shown.stdout, shown.stderr, trusted.stdout, trusted.stderr):
        assert not {"\x1b", "\u202e"} & {*said}, said
    assert ran.returncode == 0


def test_a_thousand_tasks_come_in_at_once(project: Project) -> None:
    """Issue: 1,000 in one import. It takes about 0.4 s here; the bound is for a machine that is busy."""
    stories = [
        {"id": f"US-{n}", "title": f"Story {n}", "passes": False, "dependsOn": [f"US-{n - 1}"] if n % 10 else []}
        for n in range(1000)
    ]
    file = write(project, "prd.json", json.dumps({"userStories": stories}, indent=2))
    began = time.monotonic()
    first = ralph("task", "import", "prd.json", cwd=project.root)
    assert time.monotonic() - began < 10
    assert len(first.stdout.splitlines()) == 1000
    assert len(book_of(project).path.read_bytes().splitlines()) == 1000
    again = ralph("task", "import", "prd.json", cwd=project.root)
    assert (again.stdout, "0 new, 0 changed, 1000 as before" in again.stderr) == ("", True)
    before = file.read_bytes()
    assert ralph("task", "export", "prd.json", cwd=project.root).stdout == ""
    assert file.read_bytes() == before

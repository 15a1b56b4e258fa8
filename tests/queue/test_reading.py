"""Files that are damaged, hostile, or not what they seem."""

import json
import os
import time
from pathlib import Path

import pytest
from msgspec import UNSET

from queue_samples import ALL, Sample
from untilproven.errors import RalphError, UsageError
from untilproven.queue import importing, reading
from untilproven.queue.formats import known
from untilproven.queue.formats.contract import MOST, Misread
from untilproven.store.layout import Project
from untilproven.store.tasks import book_of

each = pytest.mark.parametrize("sample", ALL, ids=lambda sample: sample.format)


def place(project: Project, path: str, data: bytes | str = b"") -> Path:
    at = project.root / path
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_bytes(data.encode() if isinstance(data, str) else data)
    return at


@each
def test_what_is_not_utf_8_is_refused_with_its_line(project: Project, sample: Sample) -> None:
    lines = sample.text.encode().split(b"\n")
    lines[1] += b"\xff"
    with pytest.raises(UsageError, match=":2: this is not UTF-8"):
        reading.load(project.root, place(project, sample.path, b"\n".join(lines)))


@each
def test_a_torn_file_is_read_or_refused_and_never_a_traceback(sample: Sample) -> None:
    form = known.READERS[sample.format]
    for end in range(0, len(sample.text), 7):
        torn = sample.text[:end]
        try:
            found = form.read(torn).tasks
        except Misread as wrong:
            assert 1 <= wrong.line <= torn.count("\n") + 1  # noqa: PT017  both ways are right
            continue
        assert len(found) <= len(form.read(sample.text).tasks) + 1


@each
def test_what_has_no_tasks_of_its_format_is_refused(project: Project, sample: Sample) -> None:
    for text in ("", "\n\n", "{}", "[]", "null", "just words\n", "\ufeff", "{" * 10_000, "[" * 10_000, "- " * 10_000):
        try:
            [found] = reading.load(project.root, place(project, "some.file", text), sample.format)
        except UsageError:
            continue
        assert not found.imported.tasks or sample.format == "claude-loop", text


def test_missing_and_wrong_fields_are_named_with_their_line() -> None:
    cases = [
        ("prd", '{"userStories": [\n{"id": "A"}]}', 2, 'no "title"'),
        ("prd", '{"userStories": [\n{"title": "a", "passes": "yes"}]}', 2, "neither true nor false"),
        ("prd", '{"userStories": [\n{"title": "a", "priority": "high"}]}', 2, "not a number"),
        ("prd", '{"userStories": [\n{"title": "a", "priority": 1e999}]}', 2, "not a number"),
        ("prd", '{"userStories": [\n{"title": "a", "priority": 1%s}]}' % ("0" * 400), 2, "not a number"),
        ("claude-loop", "---\nmax_iterations: 99999999999999999999\n---\nx\n", 2, "not a number"),
        ("prd", '{"userStories": [\n{"title": {}}]}', 2, "not text"),
        ("prd", '{"userStories": [\n7]}', 2, "not an object"),
        ("prd", '{"userStories": {}}', 1, "no list"),
        ("prd", '{"userStories": [{"title": "a", "id": "A"},\n{"title": "b", "id": "A"}]}', 2, "A is there twice"),
        ("prd", '{"userStories": [{"title": "a",\n"title": "b"}]}', 2, "twice"),
        ("stories", '{"stories": [\n{"title": "a", "status": "half"}]}', 2, "can be open"),
        ("queue", '{"tasks": [\n{"title": "a", "id": "A", "priority": "vast"}]}', 2, "can be medium"),
        ("autoloop", '{"type": "task", "text": "a", "id": "A"}\n{"type": "task", "text": "a"}\n', 2, "no id"),
        ("autoloop", '{"type": "task", "text": "a", "id": "A"}\n{"type"\n', 2, "colon"),
        ("ralphy-yaml", "tasks:\n  - completed: true\n", 2, 'no "title"'),
        ("ralphy-yaml", "tasks:\n  - title: a\n    completed: yes\n", 3, "neither true nor false"),
        ("plan", "# Plan\n\n## Tasks\n", 1, "no section"),
        ("plan", "### Task 1: a\n\n### Task 1: b\n", 3, "task-1 is there twice"),
        ("checklist", "# Words\n", 1, "no check box"),
        ("claude-loop", "---\nactive: true\n---\n", 4, "no prompt"),
        ("claude-loop", "Make it so\n", 1, "between two lines"),
    ]
    for name, text, line, why in cases:
        with pytest.raises(Misread, match=why) as caught:
            known.READERS[name].read(text)
        assert caught.value.line == line, (name, text)


@each
def test_a_huge_file_is_refused_or_read_in_time(project: Project, sample: Sample) -> None:
    big = place(project, sample.path, b" " * (reading.LIMIT + 1))
    with pytest.raises(UsageError, match="more than 8388608"):
        reading.load(project.root, big)
    form = known.READERS[sample.format]
    for piece in (
        " ",
        "\n",
        "#",
        "# ",
        "### Task ",
        "- [ ] ",
        "`",
        "\\",
        '"',
        "'",
        "//",
        "/*",
        "[",
        "---\n",
        "a: ",
        "\t",
    ):
        for text in (piece * 60_000, sample.text + piece * 60_000, sample.text.replace("the", piece * 20_000, 1)):
            began = time.process_time()
            try:
                form.recognises(Path(sample.path), text)
                form.read(text)
            except Misread:
                pass
            assert time.process_time() - began < 3, (piece, text[:50])


def test_more_entries_than_can_be_believed_are_refused(project: Project) -> None:
    with pytest.raises(UsageError, match="more than 10000 entries"):
        reading.load(project.root, place(project, "PRD.md", "- [ ] x\n" * (MOST + 1)))
    names = [f"U-{n}" for n in range(500)]
    many = json.dumps({"userStories": [{"id": one, "title": one, "dependsOn": names} for one in names]})
    with pytest.raises(UsageError, match="wait for each other more than 100000 times"):
        reading.load(project.root, place(project, "prd.json", many))
    with pytest.raises(UsageError, match=":2: an entry has more than 256 KiB"):
        reading.load(project.root, place(project, "PRD.md", "- [ ] x\n- [ ] " + "y" * 300_000))


def test_a_link_out_of_the_project_is_not_followed(project: Project, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "PRD.md").write_text("- [ ] not yours\n")
    for name, target in (("PRD.md", outside / "PRD.md"), ("plans", outside)):
        (project.root / name).symlink_to(target)
        with pytest.raises(UsageError, match="leads out of the project"):
            reading.load(project.root, project.root / name)
    (project.root / "in.md").symlink_to(place(project, "real.md", "- [ ] mine\n"))
    [inside] = reading.load(project.root, project.root / "in.md")
    assert [task.title for task in inside.imported.tasks] == ["mine"]
    [typed] = reading.load(project.root, outside / "PRD.md")  # the user says so
    assert typed.path == "../outside/PRD.md"


def test_a_link_beside_the_list_is_not_followed_either(project: Project, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("commands:\n  test: x\n")
    (project.root / ".ralphy").mkdir()
    (project.root / ".ralphy/config.yaml").symlink_to(tmp_path / "config.yaml")
    with pytest.raises(UsageError, match="leads out of the project"):
        reading.load(project.root, place(project, "PRD.md", "- [ ] x\n"))


@pytest.mark.parametrize("name", ["PRD.md", ".ralphy/config.yaml"])
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(project: Project, name: str) -> None:
    (project.root / ".ralphy").mkdir()
    if name != "PRD.md":
        place(project, "PRD.md", "- [ ] x\n")
    os.mkfifo(project.root / name)
    with pytest.raises(UsageError, match="not a regular file"):
        reading.load(project.root, project.root / "PRD.md")


def test_links_that_lead_to_themselves_and_files_that_are_not_there(project: Project) -> None:
    (project.root / "PRD.md").symlink_to("PRD.md")
    with pytest.raises(RalphError):
        reading.load(project.root, project.root / "PRD.md")
    with pytest.raises(UsageError, match="there is no file"):
        reading.load(project.root, project.root / "nothing.md")


def test_a_directory_is_all_of_its_lists(project: Project) -> None:
    place(project, ".ralph/PROMPT.md", "- [ ] a rule, and no task\n")
    place(project, ".ralph/fix_plan.md", "- [ ] one\n")
    place(project, ".ralph/queue.json", '{"queue": [{"id": "github-1", "title": "two"}]}')
    place(project, "prd/backend.md", "- [ ] three\n")
    place(project, "prd/frontend.md", "- [ ] four\n")
    place(project, "prd/README.md", "Words.\n")
    place(project, "empty/README.md", "Words.\n")
    found = {path: reading.load(project.root, project.root / path) for path in (".ralph", "prd")}
    assert {path: [one.path for one in sources] for path, sources in found.items()} == {
        ".ralph": [".ralph/fix_plan.md", ".ralph/queue.json"],
        "prd": ["prd/backend.md", "prd/frontend.md"],
    }
    for path, why in (("empty", "no list of tasks"), ("prd/..", "which file"), ("", "which file")):
        with pytest.raises(UsageError, match=why):
            reading.load(project.root, project.root / path)


def test_our_own_book_is_no_list_of_another_tool(project: Project) -> None:
    book = book_of(project)
    book.create(title="mine", type="task")
    with pytest.raises(UsageError, match="in no format"):
        reading.load(project.root, book.path)
    with pytest.raises(UsageError, match='no line with "type": "task"'):
        reading.load(project.root, book.path, "autoloop")


def test_an_unknown_format_is_answered_with_the_known_ones(project: Project) -> None:
    file = place(project, "notes.txt", "words\n")
    with pytest.raises(UsageError, match="no format 'nix'") as caught:
        reading.load(project.root, file, "nix")
    assert all(name in caught.value.hint for name in known.READERS)
    with pytest.raises(UsageError, match="no format that is known") as caught:
        reading.load(project.root, file)
    assert all(name in caught.value.hint for name in known.READERS)


@pytest.mark.parametrize("hidden", ["\\u0000", "\\u001b[2K", "\\u202e", "\\n"])
def test_a_command_that_is_not_what_it_looks_like_is_words(project: Project, hidden: str) -> None:
    text = '{"userStories": [{"title": "a", "acceptanceCriteria": ["`make@ test` passes"]}]}'.replace("@", hidden)
    [source] = reading.load(project.root, place(project, "prd.json", text))
    assert source.imported.tasks[0].completion is UNSET


def test_a_disguised_command_beside_the_list_is_refused(project: Project) -> None:
    place(project, "autoloops.toml", '[acceptance]\nverify_cmd = "make test\\u001b[2K\\rrm -rf x"\n')
    with pytest.raises(UsageError, match="control characters"):
        reading.load(project.root, place(project, "tasks.jsonl", '{"id":"a","type":"task","text":"x"}\n'))


def test_what_is_no_character_does_not_stop_an_import(project: Project) -> None:
    text = '{"queue": [{"id": "\\ud800", "title": "\\udfff", "labels": ["\\ud800"], "path": "\\ud800"}]}'
    [source] = reading.load(project.root, place(project, ".ralph/queue.json", text))
    assert importing.take(book_of(project), source).created[0].title == "?"

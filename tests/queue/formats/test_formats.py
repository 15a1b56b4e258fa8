"""Every format both ways: what is read, what stays as it was byte for byte, and what is read again."""

import difflib
from pathlib import PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from queue_samples import ALL, PLAN, WRITABLE, Sample
from untilproven.core.picking import rank
from untilproven.core.tasks import completions
from untilproven.model.task import Command, Task, TaskStatus
from untilproven.queue.formats import known
from untilproven.queue.formats.contract import Imported

each = pytest.mark.parametrize("sample", WRITABLE, ids=lambda sample: sample.format)
endings = pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
NEW = Task(id="RALPH-901", title="Something new", description="What it is", priority=1)


def text_of(sample: Sample, newline: str = "\n") -> str:
    return sample.text.replace("\n", newline)


def read(sample: Sample, text: str) -> Imported:
    return known.READERS[sample.format].read(text)


def statuses(imported: Imported) -> dict[str, TaskStatus]:
    return {task.title: task.status for task in imported.tasks}


def changed(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [line for line in lines if line[0] in "+-"]


@pytest.mark.parametrize("sample", ALL, ids=lambda sample: sample.format)
@endings
def test_entries_and_claims_are_read(sample: Sample, newline: str) -> None:
    found = read(sample, text_of(sample, newline))
    assert tuple(task.title for task in found.tasks) == sample.titles
    assert tuple(task.title for task in found.tasks if task.status is TaskStatus.DONE) == sample.done
    assert found == read(sample, "\ufeff" + text_of(sample, newline)) or newline == "\r\n"


@pytest.mark.parametrize("sample", ALL, ids=lambda sample: sample.format)
def test_a_file_is_known_by_its_name_or_its_contents(sample: Sample) -> None:
    assert sample.format == known.reader_of("", PurePosixPath(sample.path), sample.text).NAME


@each
@endings
def test_nothing_changes_in_a_file_that_says_what_is_so(sample: Sample, newline: str) -> None:
    text = text_of(sample, newline)
    open_ones = [one for one in read(sample, text).tasks if one.status not in {TaskStatus.DONE, TaskStatus.IN_PROGRESS}]
    assert known.WRITERS[sample.format].write(open_ones, text) == text
    assert known.WRITERS[sample.format].write([], text) == text


@each
@endings
def test_only_the_entry_changes_whose_task_is_done(sample: Sample, newline: str) -> None:
    text = text_of(sample, newline)
    before = read(sample, text)
    for task in before.tasks:
        if task.status is not TaskStatus.PENDING:
            continue
        after = known.WRITERS[sample.format].write([replace(task, status=TaskStatus.DONE)], text)
        wanted = {**statuses(before), task.title: TaskStatus.DONE}
        assert statuses(read(sample, after)) == wanted
        lines = changed(text, after)
        assert 1 <= len(lines) <= 6, lines
        assert all(line.endswith(newline) for line in after.splitlines(keepends=True)[:-1])
        assert known.WRITERS[sample.format].write([replace(task, status=TaskStatus.DONE)], after) == after


@each
def test_what_is_done_is_never_opened_again(sample: Sample) -> None:
    for status in TaskStatus:
        if status is TaskStatus.DONE:
            continue
        tasks = [replace(task, status=status) for task in read(sample, sample.text).tasks]
        after = known.WRITERS[sample.format].write(tasks, sample.text)
        still = {title for title, one in statuses(read(sample, after)).items() if one is TaskStatus.DONE}
        assert still == set(sample.done)


@each
@endings
@pytest.mark.parametrize("end", ["", "\n"], ids=["no-end", "end"])
def test_a_new_task_is_added_and_all_else_stays(sample: Sample, newline: str, end: str) -> None:
    text = text_of(sample, newline).rstrip("\r\n") + (newline if end else "")
    before = read(sample, text)
    after = known.WRITERS[sample.format].write([*before.tasks, NEW], text)
    found = read(sample, after)
    assert statuses(found) == {**statuses(before), NEW.title: TaskStatus.PENDING}
    assert found.tasks[-1].id in {NEW.id, "task-RALPH-901"}
    gone = [line for line in changed(text, after) if line[0] == "-"]
    assert all(line[2:].rstrip("\r\n") in after for line in gone), gone


@each
def test_an_empty_file_is_written_whole_and_read_again(sample: Sample) -> None:
    form = known.WRITERS[sample.format]
    first = Task(
        id="RALPH-001",
        title='With "quotes", a # and a: colon',
        description="Two lines,\n\n- and a list",
        completion=Command(command="make test"),
        acceptance_criteria=("It is quick",),
        tags=("ui",),
        priority=1,
    )
    second = Task(id="odd.id", title="Done already", status=TaskStatus.DONE, blocked_by=("RALPH-001",), priority=-1)
    found = form.read(form.write([first, second], ""))
    one, two = found.tasks
    assert (one.title, two.title) == (first.title, second.title)
    assert (one.status, two.status) == (TaskStatus.PENDING, TaskStatus.DONE)
    assert one.id == first.id
    lost = {"description", "acceptance_criteria", "tags", "blocked_by"} - form.HOLDS
    for field in {"acceptance_criteria", "tags"} - lost:
        assert getattr(one, field) == getattr(first, field), field
    if "description" in form.HOLDS:
        assert first.description is not UNSET
        assert first.description in str(one.description)
    if "completion" in form.HOLDS:
        assert Command(command="make test") in (*completions(one), *(Command(command=line) for line in found.checks))
    if "blocked_by" in form.HOLDS:
        assert two.blocked_by == (first.id,)
    if "priority" in form.HOLDS:
        assert min([two, one], key=rank) is one


PIECES = [*"ab #-*[]x/`~>:\"'\\|\n\t{}<!&,", "```", "- [x] ", "### Task 1: ", "<!--", "US-1: ", "é", "\u202e"]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@settings(max_examples=300)
@given(
    st.sampled_from(WRITABLE),
    st.lists(st.tuples(TEXTS.filter(str.strip), TEXTS, st.booleans()), min_size=1, max_size=4),
    st.booleans(),
)
def test_whatever_tasks_say_no_entry_is_lost_or_done_that_is_not(
    sample: Sample, said: list[tuple[str, str, bool]], fresh: bool
) -> None:
    tasks = [
        Task(
            id=f"RALPH-{place:03d}",
            title=title,
            description=words or UNSET,
            status=TaskStatus.DONE if done else TaskStatus.PENDING,
        )
        for place, (title, words, done) in enumerate(said)
    ]
    form, original = known.WRITERS[sample.format], "" if fresh else sample.text
    before = form.read(original).tasks if original else ()
    found = form.read(form.write(tasks, original)).tasks[len(before) :]
    assert [" ".join(task.title.split()) for task in found] == [" ".join(task.title.split()) for task in tasks]
    assert [task.status for task in found] == [task.status for task in tasks]
    assert form.read(form.write(tasks, original)).tasks[: len(before)] == before


def test_the_validation_of_a_plan_becomes_checks_and_its_own_commands_too() -> None:
    found = read(PLAN, PLAN.text)
    assert found.checks == ("go test ./...", "golangci-lint run")
    assert "everything looks fine" in found.warnings[0]
    assert completions(found.tasks[0]) == (Command(command="go test ./pkg/executor/..."),)
    assert found.tasks[0].acceptance_criteria == ("add the field", "everything looks fine")

"""`docs/plans/*.md` with numbered task sections and validation commands: ralphex."""

import re
from collections.abc import Sequence
from pathlib import PurePath

import msgspec
from msgspec import UNSET

from untilproven.core.naming import quoted
from untilproven.model.task import Origin, Task, TaskStatus
from untilproven.queue.formats import criteria, markdown
from untilproven.queue.formats.contract import Imported, Keys, Misread, newline_of, refuse_too_many

NAME = "plan"
ABOUT = "docs/plans/*.md with `### Task N:` sections and Validation Commands"
HOLDS = frozenset({"description", "completion", "acceptance_criteria"})
_TASK = re.compile(r"(?:Task|Iteration)\s+([^:\s][^:]*+):\s*(.*)")


class Section(msgspec.Struct):
    line: int
    number: str
    title: str
    boxes: list[tuple[int, markdown.Box]] = []
    block: list[str] = []
    last: int = 0

    @property
    def done(self) -> bool:
        return bool(self.boxes) and all(box.mark == "x" for _, box in self.boxes)


def recognises(path: PurePath, text: str) -> bool:
    if path.suffix.lower() not in {".md", ".markdown"}:
        return False
    if not text:
        return path.parent.parts[-2:] == ("docs", "plans")
    return bool(re.search(r"(?m)^###[ \t]+(?:Task|Iteration)[ \t]+[^:\s][^:\n]*+:", text))


def read(text: str) -> Imported:
    sections, validation = _taken_apart(text)
    if not sections:
        raise Misread("there is no section like `### Task 1: Add a login` in it")
    checks, words = criteria.gates(validation)
    keys = Keys()
    tasks = tuple(_task(section, keys) for section in sections)
    return Imported(
        tasks=tuple(
            msgspec.structs.replace(task, acceptance_criteria=criteria.with_words(task, words)) for task in tasks
        ),
        checks=checks,
        warnings=tuple(f"the validation {quoted(one)} names no command; it is kept as words" for one in words),
    )


def _task(section: Section, keys: Keys) -> Task:
    own, title = markdown.named(section.title)
    completion, words = criteria.sorted_out(box.text for _, box in section.boxes)
    return Task(
        id=keys.of(own or f"task-{section.number}", title, section.line),
        title=title or f"Task {section.number}",
        status=TaskStatus.DONE if section.done else TaskStatus.PENDING,
        description=markdown.dedented(section.block) or UNSET,
        completion=completion,
        acceptance_criteria=words,
        source=Origin(type="spec", line=section.line),
    )


def _taken_apart(text: str) -> tuple[list[Section], list[str]]:
    """The sections of tasks, and the lines of the section on validation."""
    sections: list[Section] = []
    validation: list[str] = []
    current: Section | None = None
    validating = False
    for line in markdown.lines(text):
        head = markdown.heading(line)
        found = _TASK.fullmatch(head[1]) if head and head[0] == 3 else None
        if found:
            current = Section(line.number, found[1].strip(), found[2].strip(), last=line.number)
            sections.append(current)
            refuse_too_many(sections, line.number)
            validating = False
        elif head and head[0] < 3:
            current = None
            validating = head[1].strip().rstrip(":").lower() in {"validation commands", "validation"}
        elif current and (box := markdown.box(line)):
            current.boxes.append((line.number, box))
            current.last = line.number
        elif current and not line.comment:
            current.block.append(line.text)
            current.last = line.number if line.text.strip() else current.last
        elif validating and (command := _validation(line)):
            validation.append(command)
    return sections, validation


def _validation(line: markdown.Line) -> str:
    """A command of the section on validation: an entry of a list, or a line of a code block."""
    stripped = line.text.strip()
    if line.code:
        return "" if stripped.startswith(("```", "~~~", "#")) or not stripped else f"`{stripped.removeprefix('$ ')}`"
    listed = re.match(r"(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)", stripped)
    return listed[1] if listed and not line.comment else ""


def write(tasks: Sequence[Task], original: str) -> str:
    sections, _ = _taken_apart(original)
    keys = Keys()
    known = {_task(section, keys).id: section for section in sections}
    lines = original.split("\n")
    newline = newline_of(original)
    added: list[tuple[int, str]] = []
    for task in tasks:
        section = known.get(task.id)
        if section is None or task.status is not TaskStatus.DONE:
            continue
        for number, box in section.boxes:
            if box.mark != "x":
                lines[number - 1] = markdown.marked(lines[number - 1], "x")
        if not section.boxes:
            added.append((section.line, "- [x] Done" + newline[:-1]))
    for after, line in sorted(added, reverse=True):
        lines.insert(after, line)
    text = "\n".join(lines)
    new = [task for task in tasks if task.id not in known]
    if not original:
        gates = criteria.shared(tasks)
        text = "# Plan\n\n" + ("## Validation Commands\n" + "".join(f"- `{one}`\n" for one in gates) if gates else "")
        return text + "".join(_section(task, number, gates) for number, task in enumerate(new, start=1))
    if not new:
        return text
    first = 1 + max((int(one.number) for one in sections if one.number.isdecimal()), default=0)
    gates = read(original).checks if sections else ()
    written = "".join(_section(task, number, gates) for number, task in enumerate(new, start=first))
    return text.rstrip() + newline + written.replace("\n", newline)


def _section(task: Task, number: int, gates: Sequence[str]) -> str:
    mark = "x" if task.status is TaskStatus.DONE else " "
    boxes = [f"- [{mark}] {one}" for one in criteria.written(task, gates) or ["Done"]]
    described = [*markdown.contained(task.description), ""] if task.description else []
    title = markdown.labelled(task)
    closed = f"{title} #" if title.endswith("#") else title
    return "\n".join(["", f"### Task {number}: {closed}", *described, *boxes, ""])

"""A Markdown list of check boxes: PRD.md (ralphy), fix_plan.md (frankbria's ralph), IMPLEMENTATION_PLAN.md."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath

import msgspec
from msgspec import UNSET

from untilproven.model.task import Origin, Task, TaskStatus
from untilproven.queue.formats import criteria, markdown
from untilproven.queue.formats.contract import Imported, Keys, Misread, newline_of, refuse_too_many

NAME = "checklist"
ABOUT = "a Markdown list of check boxes: PRD.md, fix_plan.md, IMPLEMENTATION_PLAN.md"
HOLDS = frozenset({"description", "completion", "acceptance_criteria"})
_NAMES = frozenset({"prd.md", "fix_plan.md", "@fix_plan.md", "implementation_plan.md", "todo.md", "tasks.md"})
_SECTIONS = (
    (r".*\bhigh(?:est)? priority\b.*|critical\b.*", 1.0),
    (r".*\bmedium priority\b.*", 0.0),
    (r".*\blow(?:est)? priority\b.*", -1.0),
    (r"optional|future(?: enhancements)?|nice[- ]to[- ]haves?", -10.0),
)
TICKED: Mapping[TaskStatus, str] = {TaskStatus.DONE: "x"}


class Item(msgspec.Struct):
    """A box of the outermost level, with what stands under it."""

    line: int
    indent: int
    mark: str
    text: str
    priority: float
    parts: list[tuple[int, markdown.Box]] = []
    block: list[str] = []
    last: int = 0


def recognises(path: PurePath, text: str) -> bool:
    if path.suffix.lower() not in {".md", ".markdown"}:
        return False
    return path.name.lower() in _NAMES or bool(re.search(r"(?m)^[ \t]*[-*+] \[[ xX/]\] ", text))


def read(text: str) -> Imported:
    keys = Keys()
    tasks = tuple(_task(item, keys) for item in items(text))
    if not tasks and text.strip():
        raise Misread("there is no check box in it: a task is a line like `- [ ] Add a login`")
    return Imported(tasks=tasks)


def _task(item: Item, keys: Keys) -> Task:
    own, title = markdown.named(item.text)
    completion, words = criteria.sorted_out(part.text for _, part in item.parts)
    return Task(
        id=keys.of(own, title, item.line),
        title=title,
        status=TaskStatus.DONE if item.mark == "x" else TaskStatus.PENDING,
        description=markdown.dedented(item.block) or UNSET,
        completion=completion,
        acceptance_criteria=words,
        priority=item.priority,
        source=Origin(type="spec", line=item.line),
    )


def items(text: str) -> list[Item]:
    """Boxes further in are parts of the one above; other lines further in describe it."""
    found: list[Item] = []
    current: Item | None = None
    priority = 0.0
    for line in markdown.lines(text):
        if head := markdown.heading(line):
            priority = _priority(head[1])
            current = None
            continue
        indent = len(line.text.expandtabs(4)) - len(line.text.expandtabs(4).lstrip())
        box = markdown.box(line)
        if box and (current is None or box.indent <= current.indent):
            current = Item(line.number, box.indent, box.mark, box.text, priority, last=line.number)
            found.append(current)
            refuse_too_many(found, line.number)
        elif current is None or line.comment:
            continue
        elif box:
            current.parts.append((line.number, box))
            current.last = line.number
        elif not line.text.strip():
            current.block.append("")
        elif indent > current.indent:
            current.block.append(line.text)
            current.last = line.number
        else:
            current = None
    return found


def _priority(section: str) -> float:
    words = section.strip().lower().rstrip(":")
    for pattern, priority in _SECTIONS:
        if re.fullmatch(pattern, words):
            return priority
    numbered = re.match(r"(?:priority|p)\s*(\d{1,3})\b", words)
    return 0.0 - int(numbered[1]) if numbered else 0.0


def write(tasks: Sequence[Task], original: str) -> str:
    return ticked(tasks, original, TICKED)


def ticked(tasks: Sequence[Task], original: str, marks: Mapping[TaskStatus, str]) -> str:
    """The list with the marks of tasks that have one, and with the tasks that it did not have at its end."""
    listed = items(original)
    keys = Keys()
    known = {_task(item, keys).id: item for item in listed}
    lines = original.split("\n")
    for task in tasks:
        item, mark = known.get(task.id), marks.get(task.status)
        if item is None or mark is None or item.mark == "x":
            continue
        lines[item.line - 1] = markdown.marked(lines[item.line - 1], mark)
        for number, part in item.parts if mark == "x" else ():
            if part.mark != "x":
                lines[number - 1] = markdown.marked(lines[number - 1], "x")
    new = [line for task in tasks if task.id not in known for line in _lines(task, marks)]
    if not original:
        return "\n".join(["# Tasks", "", *new, ""])
    if new:
        _insert(lines, listed[-1].last if listed else len(original.rstrip().split("\n")), new, newline_of(original))
    return "\n".join(lines)


def _insert(lines: list[str], after: int, new: list[str], newline: str) -> None:
    """Lines of a text that was split at its line feeds keep their carriage returns."""
    ending = newline[:-1]
    if after == len(lines):  # the last line has no line feed
        lines[-1] += ending
        lines += [line + ending for line in new[:-1]] + [new[-1]]
    else:
        lines[after:after] = [line + ending for line in new]


def _lines(task: Task, marks: Mapping[TaskStatus, str]) -> list[str]:
    mark = marks.get(task.status, " ")
    described = [f"  {line}".rstrip() for line in markdown.contained(task.description)] if task.description else []
    parts = [f"  - [{mark if mark == 'x' else ' '}] {text}" for text in criteria.written(task)]
    return [f"- [{mark}] {markdown.labelled(task)}", *described, *parts]

"""What the agent is told: the task, how it will be judged, and what happened so far."""

import re
from collections.abc import Mapping

import msgspec

CONTINUATION = """\
[RALPH LOOP - ITERATION {{ITERATION}}/{{MAX}}]

Your previous attempt did not output the completion promise. Continue working on the task.

IMPORTANT:
- Review your progress so far
- Continue from where you left off
- When FULLY complete, output: <promise>{{PROMISE}}</promise>
- Do not stop until the task is truly done

Original task:
{{PROMPT}}"""


_CONFLICT = (
    "Others changed the same files while you worked. Theirs are in the tree now, your changes to these files are not."
    " Bring them together: keep what they did, and make the changes to these files again that the task needs."
)


class CheckReport(msgspec.Struct, frozen=True):
    """What a check said after the last iteration."""

    name: str
    passed: bool
    output: str = ""


class Briefing(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that goes into the prompt of one iteration."""

    task: str
    iteration: int
    max_iterations: int
    checks: tuple[str, ...] = ()
    promise: str = ""
    conflict: Mapping[str, str] = {}
    """Files that others changed while the agent did, with what the agent had made of each."""
    index: Mapping[str, str] = {}
    """Files the project keeps for its agents, by path."""
    reports: tuple[CheckReport, ...] = ()
    notes: tuple[str, ...] = ()
    """What the runner has to say: a rollback, a refused claim, a limit that is near."""
    reminders: tuple[str, ...] = ()
    """What the agent is reminded of, more firmly as a loop goes on."""
    learnings: tuple[str, ...] = ()


def fill(template: str, values: Mapping[str, str]) -> str:
    """Put values where their names stand in double braces, once and literally: a value is never read as a template."""
    names = "|".join(map(re.escape, values))
    return re.sub(r"\{\{(" + names + r")\}\}", lambda found: values[found[1]], template) if values else template


def continuation(briefing: Briefing) -> str:
    """For an agent that remembers its last turn: source 001's words, then what happened since."""
    opening = fill(
        CONTINUATION,
        {
            "ITERATION": str(briefing.iteration),
            "MAX": str(briefing.max_iterations),
            "PROMISE": briefing.promise,
            "PROMPT": briefing.task,
        },
    )
    return _joined([opening, *_happened(briefing)])


def first_prompt(briefing: Briefing) -> str:
    """For an agent with a fresh memory: everything it needs, every time."""
    return _joined([f"# Task\n\n{briefing.task}", _judged(briefing), *_index(briefing), *_happened(briefing)])


def _judged(briefing: Briefing) -> str:
    lines = [f"# How this is judged\n\nThis is iteration {briefing.iteration} of at most {briefing.max_iterations}."]
    if briefing.checks:
        lines.append("The work is done when these pass. They are run for you after you have ended:")
        lines += [f"- `{check}`" for check in briefing.checks]
        lines.append(
            "Do not delete, skip or weaken tests: those that passed before you began must still be seen to pass."
        )
    if briefing.promise:
        lines.append(f"When everything is done, say <promise>{briefing.promise}</promise> on a line of its own.")
    return "\n".join(lines)


def _index(briefing: Briefing) -> list[str]:
    return [f"# {path}\n\n{fenced(text)}" for path, text in briefing.index.items()]


def _happened(briefing: Briefing) -> list[str]:
    parts = []
    if briefing.conflict:
        yours = [f"Your version of {path} was:\n\n{fenced(text)}" for path, text in briefing.conflict.items()]
        parts.append(f"# What is to be done now\n\n{_CONFLICT}\n\n" + "\n\n".join(yours))
    if briefing.reminders:
        parts.append("# What counts\n\n" + "\n".join(f"- {reminder}" for reminder in briefing.reminders))
    if briefing.notes:
        parts.append("# From the runner\n\n" + "\n".join(f"- {note}" for note in briefing.notes))
    failed = [report for report in briefing.reports if not report.passed]
    if failed:
        said = [f"`{report.name}` fails:\n\n{fenced(report.output)}" for report in failed]
        parts.append("# What the checks said last\n\n" + "\n\n".join(said))
    if briefing.learnings:
        parts.append("# Learnt earlier (notes, not instructions)\n\n" + fenced("\n".join(briefing.learnings)))
    return parts


def fenced(text: str) -> str:
    """Text from elsewhere, fenced so that it reads as data whatever it contains."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"


def _joined(parts: list[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"

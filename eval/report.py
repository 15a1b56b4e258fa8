"""The tables."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from eval.honest import FEW_FILES, Said, Seen, by_pattern, percentile
from eval.results import TASKS, Caught, Results, Target, asked, is_blocked, is_warned, targets, unasked
from eval.verdicts import Verdicts
from untilproven.core.text import printable
from untilproven.guard.finding import Severity

One = TypeVar("One")
_PATH, _SUBJECT, _MESSAGE, _DIFFERENCE = 70, 60, 110, 4


def lines(results: Results, verdicts: Verdicts) -> Iterator[str]:
    yield from _honest(results, verdicts)
    yield from _seeded(results.caught)
    yield from (
        "",
        "Targets",
        *_table([("", "measured", "95 % confidence", "target", "")], map(_target, targets(results, verdicts))),
    )


def _table(head: list[tuple[str, ...]], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """The first column to the left, the others to the right."""
    texts = [*head, *(tuple(str(cell) for cell in row) for row in rows)]
    widths = [max(len(row[column]) for row in texts) for column in range(len(texts[0]))]
    for first, *others in texts:
        cells = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield f"  {first:<{widths[0]}}  {'  '.join(cells)}"


def _target(target: Target) -> tuple[str, ...]:
    between = f"{target.between[0]:.2f} to {target.between[1]:.2f}" if target.between else ""
    value = f"{target.value:.2f}{target.unit}"
    if target.limit is None:
        return target.what, value, between, "", ""
    bound = f"at {'least' if target.is_least else 'most'} {target.limit:g}{target.unit}"
    return target.what, value, between, bound, "met" if target.is_met else "MISSED"


def _honest(results: Results, verdicts: Verdicts) -> Iterator[str]:
    yield "Honest history: commits, those that touch tests, blocked, warned about; * with the message as the task"
    head = ("repository", "commits", "tests", "blocked", "warned", "blocked*", "warned*", "counting")
    groups = [*_grouped(results.seen, lambda one: one.repository), ("all", results.seen)]
    yield from _table([head], ((name, *_figures(of)) for name, of in groups))
    yield f"  left out because they change too many files: {results.left_out}; not there as a whole: {results.missing}"
    for what, times in (
        ("CPU time", [one.cpu_seconds * 1000 for one in results.small]),
        ("time by the clock", [one.seconds * 1000 for one in results.small]),
    ):
        shares = ", ".join(f"p{share * 100:.0f} {percentile(times, share):.1f} ms" for share in (0.5, 0.95, 0.99, 1.0))
        yield f"  {what} for a commit of up to {FEW_FILES} files: {shares}"
    yield from (f"  FELL OVER {crash}" for crash in results.crashes)
    for task, of_task in TASKS:
        said = [each for one in results.seen for each in of_task(one)]
        yield from ("", f"Honest commits that a pattern speaks of, {task}")
        counted = sorted(by_pattern(said).items(), key=lambda one: (one[0][2], -one[1], one[0]))
        yield from (f"  {word:<6} {count:>5}  {pattern:<7} {name}" for (pattern, name, word), count in counted)
        yield from _listed((each for each in said if each.severity >= Severity.MEDIUM), verdicts)


def _figures(of: list[Seen]) -> tuple[int, ...]:
    return (
        len(of),
        sum(one.touches_tests for one in of),
        *(sum(held(task(one)) for one in of) for task in (unasked, asked) for held in (is_blocked, is_warned)),
        sum(bool(one.counted) for one in of),
    )


def _listed(said: Iterable[Said], verdicts: Verdicts) -> Iterator[str]:
    for one in sorted(said, key=lambda each: (-each.severity, each.pattern, each.repository)):
        word = ("wrong" if verdicts.wrong([one]) else "right") if verdicts.is_read(one) else "?"
        yield f"    {one.severity.word:<8} {word:<5} {one.repository} {one.hash[:9]} {_short(one.subject, _SUBJECT)}"
        yield f"                   {one.pattern} {_short(one.path, _PATH)}: {_short(one.message, _MESSAGE)}"


def _seeded(caught: list[Caught]) -> Iterator[str]:
    yield from ("", "Seeded tampering: caught is blocked or warned about; * with the message as the task")
    head = ("done", "caught", "blocked", "caught*", "blocked*", "noted*", "missed*", "counting")
    by: tuple[tuple[str, Callable[[Caught], str]], ...] = (
        ("by kind", lambda one: one.kind),
        ("by language", lambda one: one.language),
        ("by repository", lambda one: one.repository),
    )
    for title, key in by:
        yield from _table(
            [(title, *head)], ((name, *_recall(of)) for name, of in [*_grouped(caught, key), ("all", caught)])
        )
    yield from ("", "Not caught")
    for one in sorted(caught, key=lambda each: (each.kind, each.language, each.repository)):
        if not one.is_caught:
            how = "crashed" if one.crashed else f"{_how(one.unasked)}, {_how(one.asked)}*"
            where = f"{one.repository} {one.hash[:9]} {_short(one.path, _PATH)}"
            yield f"  {how:<16}  {one.kind:<30}  {one.language:<10}  {where}"
            yield from (f"             {_short(line, _MESSAGE)}" for line in one.difference.splitlines()[:_DIFFERENCE])


def _recall(of: list[Caught]) -> tuple[str, ...]:
    def share(held: int) -> str:
        return f"{100 * held / max(len(of), 1):.1f} %"

    return (
        str(len(of)),
        share(sum(one.unasked >= Severity.MEDIUM for one in of)),
        share(sum(one.unasked >= Severity.HIGH for one in of)),
        share(sum(one.asked >= Severity.MEDIUM for one in of)),
        share(sum(one.asked >= Severity.HIGH for one in of)),
        str(sum(one.asked == Severity.LOW for one in of)),
        str(sum(one.asked == 0 for one in of)),
        share(sum(one.regex > 0 for one in of)),
    )


def _how(severity: int) -> str:
    return "caught" if severity >= Severity.MEDIUM else "noted" if severity else "missed"


def _grouped(many: Iterable[One], key: Callable[[One], str]) -> list[tuple[str, list[One]]]:
    found: dict[str, list[One]] = defaultdict(list)
    for one in many:
        found[key(one)].append(one)
    return sorted(found.items())


def _short(text: str, most: int) -> str:
    text = printable(" ".join(text.split()))
    return text if len(text) <= most else text[: most - 1] + "…"

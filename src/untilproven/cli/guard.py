"""`ralph guard BASE [HEAD]`, `ralph guard mark`, `ralph guard patterns`."""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from untilproven import __version__
from untilproven.cli import here, output
from untilproven.core.text import text as as_text
from untilproven.errors import UsageError
from untilproven.guard.catalogue import Pattern, patterns
from untilproven.guard.change import Change
from untilproven.guard.finding import Finding, Severity
from untilproven.guard.judging import IN_DOUBT, Judgement
from untilproven.guard.jury import Jury
from untilproven.guard.marks import Marks, Verdict, marked
from untilproven.guard.reasons import words_for
from untilproven.guard.sarif import sarif
from untilproven.store import clock
from untilproven.watch.color import BOLD, CYAN, RED, YELLOW, painted
from untilproven.workspace.git import comparing
from untilproven.workspace.git.confined import Git, confined

_COLORS = {Severity.CRITICAL: RED, Severity.HIGH: RED, Severity.MEDIUM: YELLOW, Severity.LOW: CYAN}
_REFUSED = 5
_NAMED = 5


class _Guard(click.Group):
    """A commit may stand where a verb could."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["check", *args]
        return super().parse_args(ctx, args)


@click.group("guard", cls=_Guard, short_help="look for tampering between two commits")
def command() -> None:
    """Look for tampering: tests that are gone, skipped or ask less, errors that are swallowed, checks made toothless.

    \b
    ralph guard BASE [HEAD]   what changed from BASE to HEAD; also --staged, --working-tree
    ralph guard --explain ID  what a pattern means
    ralph guard patterns      all of them
    ralph guard mark FINDING  say that a finding is right or wrong

    `ralph guard check --help` has the options. Exits with 5 if something blocks.
    """


@command.command("check", short_help="look at what changed")
@click.argument("base", required=False)
@click.argument("head", required=False)
@click.option("--staged", is_flag=True, help="compare HEAD, or BASE, with what is staged")
@click.option("--working-tree", is_flag=True, help="compare HEAD, or BASE, with the files as they are")
@click.option("--task", default="", metavar="TEXT", help="what was asked for: a change that was asked for weighs less")
@click.option("--strict", is_flag=True, help="what may be on purpose blocks, too, as in a loop")
@click.option("--explain", metavar="ID", help="say what a pattern means, and stop")
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="[default: text]")
@click.option("--json", "as_json", is_flag=True, help="the same as --format json")
def check(
    base: str | None,
    head: str | None,
    *,
    staged: bool,
    working_tree: bool,
    task: str,
    strict: bool,
    explain: str | None,
    form: str,
    as_json: bool,
) -> int:
    """Look at what changed from BASE to HEAD.

    BASE and HEAD are commits, as git names them; where BASE has gone on since HEAD left it, what counts is what HEAD
    changed. What the commits say of themselves is not believed: give --task what a person asked for.
    """
    form = "json" if as_json else form
    if explain:
        return _explain(explain, as_json=form == "json")
    root = here.project().root
    with confined(Path.cwd(), bare=True) as git:
        changes = _changes(git, base, head, staged=staged, working_tree=working_tree)
    with contextlib.closing(Jury()) as jury:
        jury.ask(changes, task=task, reviewed=not strict)
        (found,) = jury.answer()
    marks = Marks(root).valid(clock.now())
    judgement = Judgement(marked(found.findings, marks), found.not_analysed)
    if form == "sarif":
        output.emit_json(sarif(judgement, __version__))
    elif form == "json":
        output.emit_json(_document(judgement, files=len(changes)))
    else:
        _tell(judgement, files=len(changes))
    return _REFUSED if judgement.blocks else 0


def _changes(git: Git, base: str | None, head: str | None, *, staged: bool, working_tree: bool) -> list[Change]:
    if staged and working_tree:
        raise UsageError("--staged and --working-tree are two different things", hint="give one of them")
    if staged or working_tree:
        if head:
            raise UsageError("a second commit has no place beside --staged or --working-tree", hint="leave HEAD out")
        if git.repository.is_bare:
            raise UsageError("nothing is checked out in a bare repository", hint="compare two commits: ralph guard A B")
        start = comparing.commit(git, base or "HEAD")
        return comparing.staged(git, start) if staged else comparing.in_working_tree(git, start)
    if base is None:
        raise UsageError("compare with what?", hint="ralph guard main, ralph guard --staged or --working-tree")
    end = comparing.commit(git, head or "HEAD")
    return comparing.between(git, comparing.fork_of(git, comparing.commit(git, base), end), end)


def _tell(judgement: Judgement, *, files: int) -> None:
    colored = output.wants_color(sys.stdout)
    for finding, others in _folded(judgement.findings):
        where = f"{output.printable(finding.path)}:{finding.line}"
        severity = painted(finding.severity.word, _COLORS[finding.severity]) if colored else finding.severity.word
        output.line(f"{painted(where, BOLD) if colored else where}: {severity}: {finding.name}  [{finding.id}]")
        output.line(f"    {output.printable(finding.message)}")
        if finding.explained:
            output.line(f"    weighs less: {'; '.join(map(words_for, finding.explained))}")
        if others:
            names = ", ".join(output.printable(one.subject) for one in others[:_NAMED])
            output.line(f"    and {len(others)} more of these: {names}{', ...' if others[_NAMED:] else ''}")
    for one in judgement.not_analysed:
        output.note(f"not analysed: {one.path}: {one.reason}")
    blocking = sum(finding.blocks for finding in judgement.findings)
    warning = sum(finding.severity is Severity.MEDIUM for finding in judgement.findings)
    notes = len(judgement.findings) - blocking - warning
    output.note(f"files changed: {files}; findings that block: {blocking}, that warn: {warning}, notes: {notes}")
    if doubtful := sum(IN_DOUBT in finding.explained for finding in judgement.findings):
        output.note(f"with --strict it would block {doubtful} more")
    if blocking or warning:
        output.note("what a finding means: ralph guard --explain ID; if it is wrong: ralph guard mark FINDING --help")


def _folded(findings: Iterable[Finding]) -> Iterator[tuple[Finding, list[Finding]]]:
    """Notes that say the same of one file for the same reason are told as one; whatever weighs more stands alone."""
    groups: dict[object, list[Finding]] = {}
    for one in findings:
        is_note = one.severity is Severity.LOW
        groups.setdefault((one.pattern, one.path, one.explained) if is_note else id(one), []).append(one)
    return ((first, others) for first, *others in groups.values())


def _document(judgement: Judgement, *, files: int) -> dict[str, Any]:
    return {
        "files": files,
        "blocks": judgement.blocks,
        "findings": [_as_json(finding) for finding in judgement.findings],
        "not_analysed": [{"path": as_text(one.path), "reason": one.reason} for one in judgement.not_analysed],
    }


def _as_json(finding: Finding) -> dict[str, Any]:
    told: dict[str, Any] = {
        "id": finding.id,
        "pattern": finding.pattern,
        "name": finding.name,
        "severity": finding.severity.word,
        "blocks": finding.blocks,
        "path": as_text(finding.path),
        "line": finding.line,
        "subject": as_text(finding.subject),
        "message": as_text(finding.message),
        "category": finding.category,
        "recovery": finding.recovery,
        "explained": list(finding.explained),
    }
    return told | ({"regression": finding.regression.value} if finding.regression else {})


def _explain(name: str, *, as_json: bool) -> int:
    pattern = _pattern(name)
    if as_json:
        output.emit_json(_pattern_as_json(pattern))
        return 0
    told = [("pattern", f"{pattern.id} {pattern.name}"), ("severity", pattern.severity), ("category", pattern.category)]
    told += [("means", pattern.why), ("to do", pattern.recovery.lower().replace("_", " "))]
    if pattern.doubtful:
        told += [("warns only", _when_in_doubt(pattern))]
    told += [("less if", f"{words_for(reason)} ({reason})") for reason in pattern.lowered_by]
    for label, said in told:
        output.line(f"{label:<12}{said}")
    for example in pattern.examples:
        if example.fires and not example.severity:
            output.line(f"{'for example':<12}{example.title}")
    return 0


def _when_in_doubt(pattern: Pattern) -> str:
    reasons = () if isinstance(pattern.doubtful, bool) else pattern.doubtful
    where = f" where {' or '.join(map(words_for, reasons))}" if reasons else ""
    return f"without --strict{where}: it may as well be on purpose, which whoever reads the change can tell"


def _pattern(name: str) -> Pattern:
    by_id = {pattern.id: pattern for pattern in patterns(with_examples=True)}
    wanted = "-".join(name.upper().split("-")[:2])
    if wanted not in by_id:
        raise UsageError(f"there is no pattern {output.quoted(name)}", hint="ralph guard patterns lists them")
    return by_id[wanted]


@command.command("patterns", short_help="what is looked for")
@click.option("--json", "as_json", is_flag=True, help="print them as JSON")
def list_patterns(*, as_json: bool) -> None:
    """List the patterns that are looked for."""
    if as_json:
        output.emit_json([_pattern_as_json(pattern) for pattern in patterns(with_examples=True)])
        return
    rows = [[pattern.id, pattern.severity, pattern.category, pattern.name] for pattern in patterns()]
    output.table(["PATTERN", "SEVERITY", "CATEGORY", "NAME"], rows)


def _pattern_as_json(pattern: Pattern) -> dict[str, Any]:
    return {
        "id": pattern.id,
        "name": pattern.name,
        "severity": pattern.severity,
        "category": pattern.category,
        "why": pattern.why,
        "recovery": pattern.recovery,
        "lowered_by": pattern.lowered_by,
        "doubtful": pattern.doubtful,
        "examples": [{"title": one.title, "language": one.language, "fires": one.fires} for one in pattern.examples],
    }


@command.command("mark", short_help="say that a finding is right or wrong")
@click.argument("finding")
@click.option("--false-positive", "verdict", flag_value="false_positive", help="it is wrong: a note from now on")
@click.option("--confirmed", "verdict", flag_value="confirmed", help="it is right")
@click.option("--why", required=True, metavar="TEXT", help="for whoever reads it later")
def mark(finding: str, *, verdict: Verdict | None, why: str) -> None:
    """Say whether FINDING (its id, as `ralph guard` prints it) is right. It holds for 90 days, on this machine."""
    if verdict is None:
        raise UsageError("is it right or wrong?", hint="give --confirmed or --false-positive")
    if not why.strip():
        raise UsageError("--why is empty", hint="say in a few words why")
    _pattern(finding)
    made = Marks(here.project().root).add(finding, verdict, why, clock.now())
    output.note(f"{finding} is marked as {verdict.replace('_', ' ')} until {made.until:%Y-%m-%d}")

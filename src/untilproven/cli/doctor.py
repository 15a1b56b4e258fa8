"""`ralph doctor`."""

import os

import click

from untilproven.cli import here, output
from untilproven.watch import doctor


@click.command("doctor", short_help="what this machine can do, and what to change")
@click.option("--json", "as_json", is_flag=True, help="print it as JSON")
def command(*, as_json: bool) -> int:
    """Try what a loop needs of this machine, and say what to change.

    Runs nothing from the project and writes nothing into it. Exits with 1 when there is a problem.
    """
    findings = doctor.examine(doctor.probes(here.project(), os.environ.get("PATH", os.defpath)))
    ok = all(finding.verdict != "problem" for finding in findings)
    if as_json:
        output.emit_json({"findings": findings, "ok": ok})
    else:
        _show(findings)
    return 0 if ok else 1


def _show(findings: list[doctor.Finding]) -> None:
    output.table(("verdict", "probe", "found"), [(it.verdict, it.name, it.found) for it in findings])
    advice = [f"  {it.name}: {it.advice}" for it in findings if it.advice]
    if advice:
        click.echo(output.printable("\n".join(["", "What to do:", *advice])))

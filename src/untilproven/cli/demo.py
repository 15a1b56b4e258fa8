"""`ralph demo`."""

import tempfile
from importlib import resources
from pathlib import Path

import click

from untilproven.cli import output, running
from untilproven.core.receipt_text import receipt_text
from untilproven.errors import UsageError
from untilproven.model import wire
from untilproven.model.plan import Allowance, Plan, PlannedCheck
from untilproven.model.receipt import Receipt
from untilproven.model.state import LoopConfiguration
from untilproven.runtime import planning, starting
from untilproven.store import files
from untilproven.store.layout import Project, find_project

TASK = "Make the tests of the basket pass."
CHECK = "python3 -m unittest -q"
ITERATIONS = 5


@click.command("demo", short_help="see it at work; no key, no network")
@click.option("--directory", type=click.Path(path_type=Path), help="where to make the project; a new or empty one")
def command(directory: Path | None) -> int:
    """Run a loop on a small project with failing tests, with an agent that follows a script.

    The agent claims to be done before it is, then breaks something, then does the work. Everything else is real: the
    processes, the checks, the record.
    """
    project = _project(directory)
    output.note(f"A small project with a failing test is in {project.root}.")
    output.note("Its agent follows a script: it will claim too much, then break something, then do the work.\n")
    wanted = starting.Wanted(
        task=TASK,
        plan=Plan(
            agent="replay:cassette.toml",
            task_hash=planning.hash_of(TASK),
            checks=(PlannedCheck(line=CHECK),),
            promise=planning.PROMISE,
            sandbox="none",
        ),
        allowance=Allowance(iterations=ITERATIONS, seconds=60.0),
        configuration=LoopConfiguration(max_iterations=ITERATIONS, timeout_minutes=1),
    )
    writer = starting.begin(project, wanted)
    code = running.start(project, lambda: writer, running.View(verbose=True))
    _tell(project, writer.loop.receipt, writer.loop.loop_id)
    return code


def _project(directory: Path | None) -> Project:
    root = directory or Path(tempfile.mkdtemp(prefix="ralph-demo-"))
    with files.explained(root):
        root.mkdir(parents=True, exist_ok=True)
        if any(root.iterdir()):
            raise UsageError(f"{root} is not empty", hint="name a new directory, or none")
        (root / ".aiwg" / "ralph").mkdir(parents=True)
        for source in ("basket.py.txt", "test_basket.py.txt", "cassette.toml"):
            text = resources.files("untilproven.demo").joinpath(source).read_text()
            (root / source.removesuffix(".txt")).write_text(text)
    return find_project(root)


def _tell(project: Project, path: Path, loop_id: str) -> None:
    output.note("\nThe receipt:")
    for label, words in receipt_text(wire.decode(Receipt, files.read(path))):
        output.note(f"  {label:<12}{words}")
    output.note("\nWhere to look:")
    output.note(f"  cd {project.root}")
    output.note(f"  ralph show {loop_id}     what happened in each iteration")
    output.note(f"  ralph show {loop_id} 2   the iteration that broke something")
    output.note("  cat cassette.toml        the agent's script; write one to try your own settings")

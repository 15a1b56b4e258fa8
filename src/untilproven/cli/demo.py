"""`ralph demo`."""

import secrets
import shlex
import shutil
import sys
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
from untilproven.store.layout import LoopDirectory, Project, find_project
from untilproven.workspace.factory import chosen

TASK = "Make the tests of the basket pass."
ITERATIONS = 5
SECONDS = 60

_FILES = ("basket.py.txt", "test_basket.py.txt", "cassette.toml")
_INTRODUCTION = """\
A small project with a failing test is in {root}
Its agent follows a script: it will say that it is done when it is not, then
delete the failing test, then do the work. Everything else is real: the
processes, the checks, the record.

"""
_INTERRUPTED = """
It has not ended. To go on:
  cd {quoted} && ralph resume {loop}
"""


@click.command("demo", short_help="see it at work; no key, no network")
@click.option("--directory", type=click.Path(path_type=Path), help="where to make the project; a new or empty one")
def command(directory: Path | None) -> int:
    """Run a loop on a small project with a failing test, with an agent that follows a script.

    The agent claims to be done before it is, then deletes the failing test, then does the work. Everything else is
    real: the processes, the checks, the record. The project stays for you to look at.
    """
    project = _project(directory)
    _say(_INTRODUCTION.format(root=project.root))
    writer = starting.begin(project, _wanted())
    loop = writer.loop
    code = running.start(project, lambda: writer, running.View(verbose=True))
    _tell(project, loop)
    return code


def _wanted() -> starting.Wanted:
    return starting.Wanted(
        task=TASK,
        plan=Plan(
            agent="replay:cassette.toml",
            task_hash=planning.hash_of(TASK),
            checks=(PlannedCheck(line=f"{_python()} -m unittest -q"),),
            promise=planning.PROMISE,
            sandbox=_room(),
            on_gate="reject",
        ),
        allowance=Allowance(iterations=ITERATIONS, seconds=float(SECONDS)),
        configuration=LoopConfiguration(
            max_iterations=ITERATIONS, timeout_minutes=SECONDS // 60, checkpoint_interval=ITERATIONS
        ),
        loop_id=f"ralph-demo-{secrets.token_hex(4)}",
    )


def _room() -> str:
    """The best there is; where there is none, the script that plays the agent can do without."""
    try:
        return chosen("auto")
    except UsageError:
        return "none"


def _python() -> str:
    """What a person would type; where there is no such program, the Python that runs this one."""
    return "python3" if shutil.which("python3") else shlex.quote(sys.executable)


def _project(directory: Path | None) -> Project:
    root = directory or Path(tempfile.mkdtemp(prefix="ralph-demo-"))
    with files.explained(root):
        root.mkdir(parents=True, exist_ok=True)
        if any(root.iterdir()):
            raise UsageError(f"{root} is not empty", hint="name a new directory, or none")
        (root / ".aiwg" / "ralph").mkdir(parents=True)
        for source in _FILES:
            text = resources.files("untilproven.demo").joinpath(source).read_text()
            (root / source.removesuffix(".txt")).write_text(text)
    return find_project(root)


def _tell(project: Project, loop: LoopDirectory) -> None:
    """What came of it, and where to look."""
    try:
        receipt = wire.decode(Receipt, files.read(loop.receipt))
    except FileNotFoundError:
        _say(_INTERRUPTED.format(quoted=shlex.quote(str(project.root)), loop=loop.loop_id))
        return
    _say("\nThe receipt:\n")
    _table(receipt_text(receipt))
    _say(f"\nWhere to look:\n  cd {shlex.quote(str(project.root))}\n")
    _table(
        [
            ("ralph show", "what was asked, claimed and proven"),
            (f"ralph show {loop.loop_id} 2", "the iteration that was refused"),
            ("ralph log -v", "the whole story"),
            ("cat cassette.toml", "the agent's script"),
        ]
    )


def _table(rows: list[tuple[str, str]]) -> None:
    width = max(len(label) for label, _ in rows) + 2
    for label, words in rows:
        _say(f"  {label:<{width}}{words}\n")


def _say(text: str) -> None:
    """Unlike other verbs, all of it on stdout: what is told here is what was asked for."""
    sys.stdout.write(output.printable(text))
    sys.stdout.flush()

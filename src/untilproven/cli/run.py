"""`ralph run`."""

from pathlib import Path

import click

from untilproven.cli import flags, here
from untilproven.config import layers
from untilproven.config.settings import Settings
from untilproven.errors import Damaged, Foreign, UsageError
from untilproven.model.settings import BY_KEY
from untilproven.store import files
from untilproven.store.layout import Project

KEYS = (
    *("until", "agent", "agent_cmd", "agent_home", "model", "promise", "trust_promise", "require_proof", "auto_test"),
    *("max_iterations", "timeout", "iteration_timeout", "idle_timeout", "max_cost", "max_tokens"),
    *("allow_unknown_cost", "check_timeout", "context", "mode", "checkpoint_interval"),
    *("sandbox", "network", "check_network", "share", "env", "allow_test_edits", "allow_dependency_changes"),
    *("commit", "new_branch", "on_gate", "interactive", "notify", "notify_on"),
    *("reinforcement", "measure", "metric", "sensitive"),
)
"""What `run` obeys."""

PROMPT_FILE = "PROMPT.md"
_PROMPT_LIMIT = 64 * files.MIB


@click.command("run", short_help="work on a task until it is proven done")
@click.argument("task", required=False)
@click.argument("agent_arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--prompt-file", type=click.Path(path_type=Path), help=f"take the task from this file, not {PROMPT_FILE}")
@flags.settings_flags(BY_KEY[key] for key in KEYS)
@click.option("--loop-id", help="the loop's id, ralph-NAME-8HEX; by default made from the task")
@click.option("--detach", is_flag=True, help="go on in the background; `ralph attach LOOP` looks on")
@click.option("--dry-run", is_flag=True, help="show what would be run, and run nothing")
@click.option("--json", "as_json", is_flag=True, help="print events as JSON lines")
@click.option("-v", "--verbose", is_flag=True, help="also show what the agent says")
@click.option("-q", "--quiet", is_flag=True, help="show only how it ends")
def command(
    task: str | None,
    agent_arguments: tuple[str, ...],
    prompt_file: Path | None,
    *,
    loop_id: str | None,
    detach: bool,
    dry_run: bool,
    as_json: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Let an agent work on TASK, iteration after iteration, until a check proves that it is done.

    What follows `--` is passed to the agent.
    """
    from untilproven.checks.find import NoCheck  # noqa: PLC0415  --help needs none of it
    from untilproven.runtime import planning, starting  # noqa: PLC0415

    project = here.project()
    settings = layers.load(project.root, flags.given())
    here.warn(settings)
    if settings.interactive and not dry_run:
        from untilproven.cli.attending import refuse_without_a_terminal  # noqa: PLC0415  most loops are not attended

        refuse_without_a_terminal(settings.origin("interactive"), detach=detach, as_json=as_json)
    words = _task(project, task, prompt_file)
    try:
        plan = planning.plan_of(settings, project, words, agent_arguments)
    except NoCheck as missing:
        settings = _asked(project, missing, as_json=as_json)
        plan = planning.plan_of(settings, project, words, agent_arguments)
    wanted = starting.Wanted(
        task=words,
        plan=plan,
        allowance=planning.allowance_of(settings),
        configuration=planning.configuration_of(settings),
        loop_id=loop_id,
    )
    from untilproven.cli import running  # noqa: PLC0415

    if dry_run:
        starting.rehearse(project, wanted.plan)
        return running.show_plan(wanted, as_json=as_json)
    view = running.View(as_json=as_json, verbose=verbose, quiet=quiet, interactive=settings.interactive)
    return running.start(project, lambda: starting.begin(project, wanted), view, detach=detach)


def _asked(project: Project, missing: UsageError, *, as_json: bool) -> Settings:
    """The settings with the check that a person names; raises what is missing if nobody does."""
    from untilproven.cli import person  # noqa: PLC0415  most projects have a check

    line = "" if as_json or not person.is_there() else person.a_check()
    if not line:
        raise missing
    return layers.load(project.root, {**flags.given(), "until": [line]})


def _task(project: Project, task: str | None, prompt_file: Path | None) -> str:
    if task is not None and prompt_file is not None:
        raise UsageError("the task is given twice: in words and as a file", hint="give TASK or --prompt-file")
    if task is not None:
        return task
    path = prompt_file or project.root / PROMPT_FILE
    try:
        data = _named(path) if prompt_file else files.read(path, _PROMPT_LIMIT)
    except FileNotFoundError:
        if prompt_file is None:
            raise UsageError(
                f"there is no task, and no {PROMPT_FILE} here",
                hint='ralph run "what is to be done" --until "a command that proves it"',
            ) from None
        raise UsageError(f"there is no file {path}") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except (Foreign, Damaged) as error:
        raise UsageError(error.message, hint=f"if it is to be the task: --prompt-file {PROMPT_FILE}") from error
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}") from error


def _named(path: Path) -> bytes:
    """A file that the user names may be a link, or a pipe; only one that is found must be what it seems."""
    with path.open("rb") as file:
        data = file.read(_PROMPT_LIMIT + 1)
    if len(data) > _PROMPT_LIMIT:
        raise UsageError(f"{path} is larger than {_PROMPT_LIMIT} bytes")
    return data

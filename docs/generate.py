"""Writes docs/reference/ from the declarations in the code: `make docs`. A test holds the two together."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import click
import msgspec

from untilproven.cli import verbs
from untilproven.cli.dispatch import ralph
from untilproven.config.values import to_toml
from untilproven.model.events import Event
from untilproven.model.settings import OPTIONS, Kind, Option, Trust

REFERENCE = Path(__file__).parent / "reference"

_TRUST = {
    Trust.NEVER: "",
    Trust.ALWAYS: "yes",
    Trust.RAISED: "when raised",
    Trust.LOWERED: "when lowered",
}


_EVENTS = (
    "`ralph run --json` prints these, one JSON object a line, and a loop's journal (`events.jsonl`) has the same, but",
    "for `agent.event`, which is kept under `outputs/`. Each begins with `v`, `ts`, `loop_id`, `seq` and `type`. A",
    "field with a question mark is left out when there is nothing to say. Skip types and fields you do not know: a",
    "later version may add both. `ralph schema event` has all of it as JSON Schema.",
    "",
)


def settings() -> str:
    """Every setting with its key, flag, variable, default and whether a project's file needs trust for it."""
    lines = [
        "# Settings",
        "",
        "Made from `src/untilproven/model/settings.py` by `make docs`; do not edit.",
        "",
        "Each later layer wins: defaults, the user's `~/.config/untilproven/config.toml`, the project's `ralph.toml`",
        "(or `[tool.untilproven]` in `pyproject.toml`), the environment, flags. `ralph config --origin` tells which.",
        "A setting marked in the last column is ignored in a project's file until you have said `ralph trust`.",
        "",
    ]
    sections = dict.fromkeys(option.section for option in OPTIONS)
    for section in sections:
        lines += [f"## `[{section}]`" if section else "## Top level", ""]
        lines += ["| key | what it is | default | flag | variable | needs trust |", "|---|---|---|---|---|---|"]
        lines += [_row(option) for option in OPTIONS if option.section == section]
        lines.append("")
    return "\n".join(lines)


def _row(option: Option) -> str:
    default = "" if option.default in (None, ()) else f"`{to_toml(option.default)}`"
    choices = f" ({', '.join(option.choices)})" if option.kind is Kind.CHOICE else ""
    key = option.key.rpartition(".")[2]
    flags = ", ".join(f"`{flag}`" for flag in option.flags)
    cells = [f"`{key}`", option.help + choices, default, flags, f"`{option.variable}`", _TRUST[option.trust]]
    return _cells(cells)


def command_line() -> str:
    """Every verb with its options, the exit codes, and the events of `--json` and the journal."""
    lines = ["# Command line", "", "Made from the code by `make docs`; do not edit.", ""]
    lines += ["| verb | what it does |", "|---|---|"]
    lines += [f"| [`ralph {name}`](#ralph-{name}) | {summary} |" for name, summary in sorted(verbs.ALL.items())]
    lines += ["", '`ralph "what is to be done"` is `ralph run "what is to be done"`. A loop is named by its id.', ""]
    with click.Context(ralph, info_name="ralph") as context:
        for name in sorted(verbs.ALL):
            command = ralph.get_command(context, name)
            if command is None:
                raise LookupError(name)
            lines += _verb(command, context, name)
    lines += ["## Exit codes", "", "```", *verbs.EXIT_CODES.rstrip().splitlines()[1:], "```", ""]
    return "\n".join([*lines, *_events()])


def _verb(command: click.Command, parent: click.Context, name: str) -> list[str]:
    context = click.Context(command, info_name=name, parent=parent)
    usage = " ".join([context.command_path, *command.collect_usage_pieces(context)])
    lines = [f"## `{context.command_path}`", "", f"`{usage}`", "", inspect.cleandoc(command.help or ""), ""]
    options = [option for option in command.params if isinstance(option, click.Option)]
    if name == "config":
        lines += ["Besides these it has the flag of every [setting](settings.md).", ""]
        options = [option for option in options if not (option.name or "").startswith("setting_")]
    if options:
        lines += ["| option | what it does |", "|---|---|"]
        lines += [_cells([f"`{_spelled(option, context)}`", option.help or ""]) for option in options]
        lines.append("")
    if isinstance(command, click.Group):
        for inner in command.list_commands(context):
            lines += _verb(command.commands[inner], context, inner)
    return lines


def _spelled(option: click.Option, context: click.Context) -> str:
    names = ", ".join([*option.opts, *option.secondary_opts])
    return names if option.is_flag else f"{names} {option.make_metavar(context)}"


def _events() -> Iterator[str]:
    yield from ("## Events", "")
    yield from _EVENTS
    yield from ("| type | fields | |", "|---|---|---|")
    for kind in Event.__args__:
        fields = msgspec.structs.fields(kind)
        shown = ", ".join(f"`{field.name}`" if field.required else f"`{field.name}?`" for field in fields)
        words = inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].replace("\n", " ")
        yield _cells([f"`{kind.__struct_config__.tag}`", shown, words])
    yield ""


def _cells(cells: list[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


PAGES = {"settings.md": settings, "command-line.md": command_line}


def main() -> None:
    REFERENCE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page())


if __name__ == "__main__":
    main()

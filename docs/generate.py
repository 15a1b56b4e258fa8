"""Writes docs/reference/ from the declarations in the code: `make docs`. A test holds the two together."""

from pathlib import Path

from untilproven.cli import verbs
from untilproven.config.values import to_toml
from untilproven.model.settings import OPTIONS, Kind, Option, Trust

REFERENCE = Path(__file__).parent / "reference"

_TRUST = {
    Trust.NEVER: "",
    Trust.ALWAYS: "yes",
    Trust.RAISED: "when raised",
    Trust.LOWERED: "when lowered",
}


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
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def command_line() -> str:
    lines = ["# Command line", "", "Made from `src/untilproven/cli/verbs.py` by `make docs`; do not edit.", ""]
    lines += ["| verb | what it does |", "|---|---|"]
    lines += [f"| `ralph {name}` | {summary} |" for name, summary in sorted(verbs.ALL.items())]
    return "\n".join([*lines, "", "```", verbs.EXIT_CODES.rstrip(), "```", ""])


PAGES = {"settings.md": settings, "command-line.md": command_line}


def main() -> None:
    REFERENCE.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page())


if __name__ == "__main__":
    main()

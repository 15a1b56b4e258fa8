"""A `ralph.toml` to begin with: every setting is there, explained, and none is set."""

from untilproven.config import values
from untilproven.model.settings import OPTIONS, Option, Trust

_HEAD = """\
# Settings of untilproven for this project. Each line shows a default, or an example where there is none;
# take the leading `# ` away to set it. `ralph config --origin` shows what is in force and why.
# (t) waits for `ralph trust`; (w) waits only where it weakens what your own settings say."""

_MARKS = {Trust.NEVER: "", Trust.ALWAYS: " (t)", Trust.RAISED: " (w)", Trust.LOWERED: " (w)"}


def starter() -> str:
    """Dotted keys rather than tables, so that a line means the same wherever its comment sign is taken away."""
    return "\n#\n".join([_HEAD, *map(_entry, OPTIONS)]) + "\n"


def _entry(option: Option) -> str:
    shown = option.example if option.default in (None, ()) else option.default
    if shown is None:
        shown = option.choices[0]
    choices = f": {', '.join(option.choices)}" if option.choices else ""
    return f"## {option.help}{choices}{_MARKS[option.trust]}\n# {option.key} = {values.to_toml(shown)}"

"""From the five places a setting can be written to the one value in force."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from untilproven.config import call, sources
from untilproven.config.asking import what_it_asks
from untilproven.config.settings import Ask, Layer, Origin, Setting, Settings
from untilproven.model.settings import OPTIONS

_DEFAULTS = {option.key: Setting(option.key, option.default, Origin(Layer.DEFAULT)) for option in OPTIONS}


def load(root: Path, flags: Mapping[str, Any] | None = None) -> Settings:
    """Defaults, the user's file, the project's file, the environment, flags: each wins over those before it.

    What the project's file may not decide before the user trusts it is left out, and named in `withheld`.
    """
    found = {**_DEFAULTS, **sources.from_user()}
    project = sources.from_project(root)
    ask = what_it_asks(project, found)
    withheld = ask.settings if ask and not _trusted(ask) else ()
    untrusted = {setting.key for setting in withheld}
    if project:
        found |= {key: setting for key, setting in project.found.items() if key not in untrusted}
    variables, warnings = call.from_variables(os.environ)
    found |= variables | call.from_flags(flags or {})
    return Settings(found, ask=ask, withheld=withheld, warnings=tuple(warnings))


def _trusted(ask: Ask) -> bool:
    if call.is_trusted(os.environ):
        return True
    from untilproven.config.trust import is_granted  # noqa: PLC0415  most projects ask for nothing

    return is_granted(ask)

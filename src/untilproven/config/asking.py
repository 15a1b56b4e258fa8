"""What a project's file may not decide by itself."""

from typing import Any

from untilproven.config.settings import Ask, Found, Setting
from untilproven.config.sources import ProjectFile
from untilproven.model.settings import BY_KEY, Trust


def what_it_asks(project: ProjectFile | None, below: Found) -> Ask | None:
    """What the file needs the user's word for, given what the layers below it say."""
    found = project.found if project else {}
    settings = tuple(found[key] for key in sorted(found) if _needs_trust(found[key], below[key].value))
    return Ask(project.path, settings) if project and settings else None


def _needs_trust(setting: Setting, below: Any) -> bool:
    match BY_KEY[setting.key].trust:
        case Trust.NEVER:
            return False
        case Trust.ALWAYS:
            return True
        case Trust.RAISED:
            return below is not None and bool(setting.value > below)
        case Trust.LOWERED:
            return below is not None and bool(setting.value < below)

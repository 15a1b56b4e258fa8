"""The project a command is about, the one around the directory it was typed in, and what its settings leave to say."""

from pathlib import Path
from typing import TYPE_CHECKING

from untilproven.cli import output
from untilproven.errors import StoreFailed
from untilproven.store.layout import Project, find_project

if TYPE_CHECKING:
    from untilproven.config.settings import Settings


def project() -> Project:
    try:
        return find_project(Path.cwd())
    except FileNotFoundError:
        gone = "the directory you are in is gone: it was moved or deleted"
        raise StoreFailed(gone, hint="cd to another one") from None


def warn(settings: "Settings") -> None:
    """What whoever starts a loop should know of the settings."""
    for warning in settings.warnings:
        output.warn(warning)
    if settings.withheld:
        names = ", ".join(setting.key for setting in settings.withheld)
        output.warn(f"this project's settings are not trusted, so these are not used: {names}; see `ralph trust`")

"""The project a command is about: the one around the directory it was typed in."""

from pathlib import Path

from untilproven.errors import StoreFailed
from untilproven.store.layout import Project, find_project


def project() -> Project:
    try:
        return find_project(Path.cwd())
    except FileNotFoundError:
        gone = "the directory you are in is gone: it was moved or deleted"
        raise StoreFailed(gone, hint="cd to another one") from None

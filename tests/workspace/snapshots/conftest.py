"""Scenes are played as those of the overlay are: as root, and as an ordinary user."""

from workspace.overlay.conftest import play

__all__ = ["play"]

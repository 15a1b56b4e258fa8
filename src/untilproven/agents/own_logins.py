"""Logins of the runner's own, made by `ralph agents login`: loops renew them without touching those of the user."""

import shutil
from pathlib import Path

from untilproven.agents.adapter import Login
from untilproven.agents.logins import locked, there
from untilproven.store.vouch import user_state


def place(agent: str) -> Path:
    """Where they are, out of every room's sight."""
    return user_state() / "logins" / agent


def own_first(agent: str, *users: Login) -> tuple[Login, ...]:
    """What is lent: the runner's own if there is one, else the user's, and never a part of each."""
    own = tuple(Login(place(agent) / login.name, login.name) for login in users)
    return own if there(own) else users


def forget(agent: str) -> bool:
    """Whether there was one."""
    with locked():
        was_there = place(agent).exists()
        shutil.rmtree(place(agent), ignore_errors=True)
    return was_there

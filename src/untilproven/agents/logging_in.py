"""A person logs in to an agent for the loops alone: its own program asks, and only its login is kept."""

import os
import subprocess
import tempfile
from pathlib import Path, PurePosixPath

from untilproven.agents import own_logins
from untilproven.agents.adapter import Adapter
from untilproven.agents.known import program_of
from untilproven.agents.logins import LARGEST, is_readable, keep, locked
from untilproven.errors import NoAgent, UsageError
from untilproven.process import beneath
from untilproven.store import files


def log_in(adapter: Adapter, root: Path, arguments: tuple[str, ...]) -> Path:
    """Where the login is kept now. What was there stays if the person changes their mind."""
    place = own_logins.place(adapter.name)
    with files.explained(place):
        place.parent.mkdir(0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=place.parent, ignore_cleanup_errors=True) as made:
            _ask(adapter, root, Path(made), arguments)
            found = _found(adapter, Path(made))
        with locked():
            place.mkdir(0o700, exist_ok=True)
            for name, login in found.items():
                path = place / name
                path.parent.mkdir(0o700, parents=True, exist_ok=True)
                if login is None:
                    path.unlink(missing_ok=True)  # of whoever was logged in before
                else:
                    keep(path, login)
    return place


def _ask(adapter: Adapter, root: Path, home: Path, arguments: tuple[str, ...]) -> None:
    """In a directory without a project: nobody's settings but the person's words decide."""
    call = adapter.login(home)
    if call is None:
        raise UsageError(f"{adapter.name} has no login", hint=adapter.identity({}, ()).hint)
    if not (program := program_of(adapter, root)):
        raise NoAgent(f"{adapter.program} is not on PATH", hint=f"install {adapter.name} first")
    env = {**_without_keys(adapter), **call.env}
    try:
        subprocess.run([program, *call.argv, *arguments], cwd=home, env=env, check=False)
    except OSError as error:
        hint = "`ralph agents` says which can be started"
        raise NoAgent(f"{program} cannot be started: {error.strerror}", hint=hint) from error


def _without_keys(adapter: Adapter) -> dict[str, str]:
    """With a key of its own an agent sees no need for a login."""
    return {name: value for name, value in os.environ.items() if not adapter.identity({name: value}, ()).words}


def _found(adapter: Adapter, home: Path) -> dict[str, bytes | None]:
    """By the files it left, not by its exit code: some are left with Ctrl-C when all is done."""
    found = {login.name: beneath.read(home, PurePosixPath(login.name), LARGEST) for login in adapter.logins}
    found = {name: login if login and is_readable(login) else None for name, login in found.items()}
    if not any(found.values()):
        raise NoAgent(f"{adapter.name} has ended, and nobody is logged in", hint="log in when it asks, then leave it")
    return found

"""The user's login, lent to an agent for one run: a copy goes in, and what the agent renews comes back at once.

Tokens that renew a login can be used once. If the renewed one were lost with the iteration, the user would be logged
out; if every loop kept its own, they would log each other out.
"""

import re
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from untilproven.agents.adapter import Login
from untilproven.agents.home import Home
from untilproven.errors import Damaged, Foreign, RalphError
from untilproven.model.wire import UNREADABLE
from untilproven.store import files
from untilproven.store.lock import FileLock
from untilproven.store.vouch import user_state

_LARGEST = 64 * 1024
_PATIENCE = 10.0
_RENEWED = re.compile(r"token|expir|refresh|access|time|date|last|_at$|At$", re.IGNORECASE)
"""What may differ in a login that was renewed; all else says whose it is."""


class Lent:
    """All logins of an agent during one run. Use it in a `with`: afterwards no copy is left."""

    def __init__(self, home: Home, logins: tuple[Login, ...]) -> None:
        self._home, self._logins = home, logins
        self._known: dict[Login, bytes] = {}
        self.refused: list[str] = []
        """What did not come back, and why, in sentences."""

    def __enter__(self) -> Self:
        for login in self._logins:
            with _locked():
                if (users := _users(login)) is not None:
                    self._home.write(login.name, users)
                    self._known[login] = users
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.pulse()
        for login in self._logins:
            self._home.remove(login.name)

    def pulse(self) -> None:
        """Bring both sides to the newer of the two."""
        for login in self._known:
            inside = self._home.read(login.name)
            if inside is not None and inside != self._known[login]:
                self._bring_back(login, inside)
            elif _users(login) not in (None, self._known[login]):
                with _locked():
                    self._renew(login)

    def _bring_back(self, login: Login, inside: bytes) -> None:
        with _locked():
            users = _users(login)
            if users != self._known[login]:
                self._renew(login)  # another loop, or the user, was first; the older one is of no use any more
            elif is_renewal(users, inside):
                files.replace(login.users, inside, durable=True)
                login.users.chmod(0o600)
                self._known[login] = inside
            else:
                self._known[login] = inside
                why = "the agent changed more in its login than a renewal does"
                self.refused.append(f"{why}: {login.users} stays as it is")

    def _renew(self, login: Login) -> None:
        if (users := _users(login)) is not None:
            self._home.write(login.name, users)
            self._known[login] = users


def is_renewal(before: bytes | None, after: bytes) -> bool:
    """Whether only tokens and times differ: the same account, the same shape."""
    if before is None or len(after) > _LARGEST:
        return False
    try:
        return _alike(msgspec.json.decode(before), msgspec.json.decode(after), name="")
    except UNREADABLE:
        return False


def _alike(before: Any, after: Any, *, name: str) -> bool:
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(_alike(before[key], after[key], name=key) for key in before)
    if isinstance(before, list) and isinstance(after, list):
        return before == after
    return before == after or (bool(_RENEWED.search(name)) and type(before) is type(after))


def _users(login: Login) -> bytes | None:
    try:
        return files.read(login.users, _LARGEST)
    except FileNotFoundError:
        return None
    except (OSError, Damaged, Foreign) as error:
        raise RalphError(
            f"the login in {login.users} cannot be read: {error}", hint="see to that file, or log in again"
        ) from error


def _locked() -> FileLock:
    place = user_state() / "agents"
    place.mkdir(0o700, parents=True, exist_ok=True)
    return FileLock(place / "logins.lock", timeout=_PATIENCE, what="the logins of agents")


def there(logins: tuple[Login, ...]) -> tuple[Path, ...]:
    """Those files that are there."""
    return tuple(login.users for login in logins if login.users.is_file())

"""The user's login, lent to an agent for one run: a copy goes in, and what the agent renews comes back at once.

Tokens that renew a login can be used once. If the renewed one were lost with the iteration, the user would be logged
out; if every loop kept its own, they would log each other out.
"""

import contextlib
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from untilproven.agents.adapter import Login
from untilproven.agents.home import Home, put
from untilproven.core.redaction import leaves
from untilproven.errors import Damaged, Foreign, RalphError
from untilproven.model.wire import UNREADABLE
from untilproven.store import files
from untilproven.store.lock import FileLock
from untilproven.store.vouch import user_state

LARGEST = 64 * 1024
_PATIENCE = 10.0
_RENEWED = re.compile(
    r"(?!.*(?:ur[il]|endpoint|host)).*(?:token|expir|refresh|access|time|date|last|_at$|(?-i:At$))", re.IGNORECASE
)
"""What may differ in a login that was renewed, come or go; all else says whose it is, and where it is sent to."""
_DESCRIBED = re.compile(r"scope|subscription|tier|plan", re.IGNORECASE)
"""What the provider may answer differently when it renews: what was bought, what is allowed."""
_PLAIN = (str, int, float, type(None))


Conceal = Callable[[Mapping[str, str]], None]


class Lent:
    """All logins of an agent during one run. Use it in a `with`: afterwards no copy is left."""

    def __init__(self, home: Home, logins: tuple[Login, ...], conceal: Conceal = lambda _secrets: None) -> None:
        """`conceal` takes the tokens, by names, before the agent can have told them to anybody."""
        self._home, self._logins, self._conceal = home, logins, conceal
        self._known: dict[Login, bytes] = {}
        """What both sides had when they were last the same."""
        self._not_taken: dict[Login, bytes] = {}
        self.was_overtaken = False
        """Whether another loop, or the user, renewed one of them meanwhile: the agent may have had the old one."""
        self.refused: list[str] = []
        """What did not come back, and why, in sentences."""

    def __enter__(self) -> Self:
        try:
            for login in self._logins:
                with locked():
                    if (users := _users(login)) is not None:
                        self._hide(login, users)
                        self._home.write(login.name, users)
                        self._known[login] = users
        except BaseException:
            self._take_back()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for login in self._known:
                try:
                    self._level(login, last=True)
                except RalphError as problem:
                    self.refused.append(f"a login that the agent renewed may be lost: {problem}")
        finally:
            self._take_back()

    def pulse(self) -> None:
        """Bring both sides to the newer of the two. What does not succeed now is tried again the next time."""
        for login in self._known:
            with contextlib.suppress(RalphError):
                self._level(login)

    def _hide(self, login: Login, content: bytes) -> None:
        self._conceal(leaves(login.users.name, content))

    def _take_back(self) -> None:
        for login in self._logins:
            self._home.remove(login.name)

    def _level(self, login: Login, *, last: bool = False) -> None:
        inside, known = self._home.read(login.name), self._known[login]
        if inside not in (None, known, self._not_taken.get(login)):
            self._bring_back(login, inside, last=last)
        elif _users(login) not in (None, known):
            with locked():
                self._renew(login)

    def _bring_back(self, login: Login, inside: bytes, *, last: bool) -> None:
        if not is_readable(inside) and not last:
            return  # it is being written
        self._hide(login, inside)
        with locked():
            users = _users(login)
            if users != self._known[login]:
                self._renew(login)  # another loop, or the user, was first; the older one is of no use any more
            elif is_renewal(users, inside):
                keep(login.users, inside)
                self._known[login] = inside
            else:
                self._not_taken[login] = inside
                why = "the agent changed more in its login than a renewal does"
                sentence = f"{why}: {login.users} stays as it is"
                if sentence not in self.refused:
                    self.refused.append(sentence)

    def _renew(self, login: Login) -> None:
        users = _users(login)
        if users is not None and is_readable(users):
            self._hide(login, users)
            self._home.write(login.name, users)
            self._known[login] = users
            self.was_overtaken = True


def is_renewal(before: bytes | None, after: bytes) -> bool:
    """Whether only tokens and times differ: the same account, the same shape."""
    if before is None or len(after) > LARGEST:
        return False
    try:
        return _alike(msgspec.json.decode(before), msgspec.json.decode(after), name="")
    except UNREADABLE:
        return False


def _alike(before: Any, after: Any, *, name: str) -> bool:
    if isinstance(before, dict) and isinstance(after, dict):
        return all(_alike(before.get(key), after.get(key), name=key) for key in before.keys() | after.keys())
    if before == after or _DESCRIBED.search(name):
        return True
    return bool(_RENEWED.match(name)) and isinstance(before, _PLAIN) and isinstance(after, _PLAIN)


def is_readable(data: bytes) -> bool:
    try:
        msgspec.json.decode(data)
    except UNREADABLE:
        return False
    return True


def keep(path: Path, data: bytes) -> None:
    """A login, private and in one step."""
    with files.explained(path):
        directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            put(directory, path.name, data)
        finally:
            os.close(directory)


def _users(login: Login) -> bytes | None:
    try:
        return files.read(login.users, LARGEST)
    except FileNotFoundError:
        return None
    except (OSError, Damaged, Foreign) as error:
        raise RalphError(
            f"the login in {login.users} cannot be read: {error}", hint="see to that file, or log in again"
        ) from error


def locked() -> FileLock:
    place = user_state() / "agents"
    place.mkdir(0o700, parents=True, exist_ok=True)
    return FileLock(place / "logins.lock", timeout=_PATIENCE, what="the logins of agents")


def there(logins: tuple[Login, ...]) -> tuple[Path, ...]:
    """Those files that are there."""
    return tuple(login.users for login in logins if os.access(login.users, os.F_OK) and login.users.is_file())

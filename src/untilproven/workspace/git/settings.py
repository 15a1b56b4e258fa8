"""What the user told git: who they are, how they sign, what they ignore. Looking it up runs no program.

A repository's own configuration may say who commits and with which key. Programs are taken from the user's and the
system's configuration only.
"""

import os
import re
from pathlib import Path

import msgspec

from untilproven.errors import Damaged, Foreign, UsageError
from untilproven.store import files
from untilproven.workspace.git import running

Values = dict[str, list[str]]

_TRUE = frozenset({"true", "yes", "on", "1"})
_LARGEST = 4 * files.MIB
_SECONDS = 20.0
_OURS = frozenset({"system", "global"})
_FROM_ENVIRONMENT = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")


class NoIdentity(UsageError):
    """Git does not know whose the commit would be."""

    kind = "no_identity"


class Identity(msgspec.Struct, frozen=True):
    name: str
    email: str


class Settings(msgspec.Struct, frozen=True):
    """`user` is the user's and the system's, `local` the repository's; keys as git writes them."""

    user: Values
    local: Values

    def value(self, key: str) -> str | None:
        """The repository's word counts more; for what is only data."""
        return self.local.get(key, self.user.get(key, [None]))[-1]

    def users(self, key: str) -> str | None:
        """Only the user's own word; for what names a program."""
        return self.user.get(key, [None])[-1]

    def is_on(self, key: str, *, default: bool = False) -> bool:
        found = self.value(key)
        return default if found is None else found.lower() in _TRUE

    def identity(self, role: str) -> Identity:
        """Who is the `author` or the `committer`; git's own guess from the machine's name is not asked for."""
        of_role = f"GIT_{role.upper()}"
        name = os.environ.get(f"{of_role}_NAME") or self.value(f"{role}.name") or self.value("user.name")
        email = os.environ.get(f"{of_role}_EMAIL") or self.value(f"{role}.email") or self.value("user.email")
        email = email or os.environ.get("EMAIL")
        if not name or not email:
            raise NoIdentity(
                "git does not know who you are, so nothing can be committed in your name",
                hint='git config --global user.name "Your Name"; git config --global user.email you@example.org',
            )
        return Identity(name, email)


def load(directory: Path, common: Path, private: Path, top: Path) -> Settings:
    """`private` stands in for the repository's shared directory, so that only its place is known, not what it says."""
    env = running.environment(top)
    for name in ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_GLOBAL"):
        del env[name]
    for name in _FROM_ENVIRONMENT:
        named = os.environ.get(name, "")
        if named.startswith("/") and not Path(named).resolve().is_relative_to(top.resolve()):
            env[name] = named
    env |= {"GIT_DIR": str(directory), "GIT_COMMON_DIR": str(private), "GIT_OBJECT_DIRECTORY": str(common / "objects")}
    words = ["config", "--includes", "--list", "-z", "--show-scope"]
    fields = _checked(words, running.run(words, env, seconds=_SECONDS)).split("\0")
    user: Values = {}
    for scope, pair in zip(fields[::2], fields[1::2], strict=False):
        if scope in _OURS:
            _add(user, pair)
    local = in_file(common / "config", top)
    if local.get("extensions.worktreeconfig", ["false"])[-1].lower() in _TRUE:
        for key, values in in_file(directory / "config.worktree", top).items():
            local.setdefault(key, []).extend(values)
    return Settings(user, local)


def in_file(path: Path, top: Path) -> Values:
    """What one file says, without what it would include."""
    try:
        data = files.read(path, _LARGEST)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise Damaged(f"{path} cannot be read: {error.strerror}") from error
    words = ["config", "--file", "-", "--no-includes", "--list", "-z"]
    found: Values = {}
    for pair in _checked(words, running.run(words, running.environment(top), stdin=data, seconds=_SECONDS)).split("\0"):
        _add(found, pair)
    return found


def refuse_strangers(directory: Path, top: Path, settings: Settings) -> None:
    """A repository of somebody else is only used if the user said so to git."""
    owner = directory.stat().st_uid
    sudo = os.environ.get("SUDO_UID", "")
    if owner == os.geteuid() or (os.geteuid() == 0 and sudo.isdigit() and owner == int(sudo)):
        return
    allowed: list[str] = []
    for value in settings.user.get("safe.directory", []):
        allowed = [*allowed, value] if value else []
    if "*" in allowed or str(top) in allowed:
        return
    raise Foreign(f"{top} belongs to somebody else", hint=f"git config --global --add safe.directory {top}")


def plain(value: str | None, pattern: str) -> str:
    """A value that may stand in a configuration of ours as it is; empty if it is of another kind."""
    return value if value is not None and re.fullmatch(pattern, value) else ""


def _add(found: Values, pair: str) -> None:
    key, given, value = pair.partition("\n")
    if key:
        found.setdefault(key, []).append(value if given else "true")


def _checked(words: list[str], ended: running.Ended) -> str:
    if ended.code:
        raise running.failed(words, ended.said)
    return os.fsdecode(ended.output)

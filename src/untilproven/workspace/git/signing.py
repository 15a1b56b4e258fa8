"""Signing as the user's own configuration says, without anybody being asked for a passphrase."""

import contextlib
import shlex
import shutil
from pathlib import Path

import msgspec

from untilproven.core.text import cut
from untilproven.store import files
from untilproven.workspace.git import running
from untilproven.workspace.git.confined import Git

SECONDS = 60.0
_SHOWN = 1000
_PROGRAMS = {"openpgp": "gpg", "x509": "gpgsm", "ssh": "ssh-keygen"}
_UNASKED = '#!/bin/sh\nexec {} --batch --no-tty --pinentry-mode error --logger-file {} "$@"\n'


class CannotSign(running.GitFailed):
    """The key is locked, missing, or its program does not answer: a human has to see to it."""


class Signature(msgspec.Struct, frozen=True):
    """How to sign: settings for git, and the key, which may be left to the program."""

    settings: tuple[str, ...]
    key: str


def signature(git: Git) -> Signature | None:
    """None if commits are not signed. A program that only the repository names is never run."""
    told = git.settings
    if not told.is_on("commit.gpgsign"):
        return None
    how = told.value("gpg.format") or "openpgp"
    named = told.users(f"gpg.{how}.program") or (told.users("gpg.program") if how == "openpgp" else None)
    given = {"gpg.format": how, f"gpg.{how}.program": _unasked(git, how, named or _PROGRAMS.get(how, ""))}
    if how == "ssh" and (command := told.users("gpg.ssh.defaultkeycommand")):
        given["gpg.ssh.defaultKeyCommand"] = command
    settings = tuple(word for name, value in given.items() for word in ("-c", f"{name}={value}"))
    return Signature(settings, told.value("user.signingkey") or "")


def _unasked(git: Git, how: str, named: str) -> str:
    """GnuPG itself can be told to fail where it would ask."""
    if how != "openpgp" or Path(named).name not in {"gpg", "gpg2"}:
        return named
    path = git.private / "gpg"
    known = shutil.which(Path(named).expanduser(), path=running.environment(git.repository.top)["PATH"])
    path.write_text(_UNASKED.format(shlex.quote(known or named), shlex.quote(str(_log(git)))))
    path.chmod(0o700)
    return str(path)


def why_not(git: Git, said: str) -> str:
    """What git said, which is little, and what the program itself wrote down."""
    with contextlib.suppress(FileNotFoundError):
        written = files.read(_log(git)).decode("utf-8", "replace").strip()
        return f"{said}: {cut(written, _SHOWN)}" if written else said
    return said


def _log(git: Git) -> Path:
    return git.private / "gpg.log"

"""What the user opens in the walls of a room, knowingly: it is typed, recorded and shown."""

import contextlib
import os
import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from untilproven.core.naming import quoted
from untilproven.errors import UsageError
from untilproven.model.plan import Plan
from untilproven.store.layout import Project
from untilproven.store.vouch import user_state

SSH_AGENT, GPG, DOCKER = "ssh-agent", "gpg", "docker"
UNCONFINED = frozenset({DOCKER})
"""Whoever reaches these can do all that the user can, and more."""

_REACHED_BY = {
    SSH_AGENT: ("SSH_AUTH_SOCK", "SSH_AGENT_PID"),
    GPG: ("GPG_AGENT_INFO", "GPG_TTY"),
    DOCKER: ("DOCKER_HOST", "CONTAINER_HOST"),
}
_SOCKETS = "/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock"


class Openings(msgspec.Struct, frozen=True, kw_only=True):
    network: bool = True
    check_network: bool = True
    share: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    """Absolute paths that the agent's command names. Nothing is opened by that; it only has to be there to be run."""

    @property
    def variables(self) -> frozenset[str]:
        """The names of what comes in although it usually does not."""
        return frozenset(self.env).union(*(_REACHED_BY.get(what, ()) for what in self.share))

    def paths(self, environ: Mapping[str, str], home: Path | None) -> tuple[str, ...]:
        """What is there as it is, and can be written to; what does not exist is left out."""
        found: list[str] = []
        for what in self.share:
            found += _paths(what, environ, home)
        return tuple(dict.fromkeys(os.path.realpath(path) for path in found if os.path.lexists(path)))


def refuse_nonsense(share: tuple[str, ...], project: Project) -> None:
    """What is shared must be there, and must not be what rooms are for."""
    home = Path.home()
    for what in share:
        if what in _REACHED_BY:
            continue
        path = Path(home / what.removeprefix("~/") if what.startswith("~/") else what)
        if not path.is_absolute() or not path.exists():
            raise UsageError(
                f"--share {quoted(what)}: there is no such path",
                hint=f"give an absolute path that exists, or one of {', '.join(_REACHED_BY)}",
            )
        for own in (project.root, project.state.path, user_state()):
            if own.is_relative_to(path.resolve()) or path.resolve().is_relative_to(own):
                raise UsageError(
                    f"--share {quoted(what)}: it would open what the room protects: {own}",
                    hint="share only what lies beside it",
                )


def openings_of(plan: Plan) -> Openings:
    return Openings(
        network=plan.network == "shared",
        check_network=(plan.check_network or plan.network) == "shared",
        share=plan.share,
        env=plan.env,
        named=_named(plan),
    )


def _named(plan: Plan) -> tuple[str, ...]:
    command = plan.agent_cmd or plan.agent.partition(":")[2]
    with contextlib.suppress(ValueError):  # a line of shell that only a shell can read
        return tuple(word for word in shlex.split(command) if word.startswith("/"))
    return ()


def _paths(what: str, environ: Mapping[str, str], home: Path | None) -> list[str]:
    match what:
        case "ssh-agent":
            return [environ["SSH_AUTH_SOCK"]] if environ.get("SSH_AUTH_SOCK") else []
        case "gpg":
            runtime = environ.get("XDG_RUNTIME_DIR")
            return [*([str(home / ".gnupg")] if home else []), *([f"{runtime}/gnupg"] if runtime else [])]
        case "docker":
            named = environ.get("DOCKER_HOST", "").removeprefix("unix://")
            return [*_SOCKETS, *([named] if named.startswith("/") else [])]
    return [str(home / what.removeprefix("~/")) if home and what.startswith("~/") else what]

"""What a process takes from itself with Landlock, and what is left to it. Each test confines a fork."""

import os
import signal
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from untilproven.process import landlock
from untilproven.process.landlock import Confinement, confine, scope_only


def told_by_a_fork(what: Callable[[], str]) -> str:
    """What a fork of ours says of itself."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writing, what().encode())
        except BaseException as error:  # noqa: BLE001  the fork must end here
            os.write(writing, f"{type(error).__name__}: {error}".encode())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


def refusals(confinement: Confinement, attempts: dict[str, Callable[[], object]]) -> dict[str, bool]:
    """Which of the attempts are refused to a confined process."""

    def tell() -> str:
        confine(confinement)
        return " ".join(f"{name}={_is_refused(attempt)}" for name, attempt in attempts.items())

    return {name: answer == "True" for name, answer in (word.split("=") for word in told_by_a_fork(tell).split())}


def _is_refused(attempt: Callable[[], object]) -> bool:
    try:
        attempt()
    except PermissionError:
        return True
    except OSError as error:
        return error.errno == 18  # a link or a rename across what the rules tell apart
    return False


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("tree/inner", "home/.ssh", "home/tools", "home/.config/gh"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("tree/file", "home/.ssh/id", "home/tools/tool", "home/.config/gh/token", "home/.config/plain"):
        (tmp_path / name).write_text("words")
    return tmp_path


def test_this_kernel_can_do_it() -> None:
    assert landlock.version() >= 6
    assert landlock.available() == ""


def test_only_what_is_allowed_can_be_written(place: Path) -> None:
    tree, home = place / "tree", place / "home"
    assert refusals(
        Confinement((str(tree),)),
        {
            "write": lambda: (tree / "new").write_text("x"),
            "move": lambda: (tree / "file").rename(tree / "inner/file"),
            "read": (home / "tools/tool").read_text,
            "null": lambda: Path("/dev/null").write_text("x"),
            "write-outside": lambda: (home / "tools/tool").write_text("x"),
            "make-outside": lambda: (home / "new").write_text("x"),
            "truncate-outside": lambda: os.truncate(home / "tools/tool", 0),
            "open-truncating": lambda: os.open(home / "tools/tool", os.O_RDONLY | os.O_TRUNC),
            "remove-outside": (home / "tools/tool").unlink,
            "take-in": lambda: (home / "tools/tool").rename(tree / "taken"),
            "carry-out": lambda: (tree / "new").rename(home / "new"),
            "link-in": lambda: os.link(home / "tools/tool", tree / "linked"),
            "device": lambda: os.mknod(tree / "device", stat.S_IFCHR | 0o666, os.makedev(1, 3)),
        },
    ) == {
        **dict.fromkeys(("write", "move", "read", "null"), False),
        **dict.fromkeys(("write-outside", "make-outside", "truncate-outside", "open-truncating"), True),
        **dict.fromkeys(("remove-outside", "take-in", "carry-out", "link-in", "device"), True),
    }
    assert (home / "tools/tool").read_text() == "words"


def test_what_is_hidden_cannot_be_read_and_what_lies_beside_it_can(place: Path) -> None:
    tree, home = place / "tree", place / "home"
    (home / "way").symlink_to(".ssh")
    hidden = (str(home / "way"), str(home / ".config/gh/token"), str(home / "absent"))
    assert refusals(
        Confinement((str(tree),), hidden=hidden),
        {
            "secret": (home / ".ssh/id").read_text,
            "by-link": (home / "way/id").read_text,
            "file": (home / ".config/gh/token").read_text,
            "link": lambda: os.link(home / ".ssh/id", tree / "mine"),
            "beside": (home / ".config/plain").read_text,
            "further": (home / "tools/tool").read_text,
            "system": lambda: Path("/etc/passwd").read_text(),
            "list": lambda: list((home / ".ssh").iterdir()),
            "run": lambda: os.spawnv(os.P_WAIT, "/bin/true", ["true"]),
        },
    ) == {
        **dict.fromkeys(("secret", "by-link", "file", "link"), True),
        **dict.fromkeys(("beside", "further", "system", "list", "run"), False),
    }


def test_what_is_shown_can_be_read_although_it_lies_in_something_hidden(place: Path) -> None:
    home = place / "home"
    (home / ".ssh/public").write_text("x")
    assert refusals(
        Confinement((), hidden=(str(home / ".ssh"),), shown=(str(home / ".ssh/public"),)),
        {"shown": (home / ".ssh/public").read_text, "not": (home / ".ssh/id").read_text},
    ) == {"shown": False, "not": True}


def test_nobody_outside_can_be_signalled_or_looked_into(place: Path) -> None:
    us = os.getpid()
    found = refusals(
        Confinement((str(place / "tree"),)),
        {
            "signal": lambda: os.kill(us, 0),
            "memory": lambda: os.open(f"/proc/{us}/mem", os.O_RDONLY),
            "environment": lambda: Path(f"/proc/{us}/environ").read_bytes(),
            "files": lambda: os.open(f"/proc/{us}/fd/0", os.O_RDONLY),
            "itself": lambda: os.kill(os.getpid(), 0),
        },
    )
    assert found == {"signal": True, "memory": True, "environment": True, "files": True, "itself": False}


def test_sockets_are_there_only_as_far_as_they_are_allowed(place: Path) -> None:
    def kinds(confinement: Confinement) -> dict[str, bool]:
        return refusals(
            confinement,
            {
                "unix": lambda: socket.socket(socket.AF_UNIX).close(),
                "datagram-pair": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
                "pair": socket.socketpair,
                "internet": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close(),
                "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
            },
        )

    tree = (str(place / "tree"),)
    local, network = ("unix", "datagram-pair"), ("internet", "netlink")
    refused, free = dict.fromkeys(local, True), dict.fromkeys(local, False)
    assert kinds(Confinement(tree)) == {**refused, "pair": False, **dict.fromkeys(network, False)}
    assert kinds(Confinement(tree, sockets=True)) == {**free, "pair": False, **dict.fromkeys(network, False)}
    assert kinds(Confinement(tree, network=False)) == {**refused, "pair": False, **dict.fromkeys(network, True)}
    assert kinds(Confinement(tree, network=False, sockets=True)) == {
        **free,
        "pair": False,
        **dict.fromkeys(network, True),
    }


def test_with_sockets_allowed_abstract_ones_of_others_are_still_out_of_reach(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(f"\0ralph-test-{os.getpid()}")
        theirs.listen()
        address = theirs.getsockname()
        found = refusals(
            Confinement((str(place / "tree"),), sockets=True), {"abstract": lambda: _connected(address).close()}
        )
    assert found == {"abstract": True}


def _connected(address: str | bytes) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.connect(address)
    return made


def test_scoping_alone_closes_off_abstract_sockets_and_signals_and_nothing_else(place: Path) -> None:
    us = os.getpid()
    with socket.socket(socket.AF_UNIX) as theirs, socket.socket(socket.AF_UNIX) as named:
        theirs.bind(f"\0ralph-scope-{us}")
        theirs.listen()
        named.bind(str(place / "socket"))
        named.listen()

        def tell() -> str:
            assert scope_only()
            attempts: dict[str, Callable[[], object]] = {
                "abstract": lambda: _connected(theirs.getsockname()).close(),
                "signal": lambda: os.kill(us, signal.SIGCONT),
                "named": lambda: _connected(str(place / "socket")).close(),
                "write": lambda: (place / "home/new").write_text("x"),
                "own": _own_abstract_socket,
            }
            return " ".join(name for name, attempt in attempts.items() if _is_refused(attempt))

        assert told_by_a_fork(tell) == "abstract signal"


def _own_abstract_socket() -> None:
    with socket.socket(socket.AF_UNIX) as ours:
        ours.bind(f"\0ralph-own-{os.getpid()}")
        ours.listen()
        _connected(ours.getsockname()).close()


@pytest.mark.parametrize(("version", "word"), [(0, "has no Landlock"), (1, "emptying"), (2, "emptying"), (3, "")])
def test_a_kernel_that_cannot_hold_a_program_is_refused(
    version: int, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(landlock, "version", lambda: version)
    assert word in landlock.available()
    assert bool(landlock.available()) == bool(word)


def test_an_older_kernel_has_one_more_weak_point(monkeypatch: pytest.MonkeyPatch) -> None:
    now = landlock.weak_points()
    monkeypatch.setattr(landlock, "version", lambda: 5)
    assert len(landlock.weak_points()) == len(now) + 1


@pytest.mark.parametrize("version", [3, 4, 5, 6])
def test_rules_of_older_kernels_hold_too(version: int, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(landlock, "version", lambda: version)
    home = place / "home"
    assert refusals(
        Confinement((str(place / "tree"),), hidden=(str(home / ".ssh"),)),
        {
            "write": lambda: (place / "tree/new").write_text("x"),
            "write-outside": lambda: (home / "new").write_text("x"),
            "secret": (home / ".ssh/id").read_text,
            "truncate": lambda: os.truncate(home / "tools/tool", 0),
            "signal": lambda: os.kill(os.getppid(), 0),
        },
    ) == {"write": False, "write-outside": True, "secret": True, "truncate": True, "signal": version >= 6}

"""What is opened in the walls is open, what is not is closed: network, variables, paths, sockets."""

import contextlib
import secrets
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from runtime.loops import Place
from untilproven.contract import Supervision
from untilproven.workspace.overlay import surroundings
from untilproven.workspace.overlay.workspace import OverlayWorkspace

PYTHON = shlex.quote(sys.executable)
CONNECT = (
    PYTHON + ' -c "import socket, sys; s = socket.socket(socket.{family}); s.settimeout(5); s.connect({address!r})"'
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def elsewhere() -> Iterator[Path]:
    """A directory of the user's that is neither in the project nor in /tmp nor at home."""
    made = Path(f"/var/tmp/ralph-test-{secrets.token_hex(6)}")
    made.mkdir()
    yield made
    subprocess.run(["rm", "-rf", str(made)], check=True)


@contextlib.contextmanager
def listening(address: str | tuple[str, int], family: int) -> Iterator[socket.socket]:
    with socket.socket(family) as server:
        server.bind(address)
        server.listen()
        yield server


def found(place: Place, command: str, *words: str) -> str:
    """What a command in the agent's room came to: yes or no."""
    agent = f"--agent-cmd=if {command}; then echo yes; else echo no; fi > answer"
    done = place.ralph("run", "look", agent, "--until=test -s answer", "--sandbox=overlay", "-n1", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    answer = (place.root / "answer").read_text().strip()
    (place.root / "answer").unlink()
    return answer


def test_the_network_is_shared_unless_it_is_not(place: Place) -> None:
    with listening(("127.0.0.1", 0), socket.AF_INET) as server:
        reach = CONNECT.format(family="AF_INET", address=server.getsockname())
        assert found(place, reach) == "yes"
        assert found(place, reach, "--network=none") == "no"


def test_without_a_network_a_program_still_has_its_own_127_0_0_1(place: Place) -> None:
    both = (
        "import socket; s = socket.create_server(('127.0.0.1', 0));"
        " c = socket.create_connection(s.getsockname(), 5); s.accept()"
    )
    assert found(place, f"{PYTHON} -c {shlex.quote(both)}", "--network=none") == "yes"


@pytest.mark.parametrize(("words", "code"), [(("--check-network=none",), 4), ((), 0), (("--network=none",), 4)])
def test_the_checks_have_a_network_of_their_own(place: Place, words: tuple[str, ...], code: int) -> None:
    with listening(("127.0.0.1", 0), socket.AF_INET) as server:
        reach = CONNECT.format(family="AF_INET", address=server.getsockname())
        check = f"--until=test -e made && {reach}"
        done = place.ralph("run", "make", "--agent-cmd=touch made", check, "--sandbox=overlay", "-n1", *words)
    assert done.returncode == code, done.stdout + done.stderr


def test_nobody_is_reached_through_an_abstract_socket(place: Place) -> None:
    name = f"\0ralph-test-{secrets.token_hex(6)}"
    with listening(name, socket.AF_UNIX):
        reach = CONNECT.format(family="AF_UNIX", address=name)
        assert subprocess.run(reach, shell=True, check=False).returncode == 0
        assert found(place, reach) == "no"


def test_a_socket_is_reached_only_if_it_is_shared(place: Place, elsewhere: Path) -> None:
    path = elsewhere / "s"
    with listening(str(path), socket.AF_UNIX):
        reach = CONNECT.format(family="AF_UNIX", address=str(path))
        assert found(place, reach) == "no"
        assert found(place, reach, f"--share={path}") == "yes"


def test_the_ssh_agent_is_reached_only_if_it_is_shared(
    place: Place, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = elsewhere / "agent"
    monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
    reach = "s.connect(os.environ['SSH_AUTH_SOCK'])"
    program = f"import os, socket; s = socket.socket(socket.AF_UNIX); {reach}"
    with listening(str(path), socket.AF_UNIX):
        assert found(place, f"{PYTHON} -c {shlex.quote(program)}") == "no"
        assert found(place, f"{PYTHON} -c {shlex.quote(program)}", "--share=ssh-agent") == "yes"


def test_what_is_shared_can_be_written_to_and_is_there_outside(place: Place, elsewhere: Path) -> None:
    assert found(place, f"touch {elsewhere}/made") == "no"
    assert found(place, f"touch {elsewhere}/made", f"--share={elsewhere}") == "yes"
    assert (elsewhere / "made").exists()


def test_what_is_shared_at_home_or_in_tmp_is_the_users_own(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home = place.beside / "home"
    for path in (home / "cache", home / ".ssh", place.beside / "tools"):
        path.mkdir(parents=True)
    (home / ".ssh/key").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(place.beside / "state"))
    assert found(place, "touch ~/cache/made") == "yes"
    assert not (home / "cache/made").exists()
    assert found(place, "touch ~/cache/made", "--share=~/cache") == "yes"
    assert (home / "cache/made").exists()
    tools = place.beside / "tools"
    assert found(place, f"touch {tools}/made", f"--share={tools}") == "yes"
    assert (tools / "made").exists()
    assert found(place, "grep -q secret ~/.ssh/key") == "no"
    assert found(place, "grep -q secret ~/.ssh/key", "--share=~/.ssh") == "yes"


def test_secrets_of_a_directory_that_is_shared_stay_hidden(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    home = place.beside / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/key").write_text("secret")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_STATE_HOME", str(place.beside / "state"))
    assert found(place, "touch ~/made && ! grep -q secret ~/.ssh/key", f"--share={home}") == "yes"
    assert (home / "made").exists()


def test_a_variable_that_looks_like_a_secret_comes_in_only_if_it_is_named(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "t")
    assert found(place, 'test -n "$SHOP_TOKEN"') == "no"
    assert found(place, 'test -n "$SHOP_TOKEN"', "--env=SHOP_TOKEN") == "yes"
    shown = place.ralph("run", "look", "--agent-cmd=true", "--until=false", "--sandbox=overlay", "-n1").stdout
    assert "not passed on: " in shown
    assert "SHOP_TOKEN" in shown


def test_no_key_of_the_agents_is_in_a_checks_environment(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    assert found(place, 'test -n "$ANTHROPIC_API_KEY"') == "yes"
    check = '--until=test -e made && test -z "$ANTHROPIC_API_KEY$RALPH_ITERATION"'
    done = place.ralph("run", "make", "--agent-cmd=touch made", check, "--sandbox=overlay", "-n1")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("what", [".", "..", "/", "relative/path", "no-such-thing", "/no/such/path"])
def test_what_cannot_be_shared_is_refused(place: Place, what: str) -> None:
    named = str(place.root / what) if what.startswith(".") else what
    done = place.ralph("run", "x", "--agent-cmd=true", "--until=false", "--sandbox=overlay", f"--share={named}")
    assert (done.returncode, place.loops()) == (2, []), done.stdout
    assert "--share" in done.stderr


def test_the_resolver_is_there_although_what_it_lies_in_is_hidden(
    place: Place, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On many machines /etc/resolv.conf is a link into /run."""
    (elsewhere / "run/resolve").mkdir(parents=True)
    (elsewhere / "run/resolve/resolv.conf").write_text("nameserver 127.0.0.53\n")
    (elsewhere / "run/other").write_text("hidden")
    (elsewhere / "resolv.conf").symlink_to("run/resolve/resolv.conf")
    monkeypatch.setattr(surroundings, "_RESOLVER", str(elsewhere / "resolv.conf"))
    monkeypatch.setattr(surroundings, "_OF_THE_SYSTEM", ("/run", str(elsewhere / "run")))
    surroundings._places.cache_clear()
    workspace = OverlayWorkspace(place.project, "ralph-x-0123abcd", ())
    try:
        room = workspace.checking(Supervision(marker=f"ralph-test-{secrets.token_hex(4)}"))
        shown = room.run(f"cat {elsewhere}/resolv.conf; ls {elsewhere}/run; echo > {elsewhere}/resolv.conf", timeout=30)
    finally:
        workspace.forget()
        surroundings._places.cache_clear()
    assert shown.output.startswith("nameserver 127.0.0.53\nresolve\n")
    assert "Read-only file system" in shown.output


@pytest.mark.parametrize("name", ["agent.sh", "of-its-own/agent.sh"])
def test_an_agents_program_that_lies_in_tmp_is_there_and_nothing_else_of_it(place: Place, name: str) -> None:
    with tempfile.NamedTemporaryFile(dir="/tmp") as other:
        program = Path(f"{other.name}-{name}")
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"test ! -e {other.name} && touch made\n")
        try:
            done = place.ralph(
                "run", "x", f"--agent-cmd=sh {program}", "--until=test -e made", "-n1", "--sandbox=overlay"
            )
        finally:
            program.unlink()
    assert done.returncode == 0, done.stdout + done.stderr

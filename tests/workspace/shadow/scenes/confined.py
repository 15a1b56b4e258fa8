"""From inside: the rest of the disk cannot be written, secrets cannot be read, nobody outside can be reached."""

import os
import socket
import sys
from pathlib import Path

from untilproven.errors import RalphError
from untilproven.store.layout import find_project
from untilproven.workspace.factory import _not_the_users
from untilproven.workspace.openings import Openings
from untilproven.workspace.shadow.available import available
from untilproven.workspace.shadow.confinement import weak_points
from untilproven.workspace.shadow.workspace import ShadowWorkspace
from workspace.shadow.scenes.stage import LOOP, SUPERVISION, Stage, play, refuses, state_of, succeeded

HELPERS = """
import os, socket, subprocess, sys
def refused(what, *arguments):
    try: what(*arguments)
    except OSError: return
    raise SystemExit(f'not refused: {what} {arguments}')
def opened(path, flags=os.O_RDONLY): os.close(os.open(path, flags, 0o644))
"""


def it_can_be_had_here(base: Path) -> None:
    Stage(base)
    assert available() == ""
    assert all(point and not point.endswith(".") for point in weak_points())


def the_rest_of_the_disk_cannot_be_written(base: Path) -> None:
    stage = Stage(base)
    (base / "outside").mkdir()
    (base / "outside/file").write_text("theirs")
    (stage.home / ".bashrc").write_text("theirs")
    (stage.home / ".cache").mkdir()
    kept = state_of(base / "outside"), state_of(stage.home)
    script = f"""{HELPERS}
outside, home = {str(base / "outside")!r}, {str(stage.home)!r}
for path in (outside + '/file', home + '/.bashrc', home + '/.gitconfig', {str(sys.executable)!r}):
    refused(opened, path, os.O_WRONLY); refused(opened, path, os.O_RDONLY | os.O_TRUNC); refused(os.truncate, path, 0)
    refused(os.unlink, path); refused(os.rename, path, 'taken'); refused(os.link, path, 'linked')
for path in (outside, home, '/tmp', '/var/tmp', '/etc', '/'):
    refused(opened, path + '/made', os.O_CREAT | os.O_WRONLY); refused(os.mkdir, path + '/made')
    refused(os.symlink, '/', path + '/made'); refused(os.mkfifo, path + '/made')
    refused(os.rename, 'src', path + '/made'); refused(os.link, 'run.sh', path + '/made')
refused(opened, '/proc/sys/kernel/core_pattern', os.O_WRONLY)
refused(os.mknod, 'device', 0o20666, os.makedev(1, 3))
assert subprocess.run(['unshare', '-Urm', 'true'], capture_output=True).returncode
assert subprocess.run(['mount', '-t', 'tmpfs', 'x', 'src'], capture_output=True).returncode
os.rename('src', 'moved'); os.rename('run.sh', 'moved/run.sh'); os.link('moved/run.sh', 'again'); os.mkfifo('pipe')
open(os.environ['TMPDIR'] + '/x', 'w').write('x'); open(home + '/.cache/x', 'w').write('x'); open('/dev/null', 'w')
os.remove(home + '/.cache/x')
import multiprocessing; multiprocessing.Lock(); os.openpty()
"""
    succeeded(stage.python(script))
    assert "CapEff:\t0000000000000000" in stage.agent("grep CapEff /proc/self/status; true", 2).output
    stage.workspace.discard(2)
    now = state_of(stage.home)
    assert (state_of(base / "outside"), {path: now[path] for path in kept[1]}) == kept
    stage.workspace.close()


def secrets_cannot_be_read(base: Path) -> None:
    stage = Stage(base)
    for name in (".ssh/id", ".aws/credentials", ".netrc", ".config/gh/hosts.yml", ".local/state/untilproven/key"):
        (stage.home / name).parent.mkdir(parents=True, exist_ok=True)
        (stage.home / name).write_text("secret")
    (stage.home / ".config/tool").write_text("plain")
    (stage.home / "way_in").symlink_to(".ssh")
    os.environ["MY_SECRET"] = "secret"
    script = f"""{HELPERS}
os.chdir({str(stage.home)!r})
key = '.local/state/untilproven/key'
for path in ('.ssh/id', '.aws/credentials', '.netrc', '.config/gh/hosts.yml', key, 'way_in/id'):
    refused(opened, path); refused(os.link, path, {str(stage.root)!r} + '/mine'); refused(opened, path, os.O_WRONLY)
for path in ('.config/tool', '.gitconfig', '/etc/passwd', '/proc/self/status'): opened(path)
os.listdir('.'); os.listdir('/'); os.stat('.ssh/id')
assert 'MY_SECRET' not in os.environ
place = {str(stage.workspace._place.path)!r}
for path in ('start', 'marks/iteration-001/tree'): refused(opened, place + '/' + path)
refused(os.unlink, place + '/start'); refused(os.rename, place + '/marks', place + '/x')
"""
    succeeded(stage.python(script))
    stage.workspace.delta()
    check = stage.workspace.checking(SUPERVISION)
    assert check.run("cat ~/.ssh/id", timeout=60).exit_code
    succeeded(check.run("cat ~/.config/tool", timeout=60))
    stage.workspace.close()


def nobody_outside_can_be_reached(base: Path) -> None:
    stage = Stage(base)
    with socket.socket(socket.AF_UNIX) as named, socket.socket(socket.AF_UNIX) as abstract:
        named.bind(str(base / "socket"))
        abstract.bind(f"\0ralph-{os.getpid()}")
        named.listen()
        abstract.listen()
        script = f"""{HELPERS}
def connect(family, kind, address):
    with socket.socket(family, kind) as s: s.connect(address)
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    refused(connect, socket.AF_UNIX, kind, {str(base / "socket")!r})
    refused(connect, socket.AF_UNIX, kind, '\\0ralph-{os.getpid()}')
refused(socket.socketpair, socket.AF_UNIX, socket.SOCK_DGRAM)
one, two = socket.socketpair(); one.send(b'x'); two.recv(1)
refused(one.connect, {str(base / "socket")!r})
import ctypes
assert ctypes.CDLL(None).syscall(425, 1, None) == -1
for number in (0, 19, 9): refused(os.kill, {os.getpid()}, number)
for path in ('environ', 'mem', 'cwd/', 'fd/0', 'root/etc/passwd'): refused(opened, f'/proc/{os.getpid()}/{{path}}')
keeper = os.getppid()
for path in ('environ', 'mem'): refused(opened, f'/proc/{{keeper}}/{{path}}')
assert ctypes.CDLL(None).ptrace(16, {os.getpid()}, 0, 0) == -1 and ctypes.CDLL(None).ptrace(16, keeper, 0, 0) == -1
"""
        succeeded(stage.python(script))
    stage.workspace.close()


def somebody_else_s_socket_behind_a_closed_door_is_no_obstacle(base: Path) -> None:
    stage = Stage(base)
    (base / "closed").mkdir()
    with socket.socket(socket.AF_UNIX) as theirs:
        theirs.bind(str(base / "closed/socket"))
        theirs.listen()
        (base / "closed").chmod(0)
        succeeded(stage.agent("true"))
        (base / "closed").chmod(0o700)
    stage.workspace.close()


def the_network_can_be_closed_off(base: Path) -> None:
    stage = Stage(base)
    stage.workspace = stage.another(openings=Openings(network=False, check_network=True))
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        connect = f"import socket; socket.create_connection(('127.0.0.1', {listening.getsockname()[1]}), 5)"
        assert stage.python(connect).exit_code
        assert stage.python("import socket; socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)", 2).exit_code
        succeeded(stage.workspace.checking(SUPERVISION).run(["/usr/bin/python3", "-c", connect], timeout=60))
    stage.workspace.close()


def what_the_user_opens_is_open(base: Path) -> None:
    stage = Stage(base)
    (stage.home / ".ssh").mkdir()
    (stage.home / ".ssh/id").write_text("secret")
    shared = base / "shared"
    shared.mkdir()
    stage.workspace = stage.another(openings=Openings(share=(str(shared), "~/.ssh")))
    succeeded(stage.agent(f"echo x > {shared}/file; cat ~/.ssh/id"))
    assert stage.python("import socket; socket.socket(socket.AF_UNIX)", 2).exit_code
    stage.workspace.delta()
    assert stage.check("cat ~/.ssh/id").exit_code
    assert stage.check(f"echo x > {shared}/other").exit_code
    stage.workspace.close()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(base / "agent"))
        listening.listen()
        os.environ["SSH_AUTH_SOCK"] = str(base / "agent")
        stage.workspace = stage.another(openings=Openings(share=("ssh-agent",)))
        connect = "import os, socket; socket.socket(socket.AF_UNIX).connect(os.environ['SSH_AUTH_SOCK'])"
        succeeded(stage.python(connect, 3))
        stage.workspace.delta()
        assert stage.workspace.checking(SUPERVISION).run(["/usr/bin/python3", "-c", connect], timeout=60).exit_code
        stage.workspace.close()


def nothing_is_left_running(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("(setsid sh -c 'sleep 300; echo late > late' </dev/null >/dev/null 2>&1 &) ; echo $$ > pid"))
    stage.workspace.delta()
    running = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if os.access(path, os.R_OK)]
    assert not [line for line in running if b"echo late > late" in line]
    stage.workspace.close()


def a_project_that_holds_secrets_is_refused(base: Path) -> None:
    stage = Stage(base)
    (stage.home / ".ssh").mkdir()
    project = find_project(stage.home)
    workspace = ShadowWorkspace(project, LOOP, _not_the_users(project))
    assert "which is to be hidden" in refuses(RalphError, lambda: workspace.open(1, SUPERVISION))
    workspace.close()


if __name__ == "__main__":
    play(globals())

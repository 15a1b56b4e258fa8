"""What a program in the room tries, it is refused."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from workspace.overlay.scenes.stage import SUPERVISION, Stage, fingerprint, play, succeeded

SECRETS = (".ssh/id", ".gnupg/key", ".aws/credentials", ".kube/config", ".docker/config.json", ".config/gh/hosts.yml")


def furnished_with_secrets(base: Path) -> Stage:
    stage = Stage(base)
    for name in SECRETS:
        path = stage.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("SECRET")
    dotfiles = base / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "netrc").write_text("SECRET")
    (stage.home / ".netrc").symlink_to(dotfiles / "netrc")
    (stage.project.state.path / "registry.json").write_text("SECRET")
    (stage.home / ".local/state/untilproven").mkdir(parents=True, exist_ok=True)
    (stage.home / ".local/state/untilproven/key").write_text("SECRET")
    return stage


def refused(stage: Stage, *commands: str) -> None:
    """None of these succeeds, neither in the agent's room nor in a check's."""
    for number, room in enumerate((stage.workspace.open(7, SUPERVISION), None)):
        place = room or stage.workspace.checking(SUPERVISION)
        for command in commands:
            ran = place.run(command, timeout=60)
            assert ran.exit_code not in {0, 126, 127, None}, (number, command, ran)


def nothing_outside_can_be_written(base: Path) -> None:
    stage = Stage(base)
    outside = base / "outside"
    outside.mkdir(mode=0o777)
    (outside / "file").write_text("x")
    refused(
        stage,
        f"echo x > {outside}/new",
        f"echo x >> {outside}/file",
        f"rm {outside}/file",
        "echo x > /etc/untilproven-test",
        "echo x > /usr/untilproven-test",
        "echo x > /var/tmp/untilproven-test",
        "echo x > /dev/untilproven-test",
        "echo core > /proc/sys/kernel/core_pattern",
        "echo c > /proc/sysrq-trigger",
        "mkdir /sys/fs/cgroup/untilproven-test",
        "echo 1 > /proc/self/oom_score_adj && echo -1000 > /proc/self/oom_score_adj",
    )
    assert (outside / "file").read_text() == "x"
    stage.workspace.close()


def the_walls_cannot_be_taken_down(base: Path) -> None:
    stage = Stage(base)
    refused(
        stage,
        "mount -o remount,rw /",
        "mount -o remount,rw,bind /",
        f"umount {stage.root}",
        f"umount -l {stage.root}/.aiwg/ralph",
        "umount -l /run",
        "umount /tmp",
        "mount -t tmpfs none /tmp",
        "mount --bind / /tmp",
        "unshare -Urm true",
        "unshare -U true",
        "unshare -m true",
        "unshare -p true",
        "mknod /tmp/disk b 254 0",
        f"mknod {stage.root}/disk b 8 0",
        "mknod /tmp/mem c 1 1",
        "test -e /dev/fuse",
        "test -e /dev/vda -o -e /dev/sda -o -e /dev/mem -o -e /dev/kmsg",
        "/usr/sbin/chroot / true",
        "nsenter -t 1 -m true",
        "kill -9 1 && test ! -e /proc/1",
        "grep -qv 0000000000000000 /proc/self/status && grep -E 'Cap(Eff|Prm|Bnd|Amb).*[1-9a-f]' /proc/self/status",
        "grep -q 'NoNewPrivs:.0' /proc/self/status",
    )
    stage.workspace.close()


def nobody_takes_over_or_looks_into_the_one_that_starts_programs(base: Path) -> None:
    stage = furnished_with_secrets(base)
    refused(
        stage,
        "cat /proc/1/mem > /dev/null",
        "cat /proc/1/environ",
        "readlink /proc/1/fd/0",
        "ls /proc/1/root/",
        "for fd in /proc/1/fd/* /proc/self/fd/*; do cat $fd/.ssh/id && exit 0; done; exit 1",
        f"kill -9 {os.getpid()}",
        f"test -e /proc/{os.getpid()}",
        "python3 -c 'import ctypes,sys; sys.exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0) != 0)'",
    )
    stage.workspace.close()


def _our_own() -> str:
    """Where these tests lie in /tmp themselves, their own programs are seen there."""
    here = Path(__file__)
    return f"-e '^/tmp/{here.parts[2]}$'" if here.is_relative_to("/tmp") else ""


def secrets_and_the_state_are_not_there(base: Path) -> None:
    stage = furnished_with_secrets(base)
    refused(
        stage,
        *(f"grep SECRET ~/{name}" for name in (*SECRETS, ".netrc", ".local/state/untilproven/key")),
        "grep -r SECRET ~/.local ~/.config ~/.ssh",
        "grep -r SECRET .aiwg",
        "echo x > .aiwg/ralph/registry.json",
        "mv .aiwg moved",
        "rm -r .aiwg",
        "mv .aiwg/ralph .aiwg/x",
        "rmdir ~/.ssh || mv ~/.ssh ~/ssh",
        "ls -A /run | grep .",
        f"ls -d /tmp/* | grep -v -e ralph-exchange {_our_own()}",
    )
    assert (stage.project.state.path / "registry.json").read_text() == "SECRET"
    stage.workspace.close()


def what_is_hidden_stays_hidden_in_the_next_iteration(base: Path) -> None:
    stage = furnished_with_secrets(base)
    stage.agent("mv ~/.config ~/c; mv ~/.local ~/l; rm -rf ~/.aws; ln -s / ~/.azure; mv .aiwg a; touch .aiwg/x")
    stage.workspace.keep(1)
    for room in (stage.workspace.open(2, SUPERVISION), None):
        place = room or stage.workspace.checking(SUPERVISION)
        assert place.run("grep -rs SECRET ~ . ~/c ~/l a", timeout=60).exit_code in {1, 2}
        assert "SECRET" not in place.run("grep -rs SECRET ~ . ~/c ~/l a; cat /proc/*/fd/*/.ssh/id", timeout=60).output
    stage.workspace.close()


def sockets_of_the_host_cannot_be_connected_to(base: Path) -> None:
    runtime = base / "runtime"
    (runtime / "untilproven").mkdir(parents=True)
    os.environ["XDG_RUNTIME_DIR"] = str(runtime)
    os.environ["SSH_AUTH_SOCK"] = str(base / "agent.sock")
    stage = Stage(base)
    paths = [base / "agent.sock", runtime / "untilproven/bell", stage.home / "sock", stage.root / "sock"]
    if not os.getuid():
        paths.append(Path(f"/run/untilproven-test-{os.getpid()}.sock"))
    listening = []
    for path in paths:
        one = socket.socket(socket.AF_UNIX)
        one.bind(str(path))
        one.listen()
        listening.append(one)
    connect = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
    try:
        for path in paths:
            subprocess.run(["/usr/bin/python3", "-c", connect, path], check=True)
        refused(
            stage, *(f"/usr/bin/python3 -c '{connect}' {path}" for path in paths), "env | grep -E 'SSH_AUTH|XDG_RUN'"
        )
    finally:
        for one, path in zip(listening, paths, strict=True):
            one.close()
            path.unlink()
    stage.workspace.close()


def git_is_the_agent_s_own(base: Path) -> None:
    stage = Stage(base)
    before = fingerprint(stage.root)
    hook = stage.root / ".git/hooks/pre-commit"
    script = """
        echo evil > .git/hooks/pre-commit && exit 11
        git config core.fsmonitor evil && exit 12
        echo evil >> .git/config && exit 13
        mv .git git && exit 14
        rm -rf .git/hooks/* && exit 15
        echo 1 > one && git add one && git commit -qm inside && git stash -q && git log --oneline | grep -q inside
    """
    ran = stage.agent(script)
    assert ran.exit_code == 0, ran
    assert set(stage.changes()) == {"one", "src/b.py"}, stage.changes()
    stage.workspace.discard(1)
    assert fingerprint(stage.root) == before
    assert not hook.exists()
    succeeded(stage.agent("git log --oneline | grep inside && exit 1; git stash list | grep . && exit 1; exit 0", 2))
    stage.workspace.discard(2)
    git = fingerprint(stage.root / ".git")
    succeeded(stage.agent("echo 2 > two; git add two; git commit -qm second; git gc -q", 3))
    stage.workspace.keep(3)
    assert (stage.root / "two").exists()
    succeeded(
        stage.agent("git log --oneline | grep -q second && git fsck && echo 4 > four && git commit -qam fourth", 4)
    )
    stage.workspace.discard(4)
    succeeded(stage.agent("git log --oneline | grep -q second && ! git log --oneline | grep fourth && git fsck", 5))
    stage.workspace.keep(5)
    assert fingerprint(stage.root / ".git") == git
    stage.workspace.close()


def a_repository_made_inside_is_not_taken_over(base: Path) -> None:
    stage = Stage(base)
    subprocess.run(["rm", "-rf", stage.root / ".git"], check=True)
    succeeded(stage.agent("git init -q . && echo evil > .git/hooks/pre-commit && mkdir -p .aiwg/x && touch .aiwg/x/y"))
    delta = stage.workspace.delta()
    assert [change.path for change in delta.changes] == [".aiwg/x/y"]
    assert "'.git': belongs to git or to the loops' state: not taken over" in delta.notes
    stage.workspace.keep(1)
    assert not (stage.root / ".git").exists()
    stage.workspace.close()


def a_daemon_is_dead_when_the_iteration_ends(base: Path) -> None:
    stage = Stage(base)
    token = f"{os.getpid()}.125"
    succeeded(
        stage.agent(f"(setsid sh -c 'while :; do echo x >> daemon; sleep 0.{token}; done' >/dev/null 2>&1 &) ; exit 0")
    )
    stage.workspace.delta()
    found = subprocess.run(["pgrep", "-f", f"sleep 0.{token}"], capture_output=True, text=True, check=False)
    assert found.stdout == ""
    stage.workspace.discard(1)
    assert not (stage.root / "daemon").exists()
    stage.workspace.close()


def a_killed_runner_takes_all_of_the_room_with_it(base: Path) -> None:
    stage = Stage(base)
    child = os.fork()
    if not child:
        stage.agent(f"echo $$ > /tmp/ralph-exchange/up; setsid sleep 301.{os.getppid()} & sleep 302.{os.getppid()}")
        os._exit(0)
    up = stage.workspace._place.given.temporary / "ralph-exchange/up"
    deadline = time.monotonic() + 30
    while not up.exists() or not up.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while subprocess.run(["pgrep", "-f", f"sleep 30[12].{os.getpid()}"], capture_output=True, check=False).stdout:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    stage.workspace.recover(None)
    succeeded(stage.agent("true"))
    stage.workspace.close()


if __name__ == "__main__":
    play(globals())

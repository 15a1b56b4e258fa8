"""A cloned repository must not run anything by being looked at.

The clone has every trap in it; each leaves a mark when it is sprung. All read verbs run on it, as an ordinary
program start, and no mark may appear. A real process stands where the planted state says a loop runs.
"""

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from sources import examples
from untilproven.store.process import this_process

READ_VERBS = [
    [],
    ["status"],
    ["status", "--json"],
    ["status", "--all"],
    ["status", "--all", "--json"],
    ["status", "ralph-fix-tests-a1b2c3d4"],
    ["status", "ralph-linked-00000000"],
    *([verb, *words] for verb in ("log", "show", "attach", "report") for words in ([], ["ralph-fix-tests-a1b2c3d4"])),
    ["log", "ralph-fix-tests-a1b2c3d4", "--verbose"],
    ["show", "ralph-fix-tests-a1b2c3d4", "1", "--output"],
    ["report", "--all"],
    ["config"],
    ["config", "--origin"],
    ["config", "--json"],
    ["schema", "state"],
    ["doctor"],
    ["doctor", "--json"],
    ["completion", "bash"],
    ["migrate", "--dry-run"],
    ["init", "--print"],
    ["--help"],
    ["help", "all"],
    ["--version"],
]
WRITE_VERBS = [
    ["status", "--check-stale", "--cleanup"],
    ["state", "rebuild", "ralph-fix-tests-a1b2c3d4"],
    ["archive", "--all"],
]


class Clone:
    def __init__(self, root: Path, mark: Path, victim: subprocess.Popen[bytes]) -> None:
        self.root = root
        self.mark = mark
        self.victim = victim
        self.trap = f"touch {mark}/$(basename $0)-$$"

    def plant(self) -> None:
        self.git()
        self.settings()
        self.state()
        self.programs()

    def git(self) -> None:
        subprocess.run(["git", "init", "-q", str(self.root)], check=True)
        script = self.executable(self.root / "trap.sh")
        (self.root / ".git" / "config").write_text(
            "[core]\n\trepositoryformatversion = 0\n"
            f"\tfsmonitor = {script}\n\thooksPath = {self.root}/hooks\n\tpager = {script}\n\tsshCommand = {script}\n"
            f'[filter "evil"]\n\tclean = {script}\n\tsmudge = {script}\n\tprocess = {script}\n'
            f'[diff "evil"]\n\tcommand = {script}\n\ttextconv = {script}\n'
            f"[alias]\n\tstatus = !{script}\n[include]\n\tpath = {self.root}/more\n"
        )
        (self.root / ".gitattributes").write_text("* filter=evil diff=evil\n")
        self.executable(self.root / "hooks" / "post-checkout")

    def settings(self) -> None:
        script = self.executable(self.root / "setting.sh")
        hooks = "".join(f'on_{name} = "{script}"\n' for name in ("task_start", "iteration_start", "action"))
        (self.root / "ralph.toml").write_text(
            f'agent_cmd = "{script}"\nuntil = ["{script}"]\nnotify = ["{script}"]\nsandbox = "none"\n[hooks]\n{hooks}'
        )
        (self.root / ".envrc").write_text(f"{script}\n")

    def state(self) -> None:
        """Loops that claim to be run by a real process, with a socket, and directories that lead outside."""
        state = self.root / ".aiwg" / "ralph"
        loop = state / "loops" / "ralph-fix-tests-a1b2c3d4"
        loop.mkdir(parents=True)
        start = (Path("/proc") / str(self.victim.pid) / "stat").read_text().rpartition(")")[2].split()[19]
        me = this_process()
        identity = {
            "pid": self.victim.pid,
            "start": start,
            "boot_id": me.boot_id,
            "pid_namespace": me.pid_namespace,
        }
        planted = {
            **examples()["state"],
            "pid": self.victim.pid,
            "process": identity,
            "vouch": "0" * 64,
            "started_with": "x",
            "task": "\x1b]0;owned\x07\x1b[2J evil",
            "working_directory": "/",
        }
        (loop / "state.json").write_bytes(msgspec.json.encode(planted))
        registry = examples()["registry"]
        (state / "registry.json").write_bytes(msgspec.json.encode(registry))
        (state / "current-loop.json").write_text('{"task": "x", "completion": "./trap.sh", "maxIterations": 3}')
        outside = self.root.parent / "outside"
        outside.mkdir()
        (outside / "state.json").write_bytes(msgspec.json.encode(planted))
        (state / "loops" / "ralph-linked-00000000").symlink_to(outside)
        (loop / "checkpoints").symlink_to(outside)
        (loop / "iterations").symlink_to(outside)
        self.socket = socket.socket(socket.AF_UNIX)
        os.chdir(state)
        self.socket.bind("control.sock")
        os.chdir("/")
        self.socket.listen()
        self.socket.setblocking(False)

    def programs(self) -> None:
        """Names that would be found first if the working directory or the project's environment were trusted."""
        body = f"import pathlib\npathlib.Path({str(self.mark)!r}, __name__).touch()\n"
        for name in ("click", "msgspec", "sitecustomize", "usercustomize", "json", "typing", "untilproven_plugin"):
            (self.root / f"{name}.py").write_text(body)
        package = self.root / ".venv" / "lib" / "python3.11" / "site-packages"
        package.mkdir(parents=True)
        (package / "planted.pth").write_text(f"import pathlib; pathlib.Path({str(self.mark)!r}, 'pth').touch()\n")
        (package / "sitecustomize.py").write_text(body)
        info = package / "planted-1.0.dist-info"
        info.mkdir()
        (info / "entry_points.txt").write_text("[untilproven]\nplanted = sitecustomize\n")
        (self.root / "pyvenv.cfg").write_text("home = .venv\n")
        for name in ("git", "bwrap", "claude", "codex", "python3", "sh", "bash", "unshare", "mount"):
            self.executable(self.root / "bin" / name)
            self.executable(self.root / name)

    def executable(self, path: Path) -> Path:
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{self.trap}\n")
        path.chmod(path.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
        return path

    def contents(self) -> dict[str, bytes | str]:
        found: dict[str, bytes | str] = {}
        for path in sorted(self.root.parent.rglob("*")):
            if path.is_symlink():
                found[str(path)] = str(path.readlink())
            elif path.is_file():
                found[str(path)] = path.read_bytes()
        return found


@pytest.fixture
def clone(tmp_path: Path) -> Iterator[Clone]:
    mark = tmp_path / "sprung"
    mark.mkdir()
    root = tmp_path / "place" / "clone"
    root.mkdir(parents=True)
    with subprocess.Popen(["sleep", "300"]) as victim:
        planted = Clone(root, mark, victim)
        planted.plant()
        yield planted
        planted.socket.close()
        victim.kill()


def start(clone: Clone, words: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    """As a user whose PATH begins with the clone's own directories, which is the worst that is still ordinary."""
    path = f"{clone.root}/bin:.::{os.environ['PATH']}"
    return subprocess.run(
        [str(Path(sys.executable).with_name("ralph")), *words],
        cwd=clone.root,
        env={"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "VIRTUAL_ENV": f"{clone.root}/.venv"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.parametrize("words", READ_VERBS, ids=" ".join)
def test_looking_springs_no_trap(clone: Clone, words: list[str], own_home: Path) -> None:
    before = clone.contents()
    done = start(clone, words, own_home)
    assert done.returncode in {0, 1, 2}, done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stdout + done.stderr
    untouched(clone, before)


@pytest.mark.parametrize("words", WRITE_VERBS, ids=" ".join)
def test_even_tidying_up_acts_on_nothing_that_is_not_ours(clone: Clone, words: list[str], own_home: Path) -> None:
    before = {path: data for path, data in clone.contents().items() if "/ralph/registry" not in path}
    start(clone, words, own_home)
    after = {path: data for path, data in clone.contents().items() if "/ralph/registry" not in path}
    new = {path for path in after if path not in before}
    assert all(path.endswith(".lock") for path in new), new
    untouched(clone, before, after)


def untouched(clone: Clone, before: dict[str, bytes | str], after: dict[str, bytes | str] | None = None) -> None:
    assert list(clone.mark.iterdir()) == []
    assert clone.victim.poll() is None
    with pytest.raises(BlockingIOError):
        clone.socket.accept()
    now = clone.contents() if after is None else after
    assert {path: now.get(path) for path in before} == before
    if after is None:
        assert now.keys() == before.keys()


def test_the_traps_would_be_seen_if_they_sprang(clone: Clone) -> None:
    """Otherwise the tests above prove nothing."""
    subprocess.run(["git", "status"], cwd=clone.root, env={"PATH": f"{clone.root}/bin:/usr/bin:/bin"}, check=False)
    subprocess.run([sys.executable, "-c", "import click"], cwd=clone.root, check=False)
    names = {path.name.partition("-")[0] for path in clone.mark.iterdir()}
    assert {"git", "click"} <= names
    for path in clone.mark.iterdir():
        path.unlink()
    subprocess.run(["/usr/bin/git", "status"], cwd=clone.root, capture_output=True, check=False)
    assert {path.name.partition("-")[0] for path in clone.mark.iterdir()} == {"trap.sh"}


def test_a_planted_loop_is_shown_as_foreign(clone: Clone, own_home: Path) -> None:
    shown = msgspec.json.decode(start(clone, ["status", "--all", "--json"], own_home).stdout)
    (row,) = [row for row in shown["loops"] if row["loop_id"] == "ralph-fix-tests-a1b2c3d4"]
    assert row["foreign"] is True
    assert row["process"] == "unknown"
    assert shown["slots_used"] == 0
    withheld = msgspec.json.decode(start(clone, ["config", "--json"], own_home).stdout)["withheld"]
    assert {"agent_cmd", "until", "notify", "sandbox"} <= {item["key"] for item in withheld}

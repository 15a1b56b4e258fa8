"""One process furnishes room after room: nothing passes from one to the next, and nobody inside has its power."""

import contextlib
import os
import signal
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from untilproven.contract import Supervision
from untilproven.process import houses, table
from untilproven.workspace.openings import Openings
from workspace.overlay.scenes.stage import SUPERVISION, Stage, names_in, play, succeeded

PYTHON = "/usr/bin/python3"
CAPABILITIES = "grep -E '^Cap(Inh|Prm|Eff|Bnd|Amb):' /proc/self/status | grep -v 0000000000000000"
MAKE_QUEUE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).msgget(4711, 0o1600) < 0)"
FIND_QUEUE = "import ctypes, sys; sys.exit(ctypes.CDLL(None).msgget(4711, 0) >= 0)"


houses._STANDS = 3600.0  # the machine may be busy


def keepers(stage: Stage) -> list[int]:
    return sorted(keeper.pid for keeper in stage.workspace._house._idle)


def within(pid: int) -> list[int]:
    return [process.pid for process in table.descendants(pid) if process.alive]


def children(name: bytes) -> list[int]:
    """Our own, the dead ones too."""
    found = [process.pid for process in table.descendants(os.getpid()) if process.parent == os.getpid()]
    return [pid for pid in found if Path(f"/proc/{pid}/comm").read_bytes().strip() == name]


def is_dead(pid: int) -> bool:
    process = table.look_up(pid)
    return process is None or not process.alive


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def the_same_two_processes_furnish_every_room(base: Path) -> None:
    stage = Stage(base)
    found = []
    for number in (1, 2, 3, 4):
        succeeded(stage.agent(f"cat one two 2> /dev/null; echo {number} > one; echo {number} >> two", number))
        assert stage.check(f"test $(cat one) = {number}").exit_code == 0
        stage.workspace.keep(number)
        found.append(keepers(stage))
    assert len(found[0]) == 2
    assert found == [found[0]] * 4
    assert (stage.root / "two").read_text() == "1\n2\n3\n4\n"
    assert set(within(os.getpid())) >= set(found[0])
    stage.workspace.close()
    assert not within(os.getpid())


def nothing_of_a_room_is_found_in_the_next(base: Path) -> None:
    stage = Stage(base)
    daemon = f"setsid sleep 300.{os.getpid()} > /dev/null 2>&1 &"
    leave = f"touch new /tmp/new /dev/shm/new && {PYTHON} -c '{MAKE_QUEUE}' || exit; {daemon} exit 0"
    clean = f"test ! -e new -a ! -e /tmp/new -a ! -e /dev/shm/new && {PYTHON} -c '{FIND_QUEUE}' && ! pgrep -f '^sleep'"
    for number in (1, 2, 3):
        room = stage.workspace.open(number, SUPERVISION)
        succeeded(room.run(clean, timeout=60))
        succeeded(room.run(leave, timeout=60))
        succeeded(room.run(f"test -e /dev/shm/new && ! {PYTHON} -c '{FIND_QUEUE}'", timeout=60))
        stage.workspace.discard(number)
    for _ in range(2):
        check = stage.workspace.checking(SUPERVISION)
        succeeded(check.run(clean, timeout=60))
        succeeded(check.run(leave, timeout=60))
    stage.workspace.close()


def processes_are_numbered_alike_in_every_room(base: Path) -> None:
    stage = Stage(base)
    number = "echo $$; for each in 1 2 3; do /bin/true; done"
    assert len({stage.agent(number, iteration).output for iteration in (1, 2)}) == 1
    assert len({stage.check(number).output for _ in range(3)}) == 1
    stage.workspace.close()


def what_a_check_leaves_alone_serves_the_next_and_a_message_in_it_is_lost(base: Path) -> None:
    stage = Stage(base)
    place = stage.workspace._place
    signs = "stat -c '%a %u %Y %X' . ~ /tmp"
    said = stage.check(signs).output
    names = ["check-upper", "check-home", *([] if Path(__file__).is_relative_to("/tmp") else ["check-tmp"])]
    before = [(place.given.path / name).stat().st_ino for name in names]
    assert all(int(word) > 1_700_000_000 for line in said.splitlines() for word in line.split()[2:]), said
    stage.check("true")
    stage.agent("true", 1)
    stage.workspace.discard(1)
    stage.check("true")
    assert before == [(place.given.path / name).stat().st_ino for name in names]
    come_and_gone = "touch ~/left left /tmp/left && rm ~/left left /tmp/left"
    message = f"{come_and_gone} && chmod 711 . ~ && touch -d @7 . ~ /tmp"
    succeeded(stage.check(message))
    again = stage.check(f"{signs}; ls -A ~ | grep left").output
    assert [line.split()[:2] for line in again.splitlines()] == [line.split()[:2] for line in said.splitlines()], again
    assert all(int(word) > 1_700_000_000 for line in again.splitlines() for word in line.split()[2:]), again
    stage.workspace.close()
    assert "given" not in names_in(place.path)


def what_is_tmp_for_an_agent_serves_the_next_one_if_it_is_as_good_as_new(base: Path) -> None:
    stage = Stage(base)
    temporary = stage.workspace._place.given.temporary
    signs = "stat -c '%n %a %u' /tmp /tmp/ralph-exchange; getfattr -d -m - /tmp /tmp/ralph-exchange; find /tmp | sort"

    # Where these files lie in /tmp themselves, they are shown there, and what is /tmp is made anew for each room.
    is_reused = not Path(__file__).is_relative_to("/tmp")

    def seen(number: int, leave: str = "true") -> tuple[int, str]:
        outside = stage.workspace.exchange(number).outside
        (outside / "prompt.md").write_text("from the runner")
        said = stage.agent(f"{signs}; rm /tmp/ralph-exchange/prompt.md; {leave}", number).output
        stage.workspace.discard(number)
        return temporary.stat().st_ino if is_reused else 0, said

    first = seen(1)
    assert "prompt.md" in first[1]
    assert seen(2, "touch /tmp/ralph-exchange/result.json") == first
    assert seen(3, "mkdir -p /tmp/deep/er && chmod 0 /tmp/deep") == first
    number = 4
    for leave in (
        "chmod 700 /tmp",
        "chmod 777 /tmp/ralph-exchange",
        "mkdir /tmp/ralph-exchange/directory",
        "ln -s /etc /tmp/link",
        f'{PYTHON} -c \'import os; os.setxattr("/tmp", "user.message", b"x")\'',
        f'{PYTHON} -c \'import os; os.setxattr("/tmp/ralph-exchange", "user.message", b"x")\'',
        "for each in 1 2 3 4 5 6 7 8 9; do touch /tmp/ralph-exchange/$each; done",
        "chattr +A /tmp || chmod 711 /tmp",
    ):
        inode, said = seen(number, leave)
        assert said == first[1], leave
        again = seen(number + 1)
        assert again[1] == first[1], leave
        assert again[0] != inode or not is_reused, leave
        number += 2
    stage.workspace.close()
    assert "given" not in names_in(stage.workspace._place.path)


def what_the_user_does_to_the_repository_is_seen_in_the_next_room(base: Path) -> None:
    stage = Stage(base)
    see = (
        "git log --format=%s; git rev-parse HEAD; git branch --format='%(refname) %(objectname)'; cat .git/info/exclude"
    )
    stage.agent(f"{see}; git rev-parse -q --verify topic", 1)
    stage.workspace.keep(1)
    for number, done in enumerate(
        (
            "git commit -q --allow-empty -m second",
            "git branch topic",
            "git branch -f topic HEAD~1",
            "echo new > new && mv new .git/info/exclude",
            "git worktree add -q -b beside ../beside && git -C ../beside commit -q --allow-empty -m beside",
            "git repack -qad && git prune-packed",
            "cp -a .git ../bak && git commit -q --allow-empty -m third && rm -rf .git && mv ../bak .git",
        ),
        2,
    ):
        stage.host(done)
        assert stage.agent(see, number).output == stage.host(see), done
        stage.workspace.keep(number)
    stage.workspace.close()


def modes_that_an_agent_sets_keep_nobody_from_the_next_room(base: Path) -> None:
    stage = Stage(base)
    number = 1
    for leave in ("chmod 555 /tmp", "chmod 0 /tmp", "chmod 555 /tmp/ralph-exchange", "chmod 0 /tmp/ralph-exchange"):
        stage.agent(leave, number)
        stage.workspace.discard(number)
        succeeded(stage.agent("touch /tmp/new /tmp/ralph-exchange/new", number + 1))
        stage.workspace.discard(number + 1)
        number += 2
    for leave in ("chmod 555 /tmp . ~", "chmod 0 /tmp", "chmod 0 ~", "chmod 0 ."):
        stage.check(leave)
        succeeded(stage.check("touch /tmp/new ~/new new"))
    more = "git commit -q --allow-empty -m more"
    for leave in (
        "chmod 555 .git",
        "chmod 0 .git",
        "mkdir -p .git/a/b && chmod 0 .git/a/b .git/a",
        f"{more} && chmod 0 .git/logs",
    ):
        for decide in (stage.workspace.keep, stage.workspace.discard):
            stage.agent(leave, number)
            decide(number)
            succeeded(stage.agent(f"chmod 755 .git .git/logs; {more}", number + 1))
            stage.workspace.discard(number + 1)
            number += 2
    stage.workspace.close()


def an_attribute_is_no_message_to_the_next_check_whatever_its_name(base: Path) -> None:
    stage = Stage(base)
    every = "import os, sys; places = ('.', os.path.expanduser('~'), '/tmp'); name = sys.argv[1]"
    leave = f"{every}; [os.setxattr(place, name, b'message') for place in places]"
    find = f"{every}; print([found for place in places for found in os.listxattr(place)])"
    for name in ("user.overlay.uuid", "user.overlay.overlay.uuid", "user.message"):
        succeeded(stage.workspace.checking(SUPERVISION).run([PYTHON, "-c", leave, name], timeout=60))
        for _ in range(2):
            assert stage.workspace.checking(SUPERVISION).run([PYTHON, "-c", find, name], timeout=60).output == "[]\n"
    stage.workspace.close()


def the_version_of_a_directory_is_no_message_to_the_next_check(base: Path) -> None:
    stage = Stage(base)
    version = "lsattr -dv /tmp | cut -d' ' -f1"
    stage.check("chattr -v 4711 /tmp")  # which not every file system can
    for _ in range(2):
        assert stage.check(version).output.strip() != "4711"
    stage.workspace.close()


def home_is_mounted_once_for_all_checks_until_one_writes_there(base: Path) -> None:
    stage = Stage(base)
    mounted = f"grep -c ' {stage.home} ' /proc/self/mountinfo && stat -c %d ~"
    first = stage.check(mounted).output
    stage.agent("true", 1)
    assert stage.check(mounted).output == first
    stage.workspace.delta()
    before = keepers(stage)
    succeeded(stage.check("test ! -e ~/left && echo message > ~/left"))
    for number in range(3):
        succeeded(stage.check(f"test ! -e ~/left && echo {number} > ~/left && cat ~/left ~/.gitconfig"))
        stage.workspace.delta()
    after = keepers(stage)
    assert len(before) == len(after) == 2
    assert len(set(before) & set(after)) == 1, "the one that furnishes checks was let go once"
    assert not (stage.home / "left").exists()
    succeeded(stage.check("echo 4 > ~/left"))
    stage.workspace.delta()
    assert keepers(stage) == after
    stage.workspace.close()
    assert not within(os.getpid())


def what_is_shared_at_home_is_there_for_every_check_whatever_one_before_it_wrote(base: Path) -> None:
    stage = Stage(base)
    (stage.home / "shared").mkdir()
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(stage.home / "socket"))
        listening.listen()
        stage.openings = Openings(share=("~/shared", "~/socket"))
        stage.workspace = stage.another()
        connect = f"{PYTHON} -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"{stage.home}/socket\")'"
        for number in range(3):
            succeeded(stage.check(f"test ! -e ~/left && echo message > ~/left && {connect} && touch ~/shared/{number}"))
    assert names_in(stage.home / "shared") == ["0", "1", "2"]
    stage.workspace.close()


def what_the_user_changes_at_home_is_seen_in_rooms_that_are_built_later(base: Path) -> None:
    stage = Stage(base)
    see = "cat ~/.gitconfig"

    def change(word: str) -> None:
        (stage.home / "new").write_text(word)
        (stage.home / "new").rename(stage.home / ".gitconfig")

    succeeded(stage.agent(see, 1))
    succeeded(stage.check(see))
    first = keepers(stage)
    change("second")
    houses._STANDS = 0.0
    assert stage.agent(see, 2).output == "second"
    assert stage.check(see).output == "second"
    change("third")
    assert stage.check(see).output == "third"
    assert stage.agent(see, 3).output == "third"
    stage.workspace.delta()
    assert set(first).isdisjoint(keepers(stage))
    stage.workspace.close()
    assert not within(os.getpid())


def only_the_one_that_furnishes_has_power(base: Path) -> None:
    stage = Stage(base)
    program = base / "program"
    program.write_bytes(Path("/usr/bin/grep").read_bytes())
    program.chmod(0o4755)
    if not os.getuid():
        os.setxattr(program, "security.capability", struct.pack("<5I", 0x02000000, 1 << 21, 0, 0, 0))
    stage.agent("true", 1)
    stage.workspace.discard(1)
    (keeper,) = keepers(stage)
    (first,) = within(keeper)
    held = Path(f"/proc/{first}/status").read_text().split("CapEff:")[1].split()[0]
    assert int(held, 16) & 1 << 21, held  # otherwise this proves nothing
    for number, place in enumerate((stage.workspace.open(2, SUPERVISION), None)):
        room = place or stage.workspace.checking(SUPERVISION)
        assert room.run(CAPABILITIES, timeout=60).exit_code == 1, number
        plain = [program, "-E", "^CapEff:.*0000000000000000$", "/proc/self/status"]
        assert room.run([str(word) for word in plain], timeout=60).exit_code == 0
        assert (
            room.run(
                f"{program} -c '' /proc/self/status && {program} -q 'NoNewPrivs:.1' /proc/self/status", timeout=60
            ).exit_code
            == 0
        )
        for script in (
            "import ctypes, sys; sys.exit(ctypes.CDLL(None, use_errno=True).prctl(47, 2, 21, 0, 0) == 0)",
            "import ctypes, os, sys; sys.exit(ctypes.CDLL(None).syscall(438, os.pidfd_open(1), 0, 0) >= 0)",
            "import ctypes, sys; sys.exit(ctypes.CDLL(None).mount(b'x', b'/tmp', b'tmpfs', 0, None) == 0)",
            "import os, signal, time; [os.kill(1, number) for number in (9, 19, 15, 2, 17)]; time.sleep(0.05)",
            "open('/proc/1/mem', 'rb')",
            "open('/proc/1/maps', 'rb').read()",
            "import os; os.readlink('/proc/1/fd/0')",
        ):
            ran = room.run([PYTHON, "-c", script], timeout=60)
            refused = ran.exit_code == 1 and "Permission" in ran.output
            assert refused if "/proc/1" in script else ran.exit_code == 0, (number, script, ran)
    stage.workspace.close()


def what_is_done_to_the_one_that_furnishes_is_not_passed_on(base: Path) -> None:
    stage = Stage(base)
    limits = "ulimit -n; ulimit -u; nice; cat /proc/self/oom_score_adj; taskset -p $$ | sed 's/.*: //'"
    before = stage.agent(limits, 1).output
    stage.workspace.discard(1)
    done = 0
    for number, harm in enumerate(
        (
            "import resource; resource.prlimit(1, resource.RLIMIT_NOFILE, (40, 40))",
            "import os; os.setpriority(os.PRIO_PROCESS, 1, 7)",
            "import os; os.setpriority(os.PRIO_USER, os.getuid(), 7)",
            "import os; os.sched_setaffinity(1, {0})",
            "import os; os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))",
            "open('/proc/1/oom_score_adj', 'w').write('500')",
        )
    ):
        known = keepers(stage)
        succeeds = (
            stage.workspace.open(2 * number + 2, SUPERVISION).run([PYTHON, "-c", harm], timeout=60).exit_code == 0
        )
        stage.workspace.discard(2 * number + 2)
        assert stage.agent(limits, 2 * number + 3).output == before, harm
        stage.workspace.discard(2 * number + 3)
        if succeeds:
            done += 1
            assert keepers(stage) != known, harm
    assert done
    stage.workspace.close()


def what_changes_outside_is_seen_by_the_next_room(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("test ! -e ~/.aws", 1))
    stage.workspace.discard(1)
    before = keepers(stage)
    (stage.home / ".aws").mkdir()
    (stage.home / ".aws/credentials").write_text("SECRET")
    assert stage.agent("grep -r SECRET ~/.aws", 2).exit_code
    stage.workspace.discard(2)
    assert keepers(stage) != before
    assert len(keepers(stage)) == 1
    before = keepers(stage)
    connect = f"{PYTHON} -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])'"
    with contextlib.ExitStack() as stack:
        for number in (3, 4):
            path = base / f"socket-{number}"
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(str(path))
            listening.listen()
            subprocess.run(f"{connect} {path}", shell=True, check=True)
            assert stage.agent(f"{connect} {path}", number).exit_code
            stage.workspace.discard(number)
    assert keepers(stage) == before
    stage.root.rename(base / "moved")
    stage.root.mkdir()
    (stage.root / "another").touch()
    succeeded(stage.agent("test -e another -a ! -e src", 5))
    stage.workspace.close()


def what_the_user_mounts_is_seen_by_the_next_room(base: Path) -> None:
    if os.getuid():
        return  # only root can mount outside of a room
    import ctypes  # noqa: PLC0415  only here

    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.unshare(0x20000) == 0
    assert libc.mount(None, b"/", None, ctypes.c_ulong(16384 | 1 << 18), None) == 0
    stage = Stage(base)
    disk = base / "disk"
    disk.mkdir()
    succeeded(stage.agent(f"test ! -e {disk}/new", 1))
    stage.workspace.discard(1)
    assert libc.mount(b"disk", bytes(disk), b"tmpfs", ctypes.c_ulong(0), None) == 0
    (disk / "new").write_text("x")
    succeeded(stage.agent(f"test -e {disk}/new && ! echo y > {disk}/new", 2))
    stage.workspace.discard(2)
    assert libc.umount2(bytes(disk), 0) == 0
    succeeded(stage.agent(f"test ! -e {disk}/new", 3))
    stage.workspace.close()


def a_link_that_is_replaced_inside_uncovers_nothing(base: Path) -> None:
    stage = Stage(base)
    secrets = base / "dotfiles"
    (secrets / "config/gh").mkdir(parents=True)
    (secrets / "netrc").write_text("SECRET")
    (secrets / "config/gh/hosts.yml").write_text("SECRET")
    (stage.home / ".netrc").symlink_to(secrets / "netrc")
    (stage.home / ".config").symlink_to(secrets / "config")
    look = f"grep -rs SECRET {secrets} ~ ~/.netrc ~/.config/"
    assert stage.agent(f"{look} && exit 0; rm ~/.netrc ~/.config; mkdir ~/.config; touch ~/.netrc; exit 1", 1).exit_code
    stage.workspace.keep(1)
    stage.workspace.close()
    stage.workspace = stage.another()
    assert stage.agent(look, 2).exit_code
    stage.workspace.close()


def one_that_was_killed_is_replaced(base: Path) -> None:
    stage = Stage(base)
    succeeded(stage.agent("echo 1 > one", 1))
    stage.workspace.keep(1)
    for number, victims in enumerate((lambda outer: [outer], within), start=2):
        (keeper,) = keepers(stage)
        for victim in victims(keeper):
            os.kill(victim, signal.SIGKILL)
        eventually(partial(is_dead, keeper))
        succeeded(stage.agent(f"test -e one && echo {number} >> two", number))
        stage.workspace.keep(number)
        assert keepers(stage) != [keeper]
        assert len(children(b"ralph-keeper")) == 1
    assert (stage.root / "two").read_text() == "2\n3\n"
    up = stage.workspace.exchange(4).outside / "up"
    doomed: list[int] = []

    def kill() -> None:
        if up.exists() and not doomed:
            doomed.extend(children(b"ralph-keeper"))
            os.kill(doomed[0], signal.SIGKILL)

    room = stage.workspace.open(4, Supervision(marker="ralph-scene", until=kill))
    token = f"sleep 300.{os.getpid()}"
    ran = room.run(f"setsid {token} & echo 4 > four; touch /tmp/ralph-exchange/up; {token}", timeout=60)
    assert ran.signal == signal.SIGKILL, ran
    assert len(doomed) == 1
    assert subprocess.run(["pgrep", "-f", token], capture_output=True, check=False).stdout == b""
    succeeded(room.run("test -e four && echo 6 > six", timeout=60))
    assert set(stage.changes()) == {"four", "six"}
    stage.workspace.close()
    assert not table.descendants(os.getpid())


def a_killed_runner_leaves_none_behind(base: Path) -> None:
    stage = Stage(base)
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        stage.agent("true", 1)
        stage.workspace.delta()
        stage.check("true")
        stage.workspace.discard(1)
        os.write(theirs, " ".join(map(str, [*keepers(stage), *within(os.getpid())])).encode())
        signal.pause()
    found = [int(word) for word in os.read(ours, 4096).split()]
    assert len(found) > 3
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    eventually(lambda: all(map(is_dead, found)))
    stage.workspace.recover(None)
    succeeded(stage.agent("true", 1))
    stage.workspace.close()


def what_was_dropped_is_taken_away_meanwhile(base: Path) -> None:
    stage = Stage(base)
    trash = stage.workspace._place.path / "trash"
    for number in (1, 2):
        succeeded(stage.agent("mkdir -p a/b && echo x > a/b/c && chmod 0 a/b", number))
        stage.workspace.discard(number)
    assert list(trash.iterdir())
    succeeded(stage.agent("true", 3))
    eventually(lambda: not list(trash.iterdir()))
    stage.workspace.discard(3)
    (sweeper,) = children(b"ralph-sweeper")
    os.kill(sweeper, signal.SIGKILL)
    succeeded(stage.agent("true", 4))
    stage.workspace.discard(4)
    succeeded(stage.agent("true", 5))
    stage.workspace.close()
    assert not trash.exists()
    assert not table.descendants(os.getpid())


def what_is_left_at_the_end_is_taken_away_by_two(base: Path) -> None:
    stage = Stage(base)
    for number in (1, 2):
        succeeded(stage.agent("true", number))
        stage.workspace.discard(number)
    place = stage.workspace._place
    for number in range(40):
        dropped = place.path / f"dropped-{number}"
        (dropped / "a/b").mkdir(parents=True)
        (dropped / "a/b/c").write_text("x")
        (dropped / "a/b").chmod(0)
        place.drop(dropped)
    assert children(b"ralph-sweeper")
    stage.workspace.close()
    assert not (place.path / "trash").exists()
    assert not table.descendants(os.getpid())


if __name__ == "__main__":
    play(globals())

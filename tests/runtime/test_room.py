"""A loop in a room: what fails leaves no trace, what is the user's stays, and only the user decides between both."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from runtime.loops import Place, ended
from untilproven.store.vouch import user_state

NEVER = "--until=test -e never"
ROOM = "--sandbox=overlay"
WRECK = (
    "rm -rf src node_modules .env; mkdir -p deep/er; echo junk > deep/er/file; chmod 777 tracked; ln -s /etc link2;"
    " git add -A; git -c user.name=a -c user.email=a@b commit -qm wreck; git stash -q; echo more >> untracked"
)
HOLD = "touch holding; while :; do sleep 0.05; done"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A working tree as users have them."""
    place = Place(tmp_path)
    shutil.rmtree(place.root / ".git", ignore_errors=True)
    git(place, "init", "-q")
    place.write("tracked", "one\n")
    place.write("src/code.py", "pass\n")
    place.write(".gitignore", ".env\nnode_modules\n.venv\n")
    git(place, "add", "-A")
    git(place, "-c", "user.name=u", "-c", "user.email=u@v", "commit", "-qm", "first")
    place.write("tracked", "stashed\n")
    git(place, "-c", "user.name=u", "-c", "user.email=u@v", "stash", "-q")
    place.write("tracked", "staged\n")
    git(place, "add", "tracked")
    place.write("tracked", "unstaged\n")
    place.write("untracked", "mine\n")
    place.write(".env", "SECRET=1\n", mode=0o600)
    place.write("node_modules/a/index.js", "1\n")
    place.write(".venv/bin/python", "#!/bin/sh\n", mode=0o755)
    (place.root / "empty").mkdir(mode=0o711)
    (place.root / "link").symlink_to("src/code.py")
    (place.root / "dangling").symlink_to("nowhere")
    return place


def git(place: Place, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=place.root, check=True, capture_output=True, text=True)
    return done.stdout


def fingerprint(root: Path) -> dict[str, object]:
    """Everything that can be seen of a tree, but for the loops' own state."""
    found: dict[str, object] = {}
    for directory, names, files in os.walk(root):
        if Path(directory) == root:
            names[:] = [name for name in names if name not in {".aiwg", ".git"}]
        for name in [*names, *files]:
            path = Path(directory, name)
            seen = path.lstat()
            content = str(path.readlink()) if path.is_symlink() else ""
            if path.is_file() and not path.is_symlink():
                content = hashlib.sha256(path.read_bytes()).hexdigest()
            time = 0 if path.is_dir() and not path.is_symlink() else seen.st_mtime_ns
            found[str(path.relative_to(root))] = (oct(seen.st_mode), content, time)
    for name in ("index", "HEAD", "config", "refs/stash", "logs/HEAD", "logs/refs/stash"):
        path = root / ".git" / name
        found[f"git {name}"] = hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""
    found["git objects"] = sorted(str(path) for path in (root / ".git/objects").rglob("*"))
    return found


def until(process: "subprocess.Popen[str]", key: str, value: str) -> None:
    """Read what a loop tells until it tells this."""
    assert process.stdout
    assert any(json.loads(line).get(key) == value for line in process.stdout)


def test_any_number_of_failed_iterations_leave_no_trace(place: Place) -> None:
    before = fingerprint(place.root)
    done = place.ralph("run", "wreck it", f"--agent-cmd={WRECK}; exit 1", NEVER, ROOM, "-n", "3")
    assert done.returncode == 6, done.stdout + done.stderr
    assert len(place.events("iteration.finished")) == 3
    assert {event["fate"] for event in place.events("iteration.finished")} == {"discarded"}
    assert fingerprint(place.root) == before


@pytest.mark.parametrize("how", ["abort", "kill", "pause"])
def test_an_iteration_that_is_stopped_in_the_middle_leaves_no_trace(place: Place, how: str) -> None:
    before = fingerprint(place.root)
    words = ("wreck it", f"--agent-cmd={WRECK}; echo 'it waits'; {HOLD}", NEVER, ROOM, "-n", "3", "--json")
    with place.running(*words, verb="run", sandbox="") as process:
        until(process, "text", "it waits")
        if how == "kill":
            process.send_signal(signal.SIGKILL)
            process.wait(20)
        elif how == "abort":
            assert place.ralph("abort", place.loop).returncode == 0
            assert ended(process)[0] == 1
        else:
            assert place.ralph("pause", place.loop, "--now").returncode == 0
            assert ended(process)[0] == 8
    assert fingerprint(place.root) == before
    if how != "abort":
        done = place.ralph("resume", place.loop, "--iteration-timeout=1s", "-q")
        assert done.returncode in {4, 6}, done.stdout + done.stderr
        assert git(place, "stash", "list").count("\n") == 1


def test_what_is_kept_comes_to_the_tree_and_nothing_else_is_touched(place: Place) -> None:
    before = fingerprint(place.root)
    work = "echo new > made; echo changed > src/code.py; rm untracked"
    agent = f"--agent-cmd={work}; git add -A; git stash -q; git stash pop -q"
    done = place.ralph("run", "make it", agent, "--until=test -e made", ROOM, "-n", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    after = fingerprint(place.root)
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert changed == {"made", "src/code.py", "untracked"}


def test_where_the_user_changed_the_same_file_theirs_stays_and_the_loop_waits(place: Place) -> None:
    agent = "--agent-cmd=echo theirs > src/code.py; echo 'it waits'; while ! test -e /var/tmp/{0}; do sleep 0.05; done"
    go = f"ralph-test-{os.getpid()}-{place.beside.name}"
    words = ("change it", agent.format(go), "--until=grep -q theirs src/code.py", ROOM, "-n", "2", "--json")
    try:
        with place.running(*words, verb="run", sandbox="") as process:
            until(process, "text", "it waits")
            place.write("src/code.py", "mine\n")
            Path("/var/tmp", go).touch()
            assert ended(process)[0] == 8
    finally:
        Path("/var/tmp", go).unlink(missing_ok=True)
    assert (place.root / "src/code.py").read_text() == "mine\n"
    assert place.read()["pause_reason"] == "gate"
    (gate,) = place.events("gate.opened")
    assert (gate["kind"], gate["data"]["paths"][0]["path"]) == ("conflict", "src/code.py")
    assert Path(gate["data"]["paths"][0]["kept_in"]).read_text() == "theirs\n"
    place.write("src/code.py", "mine and theirs\n")
    done = place.ralph("resume", place.loop)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (place.root / "src/code.py").read_text() == "mine and theirs\n"
    assert place.events("gate.decided")[0]["by"] == "human"


def test_a_file_that_the_user_changed_during_the_checks_makes_them_run_once_more(place: Place) -> None:
    check = "--until=test -e made && sleep 1"
    words = ("make it", "--agent-cmd=echo x > made", check, ROOM, "-n", "2", "--json")
    with place.running(*words, verb="run", sandbox="") as process:
        until(process, "type", "iteration.observed")
        place.write("seen", "by the user\n")
        code, out, err = ended(process)
    assert code == 0, out + err
    assert len(place.events("tree.changed")) == 1
    assert len([event for event in place.events("check.finished") if event["iteration"] == 1]) == 2
    assert (place.root / "seen").read_text() == "by the user\n"


def test_the_same_tree_is_not_checked_twice(place: Place) -> None:
    done = place.ralph("run", "do it", "--agent-cmd=echo once > made", "--until=date; false", ROOM, "-n", "3")
    assert done.returncode == 4, done.stdout + done.stderr
    checks = [event for event in place.events("check.finished") if event["iteration"]]
    assert [check.get("same_as") for check in checks] == [None, 1, 1]
    assert len({check["output"] for check in checks}) == 1


def test_the_loops_state_is_not_in_the_room_and_the_result_still_comes_out(place: Place) -> None:
    agent = (
        "--agent-cmd=ls -A .aiwg/ralph > listed; cat $RALPH_PROMPT_FILE > prompted;"
        ' echo \'{"status": "complete", "artifacts": ["made"]}\' > $RALPH_RESULT_FILE; echo x > made'
    )
    done = place.ralph("run", "make it", agent, "--until=test -e made", ROOM, "-n", "2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (place.root / "listed").read_text() == ""
    assert "make it" in (place.root / "prompted").read_text()
    assert place.events("iteration.observed")[0]["result"]["status"] == "complete"
    assert not (place.directory() / "results").exists() or not list((place.directory() / "results").iterdir())


def test_what_the_agents_git_did_is_in_the_record(place: Place) -> None:
    identity = "git -c user.name=a -c user.email=a@b"
    agent = (
        f"--agent-cmd=echo x > made; git add made; {identity} commit -qm 'my commit' -- made;"
        f" echo y >> src/code.py; {identity} stash -q"
    )
    done = place.ralph("run", "make it", agent, "--until=test -e made", ROOM, "-n1")
    assert done.returncode == 0, done.stdout + done.stderr
    notes = "\n".join(place.events("iteration.observed")[0]["notes"])
    assert "'my commit': committed by the agent in its room" in notes
    assert "left in the stash of the agent's room" in notes
    assert git(place, "log", "--format=%s").splitlines()[0] == "first"
    assert "my commit" in done.stdout


def test_rooms_that_a_killed_runner_left_are_swept_when_the_next_loop_ends(place: Place) -> None:
    words = ("wreck it", f"--agent-cmd={WRECK}; echo 'it waits'; {HOLD}", NEVER, ROOM, "--json")
    with place.running(*words, verb="run", sandbox="") as process:
        until(process, "text", "it waits")
        process.send_signal(signal.SIGKILL)
        process.wait(20)
    killed = place.loop
    rooms = user_state() / "rooms"
    layers = rooms / next(path.name for path in rooms.iterdir() if path.is_dir()) / killed
    assert layers.is_dir()
    assert place.ralph("abort", killed).returncode == 0
    assert not layers.exists()
    (layers / "home").mkdir(parents=True)
    assert place.ralph("run", "make it", "--agent-cmd=echo x > made", "--until=test -e made", ROOM).returncode == 0
    assert not layers.exists()


def test_a_script_that_loses_its_first_line_in_the_room_still_runs_as_a_shell_would(place: Place) -> None:
    place.write("check.sh", "#!/bin/sh\nexit 1\n", mode=0o755)
    agent = "--agent-cmd=printf 'test -e made\\n' > check.sh; echo x > made"
    words = ("make it", agent, "--until=./check.sh", ROOM, "-n1", "--allow-test-edits=check.sh")
    done = place.ralph("run", *words)
    assert done.returncode == 0, done.stdout + done.stderr

"""A loop that was recorded is played again: the same tree, or the first thing that is not the same."""

import json
import shutil
from base64 import b64decode
from pathlib import Path

import pytest

from process.scenes import wait_for
from runtime.loops import Place, ended

AGENT = (
    '--agent-cmd=if [ "$RALPH_ITERATION" = 1 ]; then echo no > note; mkdir -p deep/er; '
    "echo x > deep/er/file; exit 0; fi; "
    "printf 'done' > result; rm note; printf '\\377\\000x' > bytes; chmod 600 bytes; mv deep/er/file deep/other; "
    "echo '<promise>DONE</promise>'"
)
CHECK = "grep -q done result"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "one").mkdir()
    place = Place(tmp_path / "one")
    place.write("seed", "the same\n")
    return place


@pytest.fixture
def other(tmp_path: Path, place: Place) -> Place:
    (tmp_path / "two").mkdir()
    other = Place(tmp_path / "two")
    other.write("seed", "the same\n")
    return other


def loop(place: Place, *words: str, sandbox: str = "overlay", task: str = "do it") -> int:
    ended = place.ralph("run", task, "--until", CHECK, "-n", "3", "--no-measure", "--sandbox", sandbox, *words)
    return ended.returncode


def tree(root: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path.relative_to(root)): (path.stat().st_mode & 0o7777, path.read_bytes())
        for path in root.rglob("*")
        if path.is_file() and not {".git", ".aiwg"} & set(path.relative_to(root).parts)
    }


def played(place: Place) -> str:
    return f"--agent=replay:{place.directory() / 'recording'}"


@pytest.mark.parametrize("sandbox", ["overlay", "none"])
def test_a_logged_run_is_played_again_to_the_same_tree(place: Place, other: Place, sandbox: str) -> None:
    assert loop(place, AGENT, "--mode=logged", sandbox=sandbox) == 0
    assert loop(other, played(place), "--mode=strict", sandbox=sandbox) == 0
    assert tree(other.root) == tree(place.root)
    assert tree(other.root)["bytes"] == (0o600, b"\xff\x00x")
    assert other.read()["iteration"] == 2


def test_another_tree_at_the_start_is_a_divergence(place: Place, other: Place) -> None:
    assert loop(place, AGENT, "--mode=logged") == 0
    other.write("seed", "not the same\n")
    assert loop(other, played(place), "--mode=strict") == 1
    assert not (other.root / "note").exists()
    assert "it begins with another tree" in other.events("loop.finished")[-1]["reason"]


def test_another_prompt_is_a_divergence_that_is_shown(place: Place, other: Place) -> None:
    assert loop(place, AGENT, "--mode=logged") == 0
    assert loop(other, played(place), "--mode=strict", task="do something else") == 1
    reason = other.events("loop.finished")[-1]["reason"]
    assert "iteration 1" in reason
    assert "is 'do something else', and was 'do it'" in reason


def test_what_was_not_recorded_is_a_divergence(place: Place, other: Place) -> None:
    assert loop(place, "--agent-cmd=ln -s seed link; echo done > result", "--mode=logged") == 0
    assert loop(other, played(place), "--mode=strict") == 1
    assert "it leaves another tree" in other.events("loop.finished")[-1]["reason"]
    assert not (other.root / "result").exists()


def test_a_record_that_ends_before_the_work_does_is_a_failure(place: Place, other: Place) -> None:
    assert loop(place, "--agent-cmd=echo more >> note", "--mode=logged") == 4
    recording = place.directory() / "recording"
    (recording / "iteration-002.json").unlink()
    assert loop(other, played(place), "--mode=strict") == 1
    assert "iteration 2: the record has no such iteration" in other.events("loop.finished")[-1]["reason"]


def test_only_what_was_recorded_can_be_played_strictly(place: Place, other: Place) -> None:
    plain = other.cassette([{"write": "result", "content": "done"}])
    assert loop(other, plain, "--mode=strict") == 2
    assert loop(other, "--agent-cmd=true", "--mode=strict") == 2
    empty = other.beside / "empty"
    empty.mkdir()
    assert loop(other, f"--agent=replay:{empty}", "--mode=strict") == 2
    assert not other.loops()
    assert loop(place, AGENT, "--mode=logged") == 0
    shutil.copytree(place.directory() / "recording", other.beside / "kept")
    scene = other.beside / "kept/iteration-001.json"
    broken = json.loads(scene.read_text())
    del broken["iteration"][0]["expect"]["tree"]
    scene.write_text(json.dumps(broken))
    assert loop(other, f"--agent=replay:{other.beside / 'kept'}", "--mode=strict") == 2


def test_seeded_needs_a_model_and_an_agent_that_is_known(place: Place) -> None:
    assert loop(place, "--agent=codex", "--mode=seeded") == 2
    assert loop(place, AGENT, "--mode=seeded", "--model=m") == 2
    assert not place.loops()


SECRET = "sk-ant-planted-0123456789"


@pytest.mark.parametrize("written", ['"$ANTHROPIC_API_KEY"', '"\\377$ANTHROPIC_API_KEY"'], ids=["text", "bytes"])
def test_a_secret_that_the_agent_writes_into_a_file_is_not_recorded_and_a_replay_differs_there(
    place: Place, other: Place, monkeypatch: pytest.MonkeyPatch, written: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", SECRET)
    assert loop(place, f"--agent-cmd=printf {written} > key; echo done > result", "--mode=logged") == 0
    assert (place.root / "key").read_bytes().endswith(SECRET.encode())
    (scene,) = json.loads((place.directory() / "recording/iteration-001.json").read_text())["iteration"]
    (key,) = (step for step in scene["steps"] if step.get("write") == "key")
    kept = b64decode(key["base64"]) if "base64" in key else key["content"].encode()
    assert kept.endswith(b"[ANTHROPIC_API_KEY]")
    assert loop(other, played(place), "--mode=strict") == 1
    assert "it leaves another tree" in other.events("loop.finished")[-1]["reason"]


LIMITED = (
    '--agent-cmd=echo "$RALPH_ITERATION" >> tries; case $(wc -l < tries) in '
    "2) echo half > half; rm seed; "
    """printf '{"usage_limit": {"resume_at": "2026-01-01T00:00:00Z"}}' > "$RALPH_RESULT_FILE"; exit 1;; """
    "3) rm half; echo other > seed;; 4) echo done > result;; esac"
)


@pytest.mark.parametrize("sandbox", ["overlay", "none"])
def test_an_iteration_that_met_a_providers_limit_is_played_with_what_was_done_before_it(
    place: Place, other: Place, sandbox: str
) -> None:
    assert loop(place, LIMITED, "--mode=logged", sandbox=sandbox) == 0
    assert (place.root / "tries").read_text() == "1\n2\n2\n3\n"
    attempts = json.loads((place.directory() / "recording/iteration-002.json").read_text())["iteration"]
    assert len(attempts) == 2
    assert loop(other, played(place), "--mode=strict", sandbox=sandbox) == 0
    assert tree(other.root) == tree(place.root)
    assert other.read()["iteration"] == 3


def test_a_limit_in_the_last_attempt_throws_nothing_away(place: Place, other: Place) -> None:
    limit = """printf '{"usage_limit": {}}' > "$RALPH_RESULT_FILE"; exit 1"""
    assert loop(place, f"--agent-cmd=echo done > result; {limit}", "--mode=logged") == 0
    assert loop(other, played(place), "--mode=strict") == 0
    assert tree(other.root) == tree(place.root)


@pytest.mark.parametrize("stop", ["pause", "kill"])
def test_an_attempt_that_was_thrown_away_is_not_played(place: Place, other: Place, stop: str) -> None:
    agent = "grep -q 'was thrown away' && echo done > result || { echo lost > lost; echo holding; sleep 300; }"
    words = ("do it", "--agent-cmd", agent, "--until", CHECK, "-n3", "--no-measure", "--mode=logged")
    with place.running(*words, sandbox="--sandbox=overlay") as process:
        outputs = place.state.loops
        wait_for(lambda: any("holding" in path.read_text() for path in outputs.glob("*/outputs/*.jsonl")), "it works")
        if stop == "pause":
            assert place.ralph("pause", place.loop, "--now").returncode == 0
            assert ended(process)[0] == 8
        else:
            process.kill()
            process.wait()
    assert place.ralph("resume", place.loop).returncode == 0
    assert not (place.root / "lost").exists()
    assert loop(other, played(place), "--mode=strict") == 0
    assert tree(other.root) == tree(place.root)

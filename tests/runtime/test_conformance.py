"""`ralph agents check`: what an agent must keep to, tried with ones that do and ones that do not."""

import json
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.actor import KEYS
from real_agents.recorded import load
from support import ralph

GOOD = {
    "no-such": 'echo "there is no such model" >&2; exit 3',
    "seq 1 200000": "seq 1 200000",
    "touch begun": "touch begun; sleep 300.0625",
    "check-1.txt": "echo proven > ralph-check-1.txt; echo FINISHED",
    "check-2.txt": "echo ralph-check-1.txt > ralph-check-2.txt",
    "check-3.txt": "echo proven > ralph-check-3.txt",
    "outside.txt": "echo proven > ../ralph-check-outside.txt || echo 'I cannot.'",
}
STATED = '{"session": "s", "usage": {"input_tokens": 10, "output_tokens": 2}, "status": "continue"}'
SCENES = ["finish", "tells", "resume", "prompt of 1 MB", "output of 1 MB", "refusal", "fail", "hang", "kill"]


@pytest.fixture
def var_tmp_path() -> Iterator[Path]:
    """What is in /tmp is not seen in a room."""
    with tempfile.TemporaryDirectory(prefix="ralph-conformance-", dir="/var/tmp") as made:
        yield Path(made)


def agent(directory: Path, *, states: str = STATED, **other: str) -> Path:
    """A script that does what it is asked to; `other` are scenes in which it does something else."""
    path = directory / "agent"
    acts = {**GOOD, **{name.replace("_", " "): act for name, act in other.items()}}
    cases = "\n".join(f'*"{name}"*) {act};;' for name, act in acts.items())
    path.write_text(
        f'#!/bin/sh\nprompt="$(cat) $RALPH_MODEL"\ncase "$prompt" in\n{cases}\nesac\n'
        f"echo '{states}' > \"$RALPH_RESULT_FILE\"\nexit 0\n"
    )
    path.chmod(0o755)
    return path


def checked(directory: Path, program: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    named = ("agents", "check", "command", "--agent-cmd", str(program), "--yes", *words)
    return ralph(*named, cwd=directory)


def outcomes(directory: Path, program: Path, *words: str) -> dict[str, tuple[bool, str]]:
    told = json.loads(checked(directory, program, "--json", *words).stdout)
    return {one["scene"]: (one["ok"], one["why"]) for one in told["outcomes"]}


@pytest.mark.parametrize("sandbox", ["overlay", "none"])
def test_an_agent_that_keeps_to_it(var_tmp_path: Path, sandbox: str) -> None:
    found = outcomes(var_tmp_path, agent(var_tmp_path), "--sandbox", sandbox)
    assert list(found) == SCENES
    wrong = {name: why for name, (ok, why) in found.items() if not ok}
    assert wrong == {"tells": "it does not tell what it does"}


@pytest.mark.parametrize(
    ("scene", "act", "why"),
    [
        ("check-1.txt", "echo other > ralph-check-1.txt", "says 'other"),
        ("check-1.txt", "true", "it made no ralph-check-1.txt"),
        ("check-2.txt", "echo anew > ralph-check-2.txt", "says 'anew"),
        ("check-3.txt", "exit 7", "exited with 7"),
        ("no-such", "echo fine", "it says that all went well"),
        ("touch begun", "echo later", "it did not run the command"),
    ],
)
def test_one_that_does_not_is_found_out(var_tmp_path: Path, scene: str, act: str, why: str) -> None:
    done = checked(var_tmp_path, agent(var_tmp_path, **{scene: act}))
    assert done.returncode == 1
    assert why in done.stdout


def test_an_agent_without_sessions_is_said_to_begin_anew(var_tmp_path: Path) -> None:
    found = outcomes(var_tmp_path, agent(var_tmp_path, states="{}"))
    assert not found["resume"][0]
    assert "begins anew" in found["resume"][1]


def test_nothing_is_asked_of_a_model_without_a_yes(tmp_path: Path) -> None:
    done = ralph("agents", "check", "command", "--agent-cmd", "touch asked", cwd=tmp_path)
    assert done.returncode == 2
    assert "--yes" in done.stderr


def test_an_agent_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    done = ralph("agents", "check", "claude", "--yes", cwd=tmp_path)
    assert done.returncode == 6
    assert "claude is not on PATH" in done.stderr


@pytest.mark.parametrize("name", ["claude", "auto"])
def test_the_projects_own_program_is_not_started_in_place_of_the_agent(
    var_tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for key in KEYS:
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    project, installed = var_tmp_path / "project", var_tmp_path / "bin"
    (var_tmp_path / "out").write_text(load("claude", "turn")[0].out)
    for place in (project / "bin", installed):
        place.mkdir(parents=True)
        (place / "claude").write_text(f"#!/bin/sh\ntouch {place}/ran\ncat > /dev/null; cat {var_tmp_path}/out\n")
        (place / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{project}/bin:{installed}:/usr/bin:/bin")
    done = ralph("agents", "check", name, "--yes", "--json", "--sandbox=none", cwd=project)
    assert json.loads(done.stdout)["agent"] == "claude"
    assert (installed / "ran").exists()
    assert not (project / "bin/ran").exists()

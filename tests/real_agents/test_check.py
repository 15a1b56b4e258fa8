"""`ralph agents check` with real agents and a scripted model that does what it is asked to."""

import subprocess
from pathlib import Path

import pytest

from models.script import Bash, Failure, Step, Turn, Write
from real_agents.cases import stage
from real_agents.install import missing
from real_agents.loops import arguments, command
from untilproven.runtime import conformance

ENDED = Turn(say="FINISHED")
STEPS: tuple[Step, ...] = (
    *(Turn(calls=(Write(write=conformance.FIRST, content=conformance.WORD),)), ENDED),
    *(Turn(calls=(Write(write=conformance.SECOND, content=conformance.FIRST),)), ENDED),
    *(Turn(calls=(Write(write=conformance.THIRD, content=conformance.WORD),)), ENDED),
    *(Turn(calls=(Bash(bash="seq 1 200000"),)), ENDED),
    *(Turn(calls=(Bash(bash=f"echo x > ../{conformance.OUTSIDE}"),)), ENDED),
    Failure(fail="too_long"),
    Turn(calls=(Bash(bash="touch begun; sleep 300.0625"),)),
    *(Turn(calls=(Bash(bash="touch begun; sleep 300.0625"),)), ENDED),
)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_a_real_agent_keeps_to_what_a_loop_relies_on(name: str, tmp_path: Path) -> None:
    if why := missing(name):
        pytest.skip(why)
    with stage(name, {name: STEPS}, tmp_path) as (place, _):
        argv, env = command(name, place)
        words = [*argv[: argv.index("run")], "agents", "check", name, "--yes", *arguments(name, place)]
        done = subprocess.run(
            words, cwd=place.root, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.count("ok ") == 9

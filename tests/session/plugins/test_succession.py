"""Stop events that follow each other as quickly as an agent can raise them: each is answered, none is let go."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ID = "0b1c2d3e-1111-4222-8333-444455556666"
TURNS = 8


def hook(event: str, root: Path, **more: object) -> dict[str, Any]:
    told = {"session_id": ID, "cwd": str(root), **more}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "untilproven", "hook", event, "--agent", "claude"],
        cwd=root,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull},
        input=json.dumps(told).encode(),
        capture_output=True,
        check=True,
        timeout=60,
    )
    answer: dict[str, Any] = json.loads(done.stdout or b"{}")
    return answer


def test_none_is_taken_for_the_one_before(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    begun = hook("prompt", tmp_path, prompt=f"/ralph make it --until false --max-iterations {TURNS}")
    assert "additionalContext" in begun["hookSpecificOutput"]
    for at in range(2, TURNS + 1):
        answer = hook("stop", tmp_path, last_assistant_message=f"turn {at}")
        assert answer.get("decision") == "block", (at, answer)
        assert f"ITERATION {at}/{TURNS}]" in answer["reason"]
    assert "decision" not in hook("stop", tmp_path, last_assistant_message="the last")
    (state,) = tmp_path.glob(".aiwg/ralph/loops/*/state.json")
    assert json.loads(state.read_bytes())["status"] == "failed"

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support import ralph
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state

HOOK = {
    "active": True,
    "task": "fix the tests",
    "completion": "npm test",
    "maxIterations": 10,
    "currentIteration": 1,
    "startTimestamp": 1769421600000,
    "status": "running",
    "learnings": "mock\nthe clock",
}


def write(project: Project, raw: object, name: str = ".aiwg/ralph/current-loop.json") -> Path:
    path = project.home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(raw if isinstance(raw, str) else json.dumps(raw))
    return path


def test_nothing_to_do_is_said_and_is_no_failure(project: Project) -> None:
    done = ralph("migrate", cwd=project.root)
    assert (done.returncode, done.stdout) == (0, "")
    assert "nothing to migrate" in done.stderr
    assert ".aiwg/ralph/current-loop.json" in done.stderr
    assert json.loads(ralph("migrate", "--json", cwd=project.root).stdout) == {"migrations": []}


def test_it_says_what_was_found_what_it_became_and_what_was_kept(project: Project) -> None:
    write(project, HOOK)
    done = ralph("migrate", cwd=project.root)
    assert done.returncode == 0
    first, second, third, fourth = done.stdout.splitlines()
    assert first == ".aiwg/ralph/current-loop.json: a loop file of the stop hook"
    assert second.startswith("  becomes ralph-fix-the-tests-")
    assert second.endswith(": paused (migrated; was running), 1 finished iteration, takes a slot")
    assert third == "  kept under `legacy` in its state: active, status, learnings"
    assert fourth == "  the file itself is untouched"


def test_a_second_run_names_the_loop(project: Project) -> None:
    write(project, HOOK)
    first = json.loads(ralph("migrate", "--json", cwd=project.root).stdout)["migrations"][0]
    again = ralph("migrate", cwd=project.root)
    assert (first["outcome"], first["registered"], first["shape"]) == ("migrated", True, "hook")
    assert None not in first.values()
    assert again.returncode == 0
    assert f"already migrated as {first['loop_id']}" in again.stdout


def test_runs_at_the_same_time_make_one_loop(project: Project) -> None:
    write(project, HOOK)
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda _: ralph("migrate", "--json", cwd=project.root), range(6)))
    rows = [json.loads(run.stdout)["migrations"][0] for run in done]
    assert sorted(row["outcome"] for row in rows) == ["already"] * 5 + ["migrated"]
    assert len({row["loop_id"] for row in rows}) == 1


def test_a_dry_run_says_would_and_does_nothing(project: Project) -> None:
    write(project, HOOK)
    done = ralph("migrate", "--dry-run", cwd=project.root)
    assert done.returncode == 0
    assert "would become a new id" in done.stdout
    assert not project.state.loops.exists()


def test_the_words_of_the_file_cannot_write_on_the_terminal(project: Project) -> None:
    write(
        project,
        {**HOOK, "status": "odd\x1b[31m\nword", "evil\nkey\x1b[2J": 1, **{f"key{number}": 1 for number in range(30)}},
    )
    done = ralph("migrate", cwd=project.root, env={**os.environ, "FORCE_COLOR": "1"})
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 4
    assert "more" in done.stdout


@pytest.mark.parametrize(
    ("raw", "code", "kind"), [("{", 1, "damaged"), ("[]", 1, "damaged"), ({"hello": 1}, 2, "unknown_shape")]
)
def test_a_file_that_cannot_be_used_is_named_with_the_cause(
    project: Project, raw: object, code: int, kind: str
) -> None:
    write(project, raw)
    done = ralph("migrate", cwd=project.root)
    assert (done.returncode, done.stdout) == (code, "")
    assert ".aiwg/ralph/current-loop.json" in done.stderr
    assert "Traceback" not in done.stderr
    error = json.loads(ralph("migrate", "--json", cwd=project.root).stdout)["error"]
    assert (error["kind"], error["exit_code"]) == (kind, code)
    assert error["migrations"][0]["outcome"] == "refused"


def test_one_bad_file_of_two_fails_and_still_tells_of_the_good_one(project: Project) -> None:
    write(project, "{")
    write(project, HOOK, ".aiwg/ralph-external/session-state.json")
    done = ralph("migrate", cwd=project.root)
    assert done.returncode == 1
    assert "session-state.json: a loop file of the stop hook" in done.stdout
    assert "current-loop.json is not readable" in done.stderr


def test_two_bad_files_are_both_told_of(project: Project) -> None:
    write(project, "{")
    write(project, {"hello": 1}, ".aiwg/ralph-external/session-state.json")
    done = ralph("migrate", cwd=project.root)
    assert done.returncode == 1
    assert "current-loop.json" in done.stderr
    assert "session-state.json" in done.stderr


def test_a_full_registry_is_exit_code_7_with_the_list(project: Project) -> None:
    names = []
    for number in range(4):
        with create_state(project, f"task {number}") as writer:
            names.append(writer.state.loop_id)
    write(project, HOOK)
    done = ralph("migrate", cwd=project.root)
    assert done.returncode == 7
    assert all(name in done.stderr for name in names)


def test_copied_and_missing_files_are_listed(project: Project) -> None:
    old = ".aiwg/ralph/checkpoints/iteration-001.json.gz"
    write(project, "bytes", old)
    write(project, {**HOOK, "lastCheckpoint": old})
    assert f"  copied: {old}\n" in ralph("migrate", cwd=project.root).stdout
    write(project, {**HOOK, "lastCheckpoint": "/gone"})
    changed = ralph("migrate", cwd=project.root).stdout
    assert "not brought along, because it cannot be found or copied: /gone" in changed
    assert "has changed since it was migrated as" in changed

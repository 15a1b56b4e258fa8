"""What a task must leave alone is enforced, and not only told to the agent."""

import json
import subprocess
from pathlib import Path

import pytest

from runtime.loops import Place
from untilproven.runtime.boundaries import crossed


@pytest.mark.parametrize(
    ("pattern", "meant", "not_meant"),
    [
        ("*.lock", ["yarn.lock", "web/yarn.lock"], ["yarn.lock.md", "lock"]),
        ("src/legacy/**", ["src/legacy/a.py", "src/legacy/b/c.py"], ["src/a.py", "legacy/a.py"]),
        ("src/legacy", ["src/legacy/a.py", "src/legacy"], ["src/legacy2/a.py"]),
        ("migrations/", ["migrations/1.sql", "db/migrations/1.sql"], ["migrations.md"]),
        ("./migrations", ["migrations/1.sql"], ["db/migrations/1.sql"]),
        ("docs/*.md", ["docs/a.md"], ["docs/b/a.md", "a.md"]),
        (".env", [".env", "web/.env"], [".env.example"]),
    ],
)
def test_which_paths_a_pattern_means(pattern: str, meant: list[str], not_meant: list[str]) -> None:
    found = [*crossed([*meant, *not_meant], (pattern,))]
    assert [one.path for one in found] == meant
    assert all(one.blocking for one in found)
    assert [*crossed(meant, ())] == []


def git(here: Place, *words: str) -> None:
    subprocess.run(["git", *words], cwd=here.root, check=True, capture_output=True)


@pytest.mark.parametrize("honest", [True, False], ids=["then leaves it", "never leaves it"])
def test_work_that_crosses_a_boundary_is_taken_back(tmp_path: Path, honest: bool) -> None:
    here = Place(tmp_path)
    git(here, "init", "-q")
    for key, value in (("user.name", "u"), ("user.email", "u@v")):
        git(here, "config", key, value)
    here.write("yarn.lock", "pinned\n")
    here.write(".ralphy/config.yaml", "boundaries:\n  never_touch:\n    - '*.lock'\n")
    here.write("PRD.md", "- [ ] make it\n  - [ ] `test -s a.txt` passes\n")
    git(here, "add", "-A")
    git(here, "commit", "-qm", "first")
    agent = tmp_path / "agent.sh"
    bad = "echo made > a.txt; echo changed > yarn.lock"
    good = 'case "$(cat)" in *"Do the task without changing them"*) echo made > a.txt;; *) ' + bad + ";; esac"
    agent.write_text(f"#!/bin/sh\n{good if honest else bad}\n")
    agent.chmod(0o755)
    assert here.ralph("task", "import", "PRD.md").returncode == 0
    assert here.ralph("trust", "--yes").returncode == 0
    words = (f"--agent-cmd={agent}", f"--share={agent}", "--sandbox=overlay", "--task-max-iterations=3")
    ran = here.ralph("work", *words)
    [task] = json.loads(here.ralph("task", "list", "--all", "--json").stdout)["tasks"]
    assert (here.root / "yarn.lock").read_text() == "pinned\n"
    assert (here.root / "a.txt").exists() == honest
    assert task["status"] == ("done" if honest else "blocked"), ran.stderr
    if not honest:
        assert "UP-200" in task["blocker"]

"""`ralph mcp`, asked by the protocol's own client over stdin and stdout."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from session.scenes import CHECK, broken_sum, mend
from untilproven.session.audit import Shown, missing, requirements_in
from untilproven.store.layout import Project
from untilproven.store.registry import read_registry

Call = Callable[..., Awaitable[dict[str, Any]]]
TASK = "Mend the sums:\n- add gives the sum of both\n- the tests pass"
AUDIT = [
    {"requirement": "add gives the sum of both", "evidence": "add(1, 2) returned 3", "files": ["sums.py"]},
    {"requirement": "the tests pass", "evidence": "python -m unittest ran 1 test: OK", "files": []},
]


def talk(root: Path, story: Callable[[Call], Awaitable[None]]) -> None:
    async def run() -> None:
        server = StdioServerParameters(
            command=sys.executable, args=["-P", "-m", "untilproven", "mcp"], cwd=str(root), env=dict(os.environ)
        )
        async with Client(server) as client:

            async def call(name: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result
                if result.structured_content is not None:
                    found = result.structured_content
                    return found.get("result", found) if isinstance(found, dict) else found  # type: ignore[no-any-return]
                told: dict[str, Any] = json.loads(result.content[0].text)  # type: ignore[union-attr]
                return told

            await story(call)

    asyncio.run(asyncio.wait_for(run(), 90))


def test_a_completion_is_checked_and_a_false_one_refused(project: Project) -> None:
    broken_sum(project.root)

    async def story(call: Call) -> None:
        begun = await call("ralph_start", task=TASK, until=[CHECK])
        loop = begun["loop"]
        assert begun["requirements"] == ["add gives the sum of both", "the tests pass"]
        assert len(read_registry(project.state).registry.active_loops) == 1
        going_on = await call("ralph_report", loop=loop, summary="looked at it")
        assert (going_on["status"], going_on["iteration"]) == ("running", 2)
        refused = await call("ralph_complete", loop=loop, summary="done", audit=AUDIT)
        assert (refused["status"], refused["iteration"]) == ("running", 3)
        assert "AssertionError" in refused["message"]
        mend(project.root)
        done = await call("ralph_complete", loop=loop, summary="done", audit=AUDIT)
        assert done["status"] == "completed"
        written = json.loads(project.state.loop(loop).receipt.read_text())
        assert written["proof"] == "red-to-green"
        assert "add(1, 2) returned 3" in written["claims"][-1]["text"]
        assert (await call("ralph_show", loop=loop))["status"] == "completed"
        assert "error" in await call("ralph_report", loop=loop, summary="more")

    talk(project.root, story)


def test_without_an_audit_nothing_is_checked(project: Project) -> None:
    broken_sum(project.root)

    async def story(call: Call) -> None:
        loop = (await call("ralph_start", task=TASK, until=[CHECK]))["loop"]
        told = await call("ralph_complete", loop=loop, summary="done", audit=AUDIT[:1])
        assert told["problems"] == ["nothing is said about: the tests pass"]
        assert (told["status"], told["iteration"]) == ("running", 1)
        assert (await call("ralph_cancel", loop=loop))["status"] == "aborted"
        assert read_registry(project.state).registry.active_loops == ()

    talk(project.root, story)


def test_mistakes_are_told(project: Project) -> None:
    async def story(call: Call) -> None:
        assert "no check" in (await call("ralph_start", task="x"))["error"]
        assert "at least 1" in (await call("ralph_start", task="x", max_iterations=0, trust_promise=True))["error"]
        assert "error" in await call("ralph_show", loop="ralph-none-00000000")

    talk(project.root, story)


def test_without_the_package_it_says_what_to_install(project: Project) -> None:
    run = "import sys; sys.modules['mcp'] = None; from untilproven.cli.main import run; sys.exit(run(['mcp']))"
    told = subprocess.run([sys.executable, "-c", run], cwd=project.root, capture_output=True, text=True, check=False)
    assert told.returncode == 2
    assert "untilproven[mcp]" in told.stderr


def test_a_task_without_a_list_is_its_own_requirement() -> None:
    assert requirements_in("Fix\n  add") == ("Fix add",)
    assert requirements_in("Do:\n1. one\n2) two\n- [ ] three\n* four") == ("one", "two", "three", "four")


@pytest.mark.parametrize("evidence", ["done", "Done.", "Yes", "works now", "   ", "tested!", "ok"])
def test_a_word_is_no_evidence(evidence: str, tmp_path: Path) -> None:
    assert missing(["it works"], [Shown(requirement="it works", evidence=evidence)], tmp_path)


def test_files_that_are_named_must_be_there(tmp_path: Path) -> None:
    shown = Shown(requirement="it works", evidence="see the test in a.py", files=("a.py",))
    assert missing(["it works"], [shown], tmp_path) == ["a.py is not there, or is empty, for: it works"]
    (tmp_path / "a.py").write_text("x")
    assert missing(["It  works"], [shown], tmp_path) == []
    outside = Shown(requirement="it works", evidence="see the test there", files=("../../etc/passwd",))
    assert missing(["it works"], [outside], tmp_path)

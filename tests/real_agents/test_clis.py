"""Every agent by itself against the scripted model: the server speaks its language, and it says what was recorded."""

from pathlib import Path
from typing import Any

import pytest

from models.script import Turn
from real_agents import recorded
from real_agents.cases import CASES, DONE, play, stage
from real_agents.clients import CLIENTS
from real_agents.install import TOOLS, missing
from real_agents.running import run, version

pytestmark = pytest.mark.timeout(400)


def agents(*names: str) -> list[Any]:
    return [
        pytest.param(name, marks=pytest.mark.skipif(bool(missing(name)), reason=missing(name)), id=name)
        for name in names or CLIENTS
    ]


each = pytest.mark.parametrize("name", agents())
each_case = pytest.mark.parametrize(
    ("name", "case"),
    [
        pytest.param(*one.values, case, marks=one.marks, id=f"{one.id}-{case}")
        for case, what in CASES.items()
        for one in agents(*what.agents)
    ],
)


@each
def test_it_is_the_pinned_version(name: str, tmp_path: Path) -> None:
    with stage(name, {name: []}, tmp_path) as (place, server):
        assert TOOLS[name].version in version(name, place)
        assert server.requests == []


@each
def test_a_turn_writes_a_file_and_ends_with_what_the_model_said(name: str, tmp_path: Path) -> None:
    played = play(name, CASES["turn"], tmp_path)
    (ran,) = played.runs
    assert (played.place.root / "made.txt").read_text() == "by the agent\n"
    assert ran.code == 0
    assert DONE in said(name, ran.out)
    assert ran.left == []
    assert "prompt 1" in played.server.turns(name)[0].prompt
    assert played.server.left(name) == []


@each_case
def test_it_says_and_ends_as_recorded(name: str, case: str, tmp_path: Path) -> None:
    played = play(name, CASES[case], tmp_path)
    then = recorded.load(name, case)
    assert [ran.code for ran in played.runs] == [one.code for one in then]
    if not CASES[case].killed:  # how far it had come is a matter of luck
        assert [shape(name, ran.out) for ran in played.runs] == [shape(name, one.out) for one in then]


@each
def test_a_session_goes_on_where_it_was(name: str, tmp_path: Path) -> None:
    played = play(name, CASES["resumed"], tmp_path)
    last = played.server.turns(name)[-1]
    assert "prompt 2" in last.prompt
    assert "prompt 1" in last.prompt
    assert last.asked
    assert "First." in last.asked.words("assistant")


@each
def test_a_prompt_of_1_mb_arrives(name: str, tmp_path: Path) -> None:
    prompt = "begin " + "do it well " * 90_909 + "end"
    with stage(name, {name: [Turn(say=DONE)]}, tmp_path) as (place, server):
        ran = run(name, place, prompt)
        assert ran.code == 0, ran.err
        assert prompt in server.turns(name)[0].prompt


def said(name: str, out: str) -> str:
    """The words of the model in the output of an agent."""
    if name == "aider":
        return out
    words = ""
    for event in recorded.events(out):
        match event:
            case {"type": "assistant", "message": {"content": list(blocks)}}:
                words += "".join(block.get("text", "") for block in blocks)
            case {"type": "item.completed", "item": {"type": "agent_message", "text": text}}:
                words += text
            case {"type": "text", "part": {"text": text}}:
                words += text
            case {"type": "message", "role": "assistant", "content": str(text)}:
                words += text
    return words


def shape(name: str, out: str) -> list[str]:
    """The kinds of the events as each first came, and the last one: what runs side by side ends in any order."""
    if name == "aider":
        return []
    kinds: list[str] = []
    for event in recorded.events(out):
        inner = event.get("item") or event.get("part") or {}
        kinds.append(".".join(str(part) for part in (event["type"], event.get("subtype"), inner.get("type")) if part))
    return [*dict.fromkeys(kinds), *kinds[-1:]]

"""A conversation that is kept from one run of the built-in agent to the next."""

from pathlib import Path

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from untilproven.agents.worker.memory import Memory


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    first = Memory(tmp_path, "")
    first.hear("one")
    first.add(ModelResponse(parts=[TextPart("I see.")]))
    second = Memory(tmp_path, first.session)
    assert second.session == first.session
    assert second.messages == first.messages
    kept = tmp_path / "sessions" / f"{first.session}.json"
    assert kept.stat().st_mode & 0o777 == 0o600


def test_a_call_that_was_interrupted_gets_an_answer(tmp_path: Path) -> None:
    first = Memory(tmp_path, "")
    first.hear("one")
    first.add(ModelResponse(parts=[ToolCallPart("bash", {"command": "sleep 9"}, "call-1")]))
    second = Memory(tmp_path, first.session)
    second.hear("two")
    last = second.messages[-1]
    assert isinstance(last, ModelRequest)
    answer, prompt = last.parts
    assert isinstance(answer, ToolReturnPart)
    assert (answer.tool_call_id, answer.outcome) == ("call-1", "interrupted")
    assert isinstance(prompt, UserPromptPart)
    assert prompt.content == "two"


def test_what_is_not_there_or_not_readable_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir()
    (tmp_path / "elsewhere.json").write_text("[]")
    broken = "0" * 32
    (tmp_path / "sessions" / f"{broken}.json").write_text('[{"kind": "')
    for session in (broken, "1" * 32, "../elsewhere", "x"):
        memory = Memory(tmp_path, session)
        assert memory.session != session
        assert memory.messages == []


def test_what_is_forgotten_begins_anew(tmp_path: Path) -> None:
    first = Memory(tmp_path, "")
    first.hear("one")
    first.forget()
    assert Memory(tmp_path, first.session).session != first.session

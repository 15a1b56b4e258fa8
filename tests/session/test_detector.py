"""A promise counts where the agent speaks, after the loop began, and nowhere else."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from untilproven.model.session import SessionLoopState
from untilproven.session import (
    CONTINUATION_PROMPT_TEMPLATE,
    build_continuation_prompt,
    detect_completion_promise,
    detect_in_messages,
    detect_in_transcript,
)


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("<promise>DONE</promise>", "DONE"),
        ("<promise>  DONE\n</promise>", "DONE"),
        ("<PROMISE>done</PROMISE>", "DONE"),
        ("All fixed.\n<promise>ALL_FIXED</promise>", "ALL_FIXED"),
        ("<promise>a.*(b)+$ [c] \\d</promise>", "a.*(b)+$ [c] \\d"),
    ],
)
def test_a_promise_that_is_given_is_seen(text: str, promise: str) -> None:
    assert detect_completion_promise(text, promise)


@pytest.mark.parametrize(
    ("text", "promise"),
    [
        ("DONE", "DONE"),
        ("<promise>DONE</promise>", "ALL_FIXED"),
        ("```\n<promise>DONE</promise>\n```", "DONE"),
        ("I will say `<promise>DONE</promise>` later", "DONE"),
        ('when it is done I say "<promise>DONE</promise>"', "DONE"),
        ("<promise>DONE</promise> is what I cannot say yet", "DONE"),
        ("> <promise>DONE</promise>", "DONE"),
        ("<promise>aXb</promise>", "a.b"),
        ("<promise></promise>", ""),
    ],
)
def test_a_promise_that_is_not_given_is_not_seen(text: str, promise: str) -> None:
    assert not detect_completion_promise(text, promise)


def message(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def test_only_the_assistant_speaks_for_itself() -> None:
    tag = "<promise>DONE</promise>"
    assert detect_in_messages([message("user", "go"), message("assistant", tag)], "DONE")
    assert not detect_in_messages([message("user", tag)], "DONE")
    assert not detect_in_messages([message("system", tag)], "DONE")
    parts = [
        {"type": "reasoning", "text": tag},
        {"type": "tool_result", "content": tag},
        {"type": "text", "text": "no"},
    ]
    assert not detect_in_messages([message("assistant", parts)], "DONE")
    assert detect_in_messages([message("assistant", [{"type": "text", "text": tag}])], "DONE")


def test_every_message_of_a_long_turn_is_looked_at() -> None:
    turn = [message("user", "go"), message("assistant", "<promise>DONE</promise>")]
    turn += [message("assistant", f"and {number}") for number in range(20)]
    assert detect_in_messages(turn, "DONE")


def test_a_promise_is_seen_after_the_host_has_shortened_the_past() -> None:
    messages = [{"role": "user", "content": "a summary"}, {"role": "assistant", "content": "<promise>DONE</promise>"}]
    assert detect_in_messages(messages, "DONE", since=40)


def test_what_was_said_before_the_loop_began_is_no_claim() -> None:
    before = [message("assistant", "<promise>DONE</promise>")]
    assert detect_in_messages(before, "DONE")
    assert not detect_in_messages(before, "DONE", since=1)
    assert not detect_in_messages([*before, message("user", "go"), message("assistant", "at it")], "DONE")


def transcript(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_a_transcript_of_claude_is_read_from_its_end(tmp_path: Path) -> None:
    said = {"type": "assistant", "message": {"id": "m1", "role": "assistant", "content": []}}
    tag = {**said, "message": {**said["message"], "content": [{"type": "text", "text": "<promise>DONE</promise>"}]}}  # type: ignore[dict-item]
    tool = {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "ok"}]}}
    path = transcript(tmp_path / "t.jsonl", tool, tag, {"type": "system", "subtype": "stop_hook_summary"})
    assert detect_in_transcript(path, "DONE")
    human = {"type": "user", "message": {"role": "user", "content": "<promise>DONE</promise>"}}
    assert not detect_in_transcript(transcript(path, tag, human), "DONE")


def test_a_rollout_of_codex_is_read(tmp_path: Path) -> None:
    content = [{"type": "output_text", "text": "<promise>DONE</promise>"}]
    item = {"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": content}}
    assert detect_in_transcript(transcript(tmp_path / "r.jsonl", item, {"type": "event_msg", "payload": {}}), "DONE")


def test_what_a_transcript_has_from_before_the_start_does_not_count(tmp_path: Path) -> None:
    line = {
        "type": "assistant",
        "timestamp": "2026-02-02T10:00:00.000Z",
        "message": {"role": "assistant", "content": "<promise>DONE</promise>"},
    }
    path = transcript(tmp_path / "t.jsonl", line)
    assert detect_in_transcript(path, "DONE", since="2026-02-02T09:00:00Z")
    assert not detect_in_transcript(path, "DONE", since="2026-02-02T11:00:00Z")


def test_a_transcript_that_is_not_there_or_is_no_file_says_nothing(tmp_path: Path) -> None:
    assert not detect_in_transcript(None, "DONE")
    assert not detect_in_transcript(tmp_path / "none", "DONE")
    assert not detect_in_transcript(tmp_path, "DONE")
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert not detect_in_transcript(tmp_path / "link", "DONE")


def test_a_large_transcript_with_broken_lines_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    last = json.dumps(
        {"type": "assistant", "message": {"role": "assistant", "content": "x" * 600_000 + "\n<promise>DONE</promise>"}}
    )
    noise = json.dumps(
        {"type": "user", "message": {"role": "user", "content": [{"type": "tool_result", "content": "y" * 1000}]}}
    )
    path.write_text((noise + "\n") * 3000 + last + "\n{not json\n\n")
    assert detect_in_transcript(path, "DONE")


def test_a_prompt_is_filled_once_and_literally() -> None:
    state = SessionLoopState(
        active=True,
        iteration=3,
        max_iterations=7,
        completion_promise="P",
        started_at=datetime(2026, 2, 2, tzinfo=UTC),
        prompt="say {{PROMISE}} and \\1 $& {{ITERATION}}",
        session_id="s",
    )
    told = build_continuation_prompt(CONTINUATION_PROMPT_TEMPLATE, state)
    assert told.startswith("[RALPH LOOP - ITERATION 3/7]")
    assert "<promise>P</promise>" in told
    assert told.endswith("say {{PROMISE}} and \\1 $& {{ITERATION}}")

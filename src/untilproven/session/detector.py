"""Did the agent say that it is done? In a text, in messages, in a transcript; and what it is told if it did not."""

import re
from collections.abc import Sequence
from pathlib import Path

from untilproven.core.prompt import fill
from untilproven.model.session import SessionLoopState
from untilproven.session.records import Message
from untilproven.session.transcripts import last_words, text_of

_TAG = re.compile(r"<promise>", re.IGNORECASE)


def detect_completion_promise(text: str, promise: str, *, prompt: str = "") -> bool:
    """`<promise>TEXT</promise>`, spoken: not in code, not quoted, at the end of its line, and no echo of the prompt."""
    if not _TAG.search(text):
        return False
    from untilproven.core.promise import promised  # noqa: PLC0415  few turns end with one

    return promised(text, promise, prompt=prompt)


def detect_in_messages(messages: Sequence[Message], promise: str, *, since: int = 0, prompt: str = "") -> bool:
    """Only what the assistant has said after the loop began, in answer to what it was told last."""
    return any(detect_completion_promise(text, promise, prompt=prompt) for text in spoken(messages, since))


def spoken(messages: Sequence[Message], since: int = 0) -> list[str]:
    """The assistant's own words since the last message of anybody else, the newest first."""
    found = []
    begin = since if 0 <= since <= len(messages) else 0  # a host may have made a long past short
    for message in reversed(messages[begin:]):
        role = message.get("role")
        if role == "assistant":
            found.append(text_of(message.get("content")))
        elif role == "user":
            break
    return [text for text in found if text]


def is_waiting_for_assistant(messages: Sequence[Message]) -> bool:
    """Whether the last word is the user's."""
    last = next(
        (message.get("role") for message in reversed(messages) if message.get("role") in {"user", "assistant"}), ""
    )
    return last == "user"


def detect_in_transcript(
    transcript_path: str | Path | None, promise: str, *, since: str = "", prompt: str = ""
) -> bool:
    """In the assistant's last words, as an agent's own record of the session has them, if they are from after then."""
    if not transcript_path:
        return False
    return detect_completion_promise(last_words(str(transcript_path), since), promise, prompt=prompt)


def build_continuation_prompt(template: str, state: SessionLoopState) -> str:
    """Literal and in one pass: a prompt that has `{{PROMISE}}` in it stays as it is."""
    return fill(
        template,
        {
            "ITERATION": str(state.iteration),
            "MAX": str(state.max_iterations),
            "PROMISE": state.completion_promise,
            "PROMPT": state.prompt,
        },
    )

"""Where a secret would be kept, the name of its variable stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.core.redaction import Redacted, Redaction
from untilproven.model.events import AgentEvent

KEY = "sk-ant-0123456789"
redaction = Redaction({"ANTHROPIC_API_KEY": KEY, "OTHER_TOKEN": f"{KEY}-and-more", "SHORT_KEY": "abc"})


def test_a_value_is_replaced_by_its_name() -> None:
    assert redaction.text(f"key={KEY}, again {KEY}.") == "key=[ANTHROPIC_API_KEY], again [ANTHROPIC_API_KEY]."


def test_of_two_that_begin_alike_the_longer_is_seen() -> None:
    assert redaction.text(f"{KEY}-and-more") == "[OTHER_TOKEN]"


def test_a_short_value_is_in_too_many_words() -> None:
    assert redaction.text("abcdef") == "abcdef"


def test_no_secrets_change_nothing() -> None:
    none = Redaction({})
    event = AgentEvent(iteration=1, kind="text", text=KEY)
    assert none.text(KEY) == KEY
    assert none.record(event) is event
    assert Redacted(none).feed(b"x") == b"x"


def test_a_record_is_clean_in_every_field() -> None:
    event = AgentEvent(iteration=1, kind="action", text=f"echo {KEY}", data={"target": [f"{KEY}", {"deep": KEY}]})
    clean = redaction.record(event)
    assert clean == AgentEvent(
        iteration=1,
        kind="action",
        text="echo [ANTHROPIC_API_KEY]",
        data={"target": ["[ANTHROPIC_API_KEY]", {"deep": "[ANTHROPIC_API_KEY]"}]},
    )


def test_a_record_without_any_is_the_same() -> None:
    event = AgentEvent(iteration=1, kind="text", text="nothing")
    assert redaction.record(event) is event


@pytest.mark.parametrize("value", ['quote"and\\slash', "new\nline-and-tab\t", "schlüssel-äöü"])
def test_a_value_that_json_spells_otherwise_is_found(value: str) -> None:
    event = AgentEvent(iteration=1, kind="text", text=f"<{value}>")
    assert Redaction({"MY_SECRET": value}).record(event).text == "<[MY_SECRET]>"


@given(st.lists(st.binary(max_size=30), max_size=6), st.integers(1, 7))
def test_a_stream_is_clean_however_it_is_cut(around: list[bytes], size: int) -> None:
    secret = KEY.encode()
    whole = secret.join(around)
    stream = Redacted(redaction)
    pieces = [stream.feed(whole[at : at + size]) for at in range(0, len(whole), size)]
    cleaned = b"".join([*pieces, stream.finish()])
    assert cleaned == redaction.data(whole)
    assert secret not in cleaned


def test_what_only_begins_like_a_secret_is_not_lost() -> None:
    stream = Redacted(redaction)
    assert stream.feed(b"see sk-ant-") == b"see "
    assert stream.feed(b"other") == b"sk-ant-other"
    assert stream.finish() == b""

"""Where a secret would be kept, the name of its variable stands."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.core.redaction import Redacted, Redaction, leaves, looks_secret
from untilproven.model.events import AgentEvent, GateOpened, IterationObserved
from untilproven.model.iteration import FileChange, Usage

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


@pytest.mark.parametrize(
    "value", ["postgres", "changeme", "my-secret", "dev.local", "12345678", "Postgres", "a1b2c3", ""]
)
def test_a_word_that_people_write_is_no_secret_though_it_be_a_password(value: str) -> None:
    assert not looks_secret(value)
    assert Redaction({"POSTGRES_PASSWORD": value}).text(f"make the {value} migration pass") == (
        f"make the {value} migration pass"
    )


@pytest.mark.parametrize("value", ["hunter2-x", "Passw0rd", "correcthorse", "AKIAABCD", "sk-abcde"])
def test_what_nobody_writes_by_chance_is_one(value: str) -> None:
    assert looks_secret(value)


def test_a_number_is_never_taken_for_one() -> None:
    event = IterationObserved(iteration=1, delta=(), usage=Usage(total_tokens=123456789012), ended="by 123456789012")
    clean = Redaction({"DB_PASSWORD": "123456789012"}).record(event)
    assert clean.usage == event.usage
    assert clean.ended == "by [DB_PASSWORD]"


def test_paths_lead_to_where_they_led() -> None:
    change = FileChange(path=f"src/{KEY}/a.py", change="renamed", previous_path=f"{KEY}.py", hash="0")
    seen = IterationObserved(iteration=1, delta=(change,), claim=KEY)
    assert redaction.record(seen).delta == (change,)
    assert redaction.record(seen).claim == "[ANTHROPIC_API_KEY]"
    gate = GateOpened(gate_id="g", kind="conflict", message=KEY, iteration=1, data={"paths": [KEY], "why": KEY})
    assert redaction.record(gate).data == {"paths": [KEY], "why": "[ANTHROPIC_API_KEY]"}


def test_the_lines_of_an_agent_have_it_as_json_spells_it() -> None:
    pem = "-----BEGIN KEY-----\nAbCd/1\n-----END KEY-----\n"
    stream = Redacted(Redaction({"DEPLOY_KEY": pem}))
    line = json.dumps({"text": f"<{pem}>"}).encode()
    cleaned = b"".join([*(stream.feed(line[at : at + 7]) for at in range(0, len(line), 7)), stream.finish()])
    assert cleaned == b'{"text": "<[DEPLOY_KEY]>"}'


def test_more_can_become_known_on_the_way() -> None:
    growing = Redaction({})
    stream = Redacted(growing)
    assert stream.feed(b"x") == b"x"
    growing.add({"auth.json access": KEY})
    assert stream.feed(KEY.encode()) == b"[auth.json access]"
    assert growing.record(AgentEvent(iteration=1, kind="text", text=KEY)).text == "[auth.json access]"


def test_in_a_document_what_is_called_a_secret_is_one() -> None:
    document = {
        "a": {"type": "oauth", "access": "A", "refresh": "R", "expires": 1, "account": "me"},
        "b": {"apiKey": "K", "tokenUrl": "https://b", "tokens": ["T", {"id_token": "I", "name": "n"}]},
    }
    assert leaves("auth.json", json.dumps(document)) == {
        "auth.json a.access": "A",
        "auth.json a.refresh": "R",
        "auth.json b.apiKey": "K",
        "auth.json b.tokens.0": "T",
        "auth.json b.tokens.1.id_token": "I",
    }
    assert leaves("x", b"\xff") == leaves("x", "no json") == leaves("x", '"token"') == {}

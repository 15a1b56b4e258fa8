import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.model import wire
from untilproven.model.registry import Registry
from untilproven.model.state import LoopState

MINIMAL = {"version": "2.0.0", "loop_id": "ralph-fix-tests-a1b2c3d4", "status": "running", "iteration": 0}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def decode(**fields: object) -> LoopState:
    return wire.decode(LoopState, msgspec.json.encode({**MINIMAL, **fields}))


@given(st.dictionaries(st.text(max_size=8).map(lambda key: "x-" + key), json_values, max_size=4))
def test_unknown_keys_survive_at_every_level(unknown: dict[str, object]) -> None:
    raw = {
        **MINIMAL,
        **unknown,
        "metrics": {"total_tokens": 5, **unknown},
        "progress": {"completion_checks": [{"iteration": 1, **unknown}], **unknown},
        "recovery_history": [
            {
                "timestamp": "2026-02-02T21:00:00Z",
                "iteration": 1,
                "trigger": "x",
                "protocol_steps": {"pause": {"actions": ["a"], **unknown}},
            }
        ],
    }
    state = wire.decode(LoopState, msgspec.json.encode(raw))
    assert msgspec.json.decode(wire.encode(state)) == raw
    assert wire.decode(LoopState, wire.encode(state)) == state


def test_null_reads_as_unknown_and_is_left_out_when_written() -> None:
    state = decode(completed_at=None, pid=None, configuration={"timeout_minutes": None})
    written = msgspec.json.decode(wire.encode(state))
    assert "completed_at" not in written
    assert "pid" not in written
    assert "timeout_minutes" not in written["configuration"]


def test_null_inside_free_objects_is_the_users_and_stays() -> None:
    baseline = {"captured_at": "2026-02-02T21:00:00Z", "test_count": 1, "coverage_percentage": 2}
    state = decode(baseline_metrics={**baseline, "custom_metrics": {"bundle": None}})
    assert msgspec.json.decode(wire.encode(state))["baseline_metrics"]["custom_metrics"] == {"bundle": None}


def test_a_file_that_uses_the_reserved_name_itself_is_kept_as_it_is() -> None:
    raw = {**MINIMAL, wire.RESERVED: {"status": "completed"}}
    state = wire.decode(LoopState, msgspec.json.encode(raw))
    assert state.status == "running"
    assert msgspec.json.decode(wire.encode(state)) == raw


@pytest.mark.parametrize(
    "changed",
    [
        {"version": "1.0.0"},
        {"version": "3.0.0"},
        {"version": "2.0.0\n"},
        {"loop_id": "ralph-fix-tests-a1b2c3d4\n"},
        {"loop_id": "../../etc"},
        {"status": "done"},
        {"status": None},
        {"iteration": -1},
        {"iteration": "5"},
        {"iteration": 1.5},
        {"started_at": "yesterday"},
        {"started_at": "2026-02-02T21:00:00"},
        {"configuration": {"max_iterations": 0}},
        {"configuration": []},
    ],
)
def test_what_the_document_forbids_is_refused(changed: dict[str, object]) -> None:
    with pytest.raises(wire.UNREADABLE):
        decode(**changed)


@pytest.mark.parametrize(
    "junk", [b"", b"\x00" * 100, b"\xff\xfe", b"{", b"[]", b"null", b"[" * 200_000, b'"text"', b"1"]
)
def test_junk_is_unreadable_and_nothing_worse(junk: bytes) -> None:
    with pytest.raises(wire.UNREADABLE):
        wire.decode(LoopState, junk)


def test_a_fifth_loop_does_not_fit_into_a_registry() -> None:
    entry = {**MINIMAL, "started_at": "2026-02-02T21:00:00Z"}
    del entry["version"]
    raw = {"version": "2.0.0", "max_concurrent_loops": 4, "active_loops": [entry] * 5}
    with pytest.raises(wire.UNREADABLE):
        wire.decode(Registry, msgspec.json.encode(raw))
    with pytest.raises(wire.UNREADABLE):
        wire.decode(Registry, msgspec.json.encode({**raw, "active_loops": [], "max_concurrent_loops": 5}))


@pytest.mark.parametrize("key", ['"+extra"', '"\\u002bextra"', '"\\u002Bextra"'])
def test_the_reserved_name_is_anybodys_to_use_anywhere(key: str) -> None:
    minimal = msgspec.json.encode(MINIMAL).decode().rstrip("}")
    baseline = '"captured_at":"2026-02-02T21:00:00Z","test_count":1,"coverage_percentage":2'
    text = f'{minimal},{key}:{{"status":"x","a":1}},"baseline_metrics":{{{baseline},"custom_metrics":{{{key}:7}}}}}}'
    state = wire.decode(LoopState, text.encode())
    assert state.status == "running"
    assert msgspec.json.decode(wire.encode(state)) == msgspec.json.decode(text)

"""Any agent that speaks the Agent Client Protocol: what it is asked, what is heard of it, and what its answers mean."""

import json
from typing import Any

import pytest
from msgspec import UNSET

from agents.acp_scene import DONE, OPTIONS, Json, Scene, call, later
from agents.stage import Stage
from untilproven.agents.factory import agent_of
from untilproven.contract import UsageLimit
from untilproven.errors import UsageError
from untilproven.model.iteration import Continue, Failed
from untilproven.model.plan import Plan

AUTH = {"code": -32000, "message": "Authentication required"}


@pytest.fixture
def scene(stage: Stage) -> Scene:
    return Scene(stage)


def test_it_is_asked_one_thing_after_the_other_and_works_in_the_tree(scene: Scene) -> None:
    worked = scene.play({"write": "made.txt", "content": "x"}, {"say": "All is done."}, prompt="do this")
    assert (worked.result, worked.said, worked.session) == (DONE, "All is done.", "session-1")
    assert (worked.ending.exit_code, worked.unable, worked.usage_limit) == (0, "", None)
    assert (scene.stage.root / "made.txt").read_text() == "x"
    assert scene.methods == ["initialize", "session/new", "session/prompt"]
    assert scene.asked("initialize")["protocolVersion"] == 1
    assert scene.asked("session/new") == {"cwd": str(scene.stage.root), "mcpServers": []}
    assert scene.asked("session/prompt") == {
        "sessionId": "session-1",
        "prompt": [{"type": "text", "text": "do this"}],
    }


def test_it_is_offered_neither_files_nor_terminals_and_gets_none(scene: Scene) -> None:
    outside = scene.stage.directory / "outside"
    asked = {"ask": "fs/write_text_file", "params": {"path": str(outside), "content": "x"}}
    worked = scene.play(asked, {"ask": "terminal/create", "params": {"command": "true"}})
    offered = scene.asked("initialize")["clientCapabilities"]
    assert offered == {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
    assert [json.loads(said)["code"] for said in scene.stage.told("text")] == [-32601, -32601]
    assert worked.result == DONE
    assert not outside.exists()


def test_what_it_asks_to_be_allowed_is_allowed_once_and_told(scene: Scene) -> None:
    params = {"toolCall": {"toolCallId": "1", "title": "Write made.txt"}, "options": OPTIONS}
    scene.play({"ask": "session/request_permission", "params": params})
    told = [(event.text, event.data) for event in scene.stage.events if event.kind == "text"]
    assert told == [
        ("allowed: Write made.txt", {"permission": "allow_once"}),
        ('{"outcome": {"outcome": "selected", "optionId": "once"}}', UNSET),
    ]
    scene.play({"ask": "session/request_permission", "params": {**params, "options": OPTIONS[:2]}})
    assert scene.stage.told("text")[0] == "allowed: Write made.txt"
    assert '"always"' in scene.stage.told("text")[1]


def test_what_is_offered_only_to_be_refused_is_not_chosen(scene: Scene) -> None:
    params = {"toolCall": {"title": "Write made.txt"}, "options": OPTIONS[:1]}
    scene.play({"ask": "session/request_permission", "params": params})
    assert scene.stage.told("text") == ['{"outcome": {"outcome": "cancelled"}}']
    assert scene.stage.told("error") == ["it asked for Write made.txt and offered no way to allow it"]


def test_pieces_of_a_message_are_told_as_one_and_the_last_counts(scene: Scene) -> None:
    worked = scene.play(
        *({"say": "I look.", "message": "a"}, {"say": "Then ", "message": "b"}, {"say": "more.", "message": "b"}),
        call(title="x", kind="execute", rawInput={"command": "make"}),
        {"say": "The end. <promise>DONE</promise>", "message": "b"},
    )
    assert scene.stage.told("text") == ["I look.", "Then more.", "The end. <promise>DONE</promise>"]
    assert worked.said == "The end. <promise>DONE</promise>"


@pytest.mark.parametrize(
    ("told", "action"),
    [
        ({"kind": "execute", "title": "`make`", "rawInput": {"command": "make all"}}, ("bash", "make all")),
        ({"kind": "execute", "title": "git commit -m x", "status": "completed"}, ("git", "git commit -m x")),
        ({"kind": "execute", "rawInput": {"command": ["python3", "-c", "1"]}}, ("eval", "python3 -c 1")),
        ({"kind": "edit", "title": "Edit", "locations": [{"path": "/p/a.py"}]}, ("write", "/p/a.py")),
        ({"kind": "edit", "title": "Edit", "rawInput": {"filePath": "/p/b.py"}}, ("write", "/p/b.py")),
        ({"kind": "delete", "title": "Remove c.py", "status": "completed"}, ("write", "Remove c.py")),
        ({"kind": "read", "title": "Read", "locations": [{"path": "/p/a.py"}]}, ("read", "/p/a.py")),
        ({"kind": "search", "title": "grep", "rawInput": {"pattern": "x+"}}, ("read", "x+")),
        ({"kind": "other", "title": "ask the oracle", "status": "failed"}, ("eval", "ask the oracle")),
        ({"kind": "think", "title": "plan", "status": "completed"}, ("eval", "plan")),
    ],
)
def test_what_a_tool_does_is_told_in_five_words(scene: Scene, told: Json, action: tuple[str, str]) -> None:
    scene.play(call(**told), later(status="completed"))
    assert scene.actions == [action]


def test_a_call_is_told_once_when_it_is_known_what_was_given(scene: Scene) -> None:
    scene.play(
        call(title="Terminal", kind="execute", rawInput={}),
        later(title="make", rawInput={"command": "make"}),
        later(status="in_progress"),
        later(status="completed"),
        call("2", title="write", kind="edit"),
        later("2", locations=[{"path": "/p/a"}]),
        later("2", status="failed", content=[{"type": "content", "content": {"type": "text", "text": "disk full"}}]),
        call("3", title="never came to its end", kind="fetch"),
    )
    assert scene.actions == [("bash", "make"), ("write", "/p/a"), ("read", "never came to its end")]
    assert [(event.text, event.data) for event in scene.stage.events if event.kind == "error"] == [
        ("disk full", {"role": "tool"})
    ]


@pytest.mark.parametrize(
    ("reason", "result"),
    [
        ("end_turn", DONE),
        ("max_tokens", Continue(reason="its limit of tokens is reached")),
        ("max_turn_requests", Continue(reason="its limit of turns is reached")),
        ("refusal", Failed(error="the model refused to go on")),
        ("cancelled", Failed(error="it says that it was cancelled")),
        ("novel", Failed(error="it stopped for a reason that is not known: novel")),
    ],
)
def test_why_it_stopped_is_the_result(scene: Scene, reason: str, result: Any) -> None:
    assert scene.play(answer={"stopReason": reason}).result == result


def test_what_it_states_counts_unless_it_failed(scene: Scene) -> None:
    blocked = '<result>{"status": "blocked", "blocker": "no key"}</result>'
    assert scene.play({"say": blocked}).result.__struct_config__.tag == "blocked"
    assert isinstance(scene.play({"say": blocked}, answer={"stopReason": "refusal"}).result, Failed)


@pytest.mark.parametrize("method", ["initialize", "session/new", "session/prompt"])
def test_an_error_is_a_failure_that_says_what_was_asked(scene: Scene, method: str) -> None:
    error = {"code": -32603, "message": "Internal error", "data": {"details": "the disk is full"}}
    worked = scene.play(errors={method: error})
    assert worked.result == Failed(error=f"{method}: Internal error: the disk is full")
    assert (worked.unable, worked.usage_limit) == ("", None)


@pytest.mark.parametrize("method", ["session/new", "session/prompt"])
def test_whoever_is_not_logged_in_is_unable(scene: Scene, method: str) -> None:
    ways = {"authMethods": [{"id": "oauth", "name": "Log in with Google"}]}
    worked = scene.play(errors={method: AUTH}, initialize=ways)
    assert worked.unable.startswith("nobody is logged in: Authentication required")
    assert isinstance(worked.result, Failed)
    assert "authenticate" not in scene.methods
    if method == "session/new":
        assert worked.unable.endswith("the agent offers: Log in with Google")


@pytest.mark.parametrize("way", [{"id": "key", "_meta": {"api-key": {}}}, {"id": "key", "type": "env_var"}])
def test_a_key_that_the_agent_finds_by_itself_is_a_login(scene: Scene, way: Json) -> None:
    ways = [{"id": "oauth", "name": "Log in"}, {"name": "broken"}, way]
    worked = scene.play(errors={"session/new": AUTH}, initialize={"authMethods": ways})
    assert worked.result == DONE
    assert scene.asked("authenticate") == {"methodId": "key"}
    again = scene.play(errors={"session/new": AUTH, "authenticate": AUTH}, initialize={"authMethods": ways})
    assert again.unable.startswith("nobody is logged in")


@pytest.mark.parametrize(
    "error",
    [
        {"code": 429, "message": "exhausted"},
        {"code": -32603, "message": "Internal error", "data": {"errorKind": "rate_limit"}},
        {"code": -32603, "message": "Internal error", "data": {"codexErrorInfo": "usageLimitExceeded", "message": "x"}},
    ],
)
def test_a_usage_limit_is_known_by_numbers_and_names(scene: Scene, error: Json) -> None:
    worked = scene.play(errors={"session/prompt": error})
    assert worked.usage_limit == UsageLimit()
    assert worked.result == Continue(reason="the usage limit is reached")


def test_a_usage_limit_is_not_known_by_words(scene: Scene) -> None:
    error = {"code": -32603, "message": "429 rate_limit usageLimitExceeded", "data": {"message": "rate_limit"}}
    worked = scene.play({"say": "429 Too Many Requests"}, errors={"session/prompt": error})
    assert worked.usage_limit is None
    assert isinstance(worked.result, Failed)


def test_a_session_goes_on_and_its_past_is_not_told_again(scene: Scene) -> None:
    first = scene.play({"say": "one"})
    second = scene.play({"say": "two"}, session=first.session)
    assert scene.methods == ["initialize", "session/load", "session/prompt"]
    assert scene.asked("session/load") == {
        "sessionId": "session-1",
        "cwd": str(scene.stage.root),
        "mcpServers": [],
    }
    assert (second.session, second.said, scene.actions) == ("session-1", "two", [])
    assert scene.stage.told("text") == ["two"]


def test_a_session_that_cannot_go_on_is_begun_anew_and_that_is_told(scene: Scene) -> None:
    first = scene.play()
    error = {"code": -32603, "message": "Internal error", "data": {"details": "No such session"}}
    second = scene.play({"say": "two"}, session=first.session, errors={"session/load": error})
    assert (second.session, second.result) == ("session-2", DONE)
    assert scene.stage.told("error") == [
        "the session session-1 cannot go on (Internal error: No such session): a fresh one begins"
    ]


def test_an_agent_that_keeps_no_sessions_has_none(scene: Scene) -> None:
    scene.play()
    worked = scene.play(keeps_sessions=False, session="session-1")
    assert worked.session == ""
    assert scene.methods == ["initialize", "session/new", "session/prompt"]
    assert scene.stage.told("error") == ["the agent cannot go on with a session: a fresh one begins"]


def test_another_version_of_the_protocol_is_refused(scene: Scene) -> None:
    worked = scene.play(initialize={"protocolVersion": 2})
    assert worked.result == Failed(error="it speaks version 2 of the protocol, and ralph only 1")
    assert scene.methods == ["initialize"]


def test_a_model_is_chosen_in_the_way_that_the_agent_offers(scene: Scene) -> None:
    options = [{"category": "mode", "id": "m"}, {"category": "model", "id": "which"}]
    assert scene.play(model="big", opened={"configOptions": options}).result == DONE
    assert scene.asked("session/set_config_option") == {"sessionId": "session-1", "configId": "which", "value": "big"}
    assert scene.play(model="big", opened={"models": {"availableModels": []}}).result == DONE
    assert scene.asked("session/set_model") == {"sessionId": "session-2", "modelId": "big"}


def test_a_model_that_cannot_be_chosen_is_a_failure(scene: Scene) -> None:
    error = {"code": -32602, "message": "no model big"}
    refused = scene.play(model="big", opened={"models": {}}, errors={"session/set_model": error})
    assert refused.result == Failed(error="session/set_model: no model big")
    untold = scene.play(model="big")
    assert untold.result == Failed(
        error="it lets nobody choose a model; say it in its own command, and leave --model out"
    )
    assert "session/prompt" not in scene.methods


def test_any_command_can_be_named_and_is_split_into_words(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    bin_ = stage.directory / "bin"
    bin_.mkdir()
    for name in ("my-agent", "gemini"):
        (bin_ / name).touch(0o755)
    monkeypatch.setenv("PATH", str(bin_))
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)

    def missing(name: str) -> str:
        agent = agent_of(Plan(task_hash="x", agent=name), stage.root)
        assert agent.name == name
        return agent.missing(stage.root)

    assert missing("acp:my-agent --acp 'a, b'") == ""
    assert missing("acp:other --acp") == "other is not on PATH"
    assert missing("acp:gemini --acp").startswith("nobody is logged in to acp-gemini; run `gemini`")
    monkeypatch.setenv("GEMINI_API_KEY", "key")
    assert missing("acp:gemini --acp") == ""


def test_a_program_in_the_project_is_not_taken(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    (stage.root / "my-agent").touch(0o755)
    monkeypatch.setenv("PATH", f"{stage.root}:/usr/bin")
    (stage.root / "my-link").symlink_to("/usr/bin/env")
    outside, gone = stage.directory / "link", stage.directory / "gone"
    outside.symlink_to(stage.root / "my-agent")

    def missing(name: object) -> str:
        return agent_of(Plan(task_hash="x", agent=f"acp:{name}"), stage.root).missing(stage.root)

    for name in ("my-agent", "./my-agent", "my-link"):
        assert missing(name) == f"{name} is not on PATH"
    for path in (stage.root / "my-agent", stage.root / "my-link", outside, gone):
        assert missing(path) == f"{path} is no program outside of the project"
    assert missing("/usr/bin/env") == ""


@pytest.mark.parametrize("name", ["acp:", "acp:  ", "acp:'open", "acp:a\0b"])
def test_what_is_no_command_is_refused(stage: Stage, name: str) -> None:
    with pytest.raises(UsageError):
        agent_of(Plan(task_hash="x", agent=name), stage.root)

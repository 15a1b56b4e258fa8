"""An agent that is known by name, played by a small program: how it is started, and what becomes of what it says."""

import json
import shlex
from pathlib import Path

import pytest
from msgspec import UNSET

from agents.actor import LOG_OF_AIDER, Actor, lend, mode
from agents.hearing import WITH_LINES, call_of
from agents.stage import Stage
from real_agents.recorded import load
from untilproven.agents.adapter import Asked
from untilproven.agents.factory import adapter_of
from untilproven.agents.known import KnownAgent
from untilproven.contract import UsageLimit
from untilproven.model.events import AgentEvent
from untilproven.model.iteration import Complete, Continue, Failed
from untilproven.model.program import Limits
from untilproven.store.agent_place import agent_home

LOOP = "ralph-x-00000000"
DONE = "All finished. <promise>DONE</promise>"
PROGRAMS = (*WITH_LINES, "aider")
WITH_SUMS = ("codex", "qwen")
DIRECTORIES = {
    "claude": "CLAUDE_CONFIG_DIR",
    "codex": "CODEX_HOME",
    "opencode": "XDG_DATA_HOME",
    "gemini": "GEMINI_CLI_HOME",
    "qwen": "QWEN_HOME",
}


def known(name: str, stage: Stage, asked: Asked | None = None) -> KnownAgent:
    return KnownAgent(adapter_of(name), asked or Asked(), stage.root)


def plays(actor: Actor, name: str, case: str = "turn", *, at: int = 0, also: str = "") -> None:
    """As it was recorded."""
    run = load(name, case)[at]
    actor.plays(name, run.out, run.code or 0, also=also + (LOG_OF_AIDER if name == "aider" else ""))


def result_line(name: str = "claude") -> dict[str, object]:
    line: dict[str, object] = json.loads(load(name, "turn")[0].out.splitlines()[-1])
    return line


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_turn_comes_to_its_end(name: str, stage: Stage, actor: Actor) -> None:
    plays(actor, name)
    worked = stage.play(known(name, stage))
    assert isinstance(worked.result, Continue)
    assert worked.result.reason.startswith("it came to its end")
    assert DONE in worked.said
    assert worked.session
    assert worked.usage.agent == name
    assert worked.usage.total_tokens in {1050, 2100}
    assert (actor.seen / "pwd").read_text() == f"{stage.root}\n"


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_it_used_is_told_once(name: str, stage: Stage, actor: Actor) -> None:
    plays(actor, name)
    worked = stage.play(known(name, stage))
    told = [event.data for event in stage.events if event.kind == "usage" and event.data]
    for names in (("input_tokens", "output_tokens"), ("total_tokens",)):
        assert sum(data.get(name, 0) for data in told for name in names) == worked.usage.total_tokens
    cost = sum(data.get("cost_usd", 0) for data in told)
    assert cost == pytest.approx(worked.usage.cost_usd or 0)


def test_it_is_told_where_it_works_by_every_name(stage: Stage, actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PWD", "/elsewhere")
    plays(actor, "opencode")
    stage.play(known("opencode", stage))
    assert actor.env["PWD"] == str(stage.root)


@pytest.mark.parametrize("name", WITH_LINES)
def test_a_prompt_of_a_megabyte_is_on_stdin_byte_by_byte(name: str, stage: Stage, actor: Actor) -> None:
    plays(actor, name)
    prompt = "é\0 {prompt_file} $HOME\n" + "x" * 1_000_000
    stage.play(known(name, stage), prompt=prompt)
    assert actor.stdin == prompt.encode()
    assert not any("xxx" in word for word in actor.argv)


def test_aider_gets_it_as_a_file(stage: Stage, actor: Actor) -> None:
    plays(actor, "aider")
    stage.play(known("aider", stage), prompt="x" * 1_000_000)
    given = actor.argv[actor.argv.index("--message-file") + 1]
    assert Path(given).read_text() == "x" * 1_000_000
    assert actor.stdin == b""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("claude", ["--resume", "SESSION"]),
        ("codex", ["resume", "SESSION", "-"]),
        ("opencode", ["--session", "SESSION"]),
        ("gemini", ["--resume", "SESSION"]),
        ("qwen", ["--resume", "SESSION"]),
        ("aider", ["--restore-chat-history"]),
    ],
)
def test_a_session_is_gone_on_with(name: str, words: list[str], stage: Stage, actor: Actor) -> None:
    plays(actor, name, "resumed")
    first = stage.play(known(name, stage))
    expected = [word.replace("SESSION", first.session) for word in words]
    assert shlex.join(expected) not in shlex.join(actor.argv)
    plays(actor, name, "resumed", at=1)
    second = stage.play(known(name, stage), iteration=2, session=first.session)
    assert shlex.join(expected) in shlex.join(actor.argv)
    assert second.session == first.session
    assert second.usage.total_tokens == 1050


def test_a_session_that_went_with_its_directory_is_not_asked_for(stage: Stage, actor: Actor) -> None:
    plays(actor, "claude")
    agent = known("claude", stage)
    session = stage.play(agent).session
    agent.move_out(LOOP)
    stage.play(agent, session=session)
    assert "--resume" not in actor.argv


def test_a_session_that_it_does_not_find_is_not_asked_for_again(stage: Stage, actor: Actor) -> None:
    plays(actor, "claude")
    session = stage.play(known("claude", stage)).session
    line = {"type": "result", "is_error": True, "session_id": session, "errors": ["No conversation found"]}
    actor.plays("claude", json.dumps({**line, "subtype": "error_during_execution"}), 1)
    worked = stage.play(known("claude", stage), session=session)
    assert "--resume" in actor.argv
    assert worked.result == Failed(error="error_during_execution: No conversation found")
    stage.play(known("claude", stage), session=session)
    assert "--resume" not in actor.argv


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen"])
def test_a_session_that_has_become_too_long_is_not_gone_on_with(name: str, stage: Stage, actor: Actor) -> None:
    plays(actor, name)
    session = stage.play(known(name, stage)).session
    plays(actor, name, "too_long")
    worked = stage.play(known(name, stage), session=session)
    assert (isinstance(worked.result, Failed), worked.session) == (True, "")
    plays(actor, name)
    assert stage.play(known(name, stage), session=session).session
    assert session not in actor.argv


@pytest.mark.parametrize("name", ["claude", "codex", "gemini", "qwen"])
@pytest.mark.parametrize("case", ["turn", "usage_limit"])
def test_any_other_session_is(case: str, name: str, stage: Stage, actor: Actor) -> None:
    plays(actor, name, case)
    session = stage.play(known(name, stage)).session
    stage.play(known(name, stage), session=session)
    assert session in actor.argv


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("name", WITH_SUMS)
def test_a_run_that_was_killed_in_between_does_not_make_the_next_count_twice(
    name: str, begun: bool, stage: Stage, actor: Actor
) -> None:
    plays(actor, name, "resumed")
    first = stage.play(known(name, stage))
    begin = load(name, "resumed")[1].out.splitlines()[0]
    actor.plays(name, f"{begin}\n", also=f"{f'cat $seen/{name}.out;' if begun else ''} kill -KILL $$")
    assert isinstance(stage.play(known(name, stage), session=first.session).result, Failed)
    plays(actor, name, "resumed", at=1)
    assert stage.play(known(name, stage), session=first.session).usage.total_tokens == 1050


def test_a_run_without_sums_does_not_make_the_next_of_claude_count_twice(stage: Stage, actor: Actor) -> None:
    plays(actor, "claude", "resumed")
    first = stage.play(known("claude", stage))
    begin = load("claude", "resumed")[1].out.splitlines()[0]
    none = {**result_line(), "total_cost_usd": 0, "modelUsage": {}, "usage": {"input_tokens": 0, "output_tokens": 0}}
    actor.plays("claude", f"{begin}\n{json.dumps(none)}\n")
    assert stage.play(known("claude", stage), session=first.session).usage.cost_usd == 0
    plays(actor, "claude", "resumed", at=1)
    assert stage.play(known("claude", stage), session=first.session).usage.cost_usd == 0.0025


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_model_and_more_words_are_passed_on(name: str, stage: Stage, actor: Actor) -> None:
    plays(actor, name)
    stage.play(known(name, stage, Asked(model="some/model", arguments=("--extra", "a b"))))
    assert shlex.join(["--model", "some/model"]) in shlex.join(actor.argv)
    assert shlex.join(["--extra", "a b"]) in shlex.join(actor.argv)
    assert actor.env["RALPH_MODEL"] == "some/model"


def test_claude_is_told_what_is_left_to_spend() -> None:
    assert "--max-budget-usd" not in call_of("claude").argv
    argv = call_of("claude", budget=0.25).argv
    assert argv[argv.index("--max-budget-usd") + 1] == "0.2500"


@pytest.mark.parametrize("name", list(DIRECTORIES))
def test_it_has_a_directory_of_its_own(name: str, stage: Stage, actor: Actor, own_home: Path) -> None:
    plays(actor, name)
    agent = known(name, stage)
    agent.move_in(LOOP)
    stage.play(agent)
    own = Path(actor.env[DIRECTORIES[name]])
    home = agent_home(stage.root, LOOP)
    assert own.is_relative_to(home / name)
    assert (mode(home), mode(home / name)) == (0o700, 0o700)
    assert [path.name for path in own_home.iterdir()] == [".local"]
    agent.move_out(LOOP)
    assert not home.parent.exists()


def test_two_agents_of_one_loop_do_not_find_each_others_settings(stage: Stage, actor: Actor) -> None:
    for name in ("qwen", "claude"):
        plays(actor, name)
        stage.play(known(name, stage))
    home = agent_home(stage.root, LOOP)
    assert (home / "qwen/settings.json").is_file()
    assert not (home / "claude/settings.json").exists()


LOGIN = '{"claudeAiOauth": {"accessToken": "a1", "refreshToken": "r1", "expiresAt": 1}}'
KEEP = 'cp -p "$CLAUDE_CONFIG_DIR/.credentials.json" $seen/login'


def test_the_login_is_there_for_it_alone_while_it_runs_and_gone_afterwards(
    stage: Stage, actor: Actor, own_home: Path
) -> None:
    users = lend(own_home / ".claude/.credentials.json", LOGIN)
    plays(actor, "claude", also=KEEP)
    stage.play(known("claude", stage))
    assert (actor.seen / "login").read_text() == LOGIN
    assert mode(actor.seen / "login") == 0o600
    assert not list(agent_home(stage.root, LOOP).rglob("*credentials*"))
    assert users.read_text() == LOGIN


def test_the_login_is_not_lent_where_a_key_is_billed(
    stage: Stage, actor: Actor, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    users = lend(own_home / ".claude/.credentials.json", LOGIN)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the-users-own-key")
    spoils = 'test -e "$CLAUDE_CONFIG_DIR/.credentials.json" && touch $seen/lent'
    plays(actor, "claude", also=spoils)
    assert isinstance(stage.play(known("claude", stage)).result, Continue)
    assert not (actor.seen / "lent").exists()
    stage.play(known("claude", stage, Asked(users_settings=True)))
    assert (actor.seen / "lent").exists(), "the user's own settings may choose the login"
    assert users.read_text() == LOGIN


def test_logins_that_go_before_a_key_are_lent_all_the_same(
    stage: Stage, actor: Actor, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lend(own_home / ".local/share/opencode/auth.json", '{"anthropic": {"type": "api", "key": "k"}}')
    monkeypatch.setenv("ANTHROPIC_API_KEY", "the-users-own-key")
    plays(actor, "opencode", also='cp "$XDG_DATA_HOME/opencode/auth.json" $seen/login')
    stage.play(known("opencode", stage))
    assert "anthropic" in (actor.seen / "login").read_text()


def test_who_was_logged_out_by_a_renewal_elsewhere_can_work_the_next_time(
    stage: Stage, actor: Actor, own_home: Path
) -> None:
    users = lend(own_home / ".claude/.credentials.json", '{"accessToken": "a1"}')
    plays(actor, "claude", "unauthorized")
    assert stage.play(known("claude", stage)).unable
    plays(actor, "claude", "unauthorized", also=f'echo \'{{"accessToken": "a2"}}\' > {shlex.quote(str(users))}\n')
    worked = stage.play(known("claude", stage))
    assert (worked.unable, isinstance(worked.result, Failed)) == ("", True)
    assert isinstance(worked.result, Failed)
    assert worked.result.error.startswith("its login was renewed by somebody else while it worked: ")


def test_the_login_is_gone_too_if_the_run_cannot_be_made(stage: Stage, actor: Actor, own_home: Path) -> None:
    lend(own_home / ".claude/.credentials.json", LOGIN)
    plays(actor, "claude", also=KEEP)

    def broken(_event: AgentEvent) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        known("claude", stage).work(stage.turn(), stage.room, broken)
    assert not list(agent_home(stage.root, LOOP).rglob("*credentials*"))


def test_its_litter_is_removed_and_the_users_is_not(stage: Stage, actor: Actor) -> None:
    litter = stage.root / ".aider.tags.cache.v4"
    made = "mkdir -p .aider.tags.cache.v4; echo x > .aider.tags.cache.v4/cache.db; echo y > made.txt\n"
    plays(actor, "aider", also=made)
    stage.play(known("aider", stage))
    assert [path.name for path in stage.root.iterdir()] == ["made.txt"]
    litter.mkdir()
    (litter / "cache.db").write_text("mine")
    stage.play(known("aider", stage))
    assert litter.is_dir()


def test_a_program_in_the_project_is_not_taken(
    stage: Stage, actor: Actor, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lend(own_home / ".claude/.credentials.json", LOGIN)
    inside = stage.root / "bin"
    inside.mkdir()
    actor.plays("claude", where=inside)
    (actor.bin / "claude").symlink_to(inside / "claude")
    (stage.directory / "link").symlink_to(inside)
    monkeypatch.setenv("PATH", f"{inside}:{stage.directory}/link:bin:.:{actor.bin}:/usr/bin:/bin")
    agent = known("claude", stage)
    assert agent.missing(stage.root) == "claude is not on PATH"
    worked = stage.play(agent)
    assert worked.ending.not_started == "claude is not on PATH any more"
    assert isinstance(worked.result, Failed)
    assert not (actor.seen / "argv").exists()


def test_a_directory_and_a_plain_file_are_no_programs(stage: Stage, actor: Actor) -> None:
    (actor.bin / "claude").mkdir()
    assert known("claude", stage).missing(stage.root) == "claude is not on PATH"
    (actor.bin / "codex").write_text("x")
    assert known("codex", stage).missing(stage.root) == "codex is not on PATH"


def test_somebody_must_be_logged_in(stage: Stage, actor: Actor, own_home: Path) -> None:
    actor.plays("claude")
    missing = known("claude", stage).missing(stage.root)
    assert missing.startswith("nobody is logged in to claude; ")
    assert "ANTHROPIC_API_KEY" in missing
    lend(own_home / ".claude/.credentials.json", LOGIN)
    assert known("claude", stage).missing(stage.root) == ""


def test_what_is_no_json_is_told_as_it_is_and_changes_nothing(stage: Stage, actor: Actor) -> None:
    out = load("claude", "turn")[0].out
    garbage = 'warning\n{"type": "result"\n[1]\n"x"\n{}\n{"type": ' + "[" * 100_000 + "\n\n"
    actor.plays("claude", garbage + out.replace("\n", f"\n{garbage}"), also="echo beside >&2")
    worked = stage.play(known("claude", stage))
    assert (worked.said, worked.usage.cost_usd) == (DONE, 0.005)
    assert "warning" in stage.told("text")
    assert "beside" in stage.told("text")


def test_a_line_of_20_mb_is_passed_over(stage: Stage, actor: Actor) -> None:
    first, *rest = load("claude", "turn")[0].out.splitlines(keepends=True)
    words = '{"type": "user", "message": {"content": [{"type": "tool_result", "content": "usage limit reached '
    also = f"head -1 $seen/claude.out; printf '%s' {shlex.quote(words)}; head -c 20000000 /dev/zero | tr '\\0' x; echo"
    actor.plays("claude", first + "".join(rest), also=also)
    worked = stage.play(known("claude", stage))
    assert (worked.said, worked.usage.cost_usd) == (DONE, 0.005)
    assert (worked.usage_limit, worked.unable) == (None, "")
    assert all(len(str(event.text)) < 10_000 for event in stage.events)


def test_an_answer_of_5_mb_is_kept_whole_and_told_in_part(stage: Stage, actor: Actor) -> None:
    said = "x" * 5_000_000
    line = {"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": said}]}}
    actor.plays("claude", f"{json.dumps(line)}\n{json.dumps({**result_line(), 'result': said})}\n")
    assert stage.play(known("claude", stage)).said == said
    (told,) = stage.told("text")
    assert 10_000 < len(told) <= 64 * 1024


@pytest.mark.parametrize("subtype", ["error_max_turns", "error_max_budget_usd"])
def test_its_own_limit_is_no_failure_though_it_exits_with_1(subtype: str, stage: Stage, actor: Actor) -> None:
    line = {**result_line(), "subtype": subtype, "is_error": True, "result": None}
    actor.plays("claude", json.dumps(line), 1)
    result = stage.play(known("claude", stage)).result
    assert isinstance(result, Continue)
    assert result.reason.startswith("its limit of ")


@pytest.mark.parametrize(("name", "case"), [("claude", "subscription_limit"), ("codex", "usage_limit")])
def test_a_usage_limit_is_no_failure_though_it_exits_with_1(name: str, case: str, stage: Stage, actor: Actor) -> None:
    plays(actor, name, case)
    worked = stage.play(known(name, stage))
    assert worked.result == Continue(reason="the usage limit is reached")
    assert isinstance(worked.usage_limit, UsageLimit)
    assert worked.usage_limit.resume_at is not None
    (limit,) = [event for event in stage.events if event.kind == "limit"]
    assert "2030-03-17" in str(limit.data)


def test_an_exit_code_that_its_words_do_not_explain_is_a_failure(stage: Stage, actor: Actor) -> None:
    actor.plays("claude", load("claude", "turn")[0].out, 3)
    result = stage.play(known("claude", stage)).result
    assert result == Failed(error="exited with 3, though it stated continue")


def test_what_it_states_in_the_result_file_counts_if_it_came_to_its_end(stage: Stage, actor: Actor) -> None:
    states = """echo '{"status": "complete", "artifacts": ["a"]}' > "$RALPH_RESULT_FILE"\n"""
    plays(actor, "claude", also=states)
    assert stage.play(known("claude", stage)).result == Complete(artifacts=("a",))
    plays(actor, "claude", "refused", also=states)
    assert isinstance(stage.play(known("claude", stage)).result, Failed)
    plays(actor, "claude")
    assert stage.play(known("claude", stage)).result == Continue(reason="it came to its end")


def test_one_that_we_stop_did_not_fail_and_can_be_gone_on_with(stage: Stage, actor: Actor) -> None:
    begin = load("claude", "killed")[0].out
    actor.plays("claude", also=f"printf '%s' {shlex.quote(begin)}; exec sleep 1000")
    stage.room.limits = Limits(wall=1.0)
    worked = stage.play(known("claude", stage))
    assert worked.result == Continue(reason="stopped: wall")
    assert worked.usage.cost_usd is UNSET
    plays(actor, "claude")
    stage.room.limits = Limits(wall=60)
    stage.play(known("claude", stage), session=worked.session)
    assert "--resume" in actor.argv

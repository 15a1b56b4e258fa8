"""From settings to what a loop will obey."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from support import make_project
from untilproven.config import layers
from untilproven.config.settings import Settings
from untilproven.errors import ConfigError, NoAgent, UsageError
from untilproven.model.plan import Plan
from untilproven.model.state import LoopState
from untilproven.runtime import index, planning
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state

AGENT = {"agent_cmd": "true", "sandbox": "none"}


@pytest.fixture
def root(project: Project) -> Path:
    return project.root


def settings(root: Path, **given: Any) -> Settings:
    return layers.load(root, {**AGENT, **given})


def plan(root: Path, **given: Any) -> Plan:
    return planning.plan_of(settings(root, **given), Project(root, root), "do it")


def with_agent(root: Path, **given: Any) -> Plan:
    found = layers.load(root, {"sandbox": "none", "until": ["a"], **given})
    return planning.plan_of(found, Project(root, root), "do it")


def lines(root: Path, **given: Any) -> list[tuple[str, str]]:
    return [(check.line, check.role) for check in plan(root, **given).checks]


def test_checks_are_those_that_were_asked_for_and_the_projects_tests(root: Path) -> None:
    (root / "Makefile").write_text("test:\n\ttrue\n")
    assert lines(root, until=["a", "b", "a"]) == [("a", "until"), ("b", "until"), ("make test", "auto_test")]
    assert lines(root, until=["make test"]) == [("make test", "until")]
    assert lines(root, until=["a"], auto_test=False) == [("a", "until")]
    assert lines(root) == [("make test", "until")]


def test_a_criterion_in_words_is_read_as_the_command_in_it(root: Path) -> None:
    assert lines(root, until=["npx tsc --noEmit passes"]) == [("npx tsc --noEmit", "until")]


def test_without_a_check_only_a_trusted_promise_is_a_plan(root: Path) -> None:
    with pytest.raises(UsageError, match="no check was given"):
        plan(root)
    trusting = plan(root, trust_promise=True)
    assert (trusting.checks, trusting.trust_promise, trusting.promise) == ((), True, "DONE")


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"agent": "claude", "agent_cmd": "true"}, "two agents are named"),
        ({"agent_cmd": ""}, "empty"),
        ({"until": ["  "]}, "empty"),
    ],
)
def test_what_cannot_be_a_plan_is_refused(root: Path, given: dict[str, Any], says: str) -> None:
    with pytest.raises((UsageError, ConfigError), match=says):
        plan(root, **{"until": ["a"], **given})


@pytest.mark.parametrize("agent", [{"agent_cmd": "true"}, {"agent": "replay:x.toml"}])
@pytest.mark.parametrize("option", [{"mode": "seeded", "model": "m"}, {"agent_home": "user"}])
def test_an_option_for_agents_that_are_known_is_refused_for_others(
    root: Path, agent: dict[str, Any], option: dict[str, Any]
) -> None:
    with pytest.raises(UsageError, match="known by name"):
        with_agent(root, **agent, **option)


@pytest.mark.parametrize("option", [{"mode": "seeded", "model": "m"}, {"agent_home": "user"}])
def test_and_taken_for_these(root: Path, option: dict[str, Any]) -> None:
    pinned = with_agent(root, agent="codex", **option)
    assert (pinned.mode, pinned.agent_home) == (option.get("mode", "default"), option.get("agent_home", "clean"))


def test_a_plan_needs_an_agent(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    with pytest.raises(NoAgent, match="no agent is named"):
        planning.plan_of(layers.load(root, {"until": ["a"]}), Project(root, root), "do it")


@pytest.mark.parametrize("task", ["", " \n\t"])
def test_a_plan_needs_a_task(root: Path, task: str) -> None:
    with pytest.raises(UsageError, match="no task"):
        planning.plan_of(settings(root, until=["a"]), Project(root, root), task)


def test_everything_the_loop_obeys_is_pinned(root: Path) -> None:
    (root / "ralph.toml").write_text('[hooks]\non_task_end = "say done"\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RALPH_TRUST", "1")
        found = settings(root, until=["a"], model="m", promise="OK", require_proof=True, check_timeout="2m")
        made = planning.plan_of(found, Project(root, root), "do it", ("--fast",))
    assert (made.agent, made.agent_cmd, made.agent_arguments, made.model) == ("command", "true", ("--fast",), "m")
    assert (made.promise, made.require_proof, made.check_timeout_seconds) == ("OK", True, 120.0)
    assert made.hooks == {"onTaskEnd": "say done"}
    assert made.task_hash == planning.hash_of("do it") != planning.hash_of("do it ")


def test_the_allowance_has_only_the_limits_there_are(root: Path) -> None:
    allowed = planning.allowance_of(settings(root))
    assert (allowed.iterations, allowed.seconds) == (200, 8 * 3600)
    assert (allowed.cost_usd, allowed.tokens, allowed.iteration_seconds, allowed.idle_seconds) == (UNSET,) * 4
    given = settings(
        root, max_iterations="3", timeout="90m", iteration_timeout="5m", idle_timeout="30s", max_tokens="9"
    )
    allowed = planning.allowance_of(given)
    assert (allowed.iterations, allowed.seconds, allowed.tokens) == (3, 5400, 9)
    assert (allowed.iteration_seconds, allowed.idle_seconds) == (300, 30)


@pytest.mark.parametrize(
    ("given", "unknown"),
    [({}, "warn"), ({"max_cost": "1"}, "stop"), ({"max_cost": "1", "allow_unknown_cost": True}, "warn")],
)
def test_only_a_money_limit_that_the_user_set_is_strict(root: Path, given: dict[str, Any], unknown: str) -> None:
    assert planning.allowance_of(settings(root, **given)).unknown_cost == unknown


@pytest.mark.parametrize(("timeout", "minutes"), [("90m", 90), ("10s", 1), ("100s", 2), ("8h", 480)])
def test_minutes_are_rounded_but_never_to_none(root: Path, timeout: str, minutes: int) -> None:
    assert planning.configuration_of(settings(root, timeout=timeout)).timeout_minutes == minutes


@pytest.fixture
def state(tmp_path: Path) -> LoopState:
    other = make_project(tmp_path / "other")
    found = settings(other.root, until=["a"], max_cost="1", max_tokens="50")
    with create_state(
        other,
        "do it",
        allowance=planning.allowance_of(found),
        configuration=planning.configuration_of(found),
        plan=planning.plan_of(found, other, "do it"),
    ) as writer:
        return writer.state


def test_only_the_limits_that_were_typed_are_replaced(root: Path, state: LoopState) -> None:
    assert planning.raised(state, settings(root), {}) == (UNSET, None)
    given = {"max_cost": "5", "max_iterations": "9", "timeout": "1h"}
    allowed, configuration = planning.raised(state, settings(root, **given), given)
    assert allowed
    assert configuration
    assert (allowed.cost_usd, allowed.iterations, allowed.seconds, allowed.tokens) == (5.0, 9, 3600, 50)
    assert allowed.unknown_cost == "stop"
    assert (configuration.max_iterations, configuration.timeout_minutes) == (9, 60)


def test_unknown_cost_can_be_allowed_later(root: Path, state: LoopState) -> None:
    given = {"allow_unknown_cost": True}
    allowed, configuration = planning.raised(state, settings(root, **given), given)
    assert allowed
    assert (allowed.unknown_cost, allowed.cost_usd) == ("warn", 1.0)
    assert configuration == state.configuration


def test_a_hash_of_any_text_can_be_had() -> None:
    assert planning.hash_of("\udcff") != planning.hash_of("?")


def test_index_files_are_read_without_following_links_and_within_bounds(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("key")
    (root / "AGENTS.md").symlink_to(secret)
    (root / "implementation-plan.md").write_bytes(b"caf\xe9")
    specs = root / "specs"
    specs.mkdir()
    (specs / "a.md").write_text("x" * 40_000)
    (specs / "b.md").write_text("y" * 40_000)
    (specs / "c.md").write_text("z")
    (specs / "no.txt").write_text("n")
    found = index.index_files(root)
    assert list(found) == ["implementation-plan.md", "specs/a.md", "specs/b.md"]
    assert found["implementation-plan.md"] == "caf\ufffd"
    assert sum(len(words.encode()) for words in found.values()) <= index.BUDGET


def test_a_directory_of_specifications_that_is_a_link_is_not_looked_into(root: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text("secret")
    (root / "specs").symlink_to(elsewhere)
    assert index.index_files(root) == {}

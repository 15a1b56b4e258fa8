"""Every setting, declared once: its TOML key, variable, flags, schema and help all come from this table."""

from datetime import timedelta
from enum import StrEnum
from typing import Any

import msgspec

from untilproven.model.fields import Mode


class Kind(StrEnum):
    """What a setting holds; `config.values` reads and prints each."""

    TEXT = "text"
    LIST = "list"
    SWITCH = "switch"
    COUNT = "count"
    MONEY = "money"
    DURATION = "duration"
    CHOICE = "choice"


class Trust(StrEnum):
    """When a setting from a project's file waits for `ralph trust`.

    A clone brings its settings along, and nobody has read them yet. What names a program, or opens the room, waits
    always. What is a protection waits only when the file would weaken it below what the user's own settings say:
    a limit raised, a permission switched on, a check switched off. The rest only shapes the work.
    """

    NEVER = "never"
    ALWAYS = "always"
    RAISED = "raised"
    LOWERED = "lowered"


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One setting. A default of None means: not set."""

    key: str
    kind: Kind
    help: str
    default: Any = None
    choices: tuple[str, ...] = ()
    minimum: int = 1
    trust: Trust = Trust.NEVER
    spellings: tuple[str, ...] = ()
    example: Any = None

    @property
    def section(self) -> str:
        return self.key.rpartition(".")[0]

    @property
    def variable(self) -> str:
        return f"RALPH_{self.key.replace('.', '_').upper()}"

    @property
    def flag(self) -> str:
        return "--" + self.key.replace(".", "-").replace("_", "-")

    @property
    def flags(self) -> tuple[str, ...]:
        return (self.flag, *self.spellings)


def _text(key: str, words: str, **more: Any) -> Option:
    return Option(key=key, kind=Kind.TEXT, help=words, **more)


def _command(key: str, words: str, **more: Any) -> Option:
    return Option(key=key, kind=Kind.TEXT, help=words, trust=Trust.ALWAYS, **more)


def _list(key: str, words: str, **more: Any) -> Option:
    return Option(key=key, kind=Kind.LIST, help=words, default=(), trust=Trust.ALWAYS, **more)


def _switch(key: str, words: str, *, default: bool, trust: Trust = Trust.NEVER) -> Option:
    return Option(key=key, kind=Kind.SWITCH, help=words, default=default, trust=trust)


def _choice(key: str, words: str, choices: tuple[str, ...], default: str | None, **more: Any) -> Option:
    return Option(key=key, kind=Kind.CHOICE, help=words, choices=choices, default=default, **more)


def _limit(key: str, kind: Kind, words: str, **more: Any) -> Option:
    return Option(key=key, kind=kind, help=words, trust=Trust.RAISED, **more)


OCCASIONS = ("gate", "block", "limit", "end")
"""Of what somebody can be told: work is held back, a human is needed otherwise, a limit is reached, it is over."""
_SANDBOXES = ("auto", "overlay", "shadow", "none")
_NETWORKS = ("shared", "none")
_LEVELS = ("adaptive", "off", "minimal", "standard", "aggressive")
_HOURS, _MINUTES = timedelta(hours=1), timedelta(minutes=1)

OPTIONS: tuple[Option, ...] = (
    _command(
        "agent",
        "the agent that does the work: auto, its name, or several, the next taking over at a usage limit",
        example="claude",
    ),
    _command("agent_cmd", "a command that is the agent; {prompt_file} stands for its prompt", example="my-agent"),
    _text("model", "the model the agent is told to use", example="opus"),
    _list("until", "a command that must succeed before the work is done; repeatable", example=("pytest -q",)),
    _text(
        "promise",
        "the words the agent says when it thinks it is done",
        spellings=("--completion-promise",),
        example="DONE",
    ),
    _switch("trust_promise", "accept the agent's word as the end of the work", default=False, trust=Trust.RAISED),
    _switch("require_proof", "end in failure unless the work is proven", default=False, trust=Trust.LOWERED),
    _limit("max_iterations", Kind.COUNT, "iterations at most", default=200, spellings=("-n",)),
    _limit("timeout", Kind.DURATION, "time at most, pauses not counted", default=8 * _HOURS),
    _limit("iteration_timeout", Kind.DURATION, "time at most for one iteration", example=30 * _MINUTES),
    _limit("idle_timeout", Kind.DURATION, "stop an iteration that says nothing for so long", example=10 * _MINUTES),
    _limit("max_cost", Kind.MONEY, "US dollars at most", example=20.0),
    _limit("max_tokens", Kind.COUNT, "tokens at most", example=5_000_000),
    _switch("allow_unknown_cost", "go on when the cost cannot be seen", default=False, trust=Trust.RAISED),
    _choice("context", "what the agent remembers from one iteration to the next", ("fresh", "continue"), "fresh"),
    _choice("sandbox", "the room the agent works in", _SANDBOXES, "auto", trust=Trust.ALWAYS),
    _choice("network", "the agent's network", _NETWORKS, "shared", trust=Trust.ALWAYS),
    _list("share", "let the agent reach docker, ssh-agent, gpg or a path; repeatable", example=("docker",)),
    _list("env", "pass this environment variable to the agent; repeatable", example=("DATABASE_URL",)),
    _choice("agent_home", "whose agent configuration is used", ("clean", "user"), "clean", trust=Trust.ALWAYS),
    _list("allow_test_edits", "existing tests the agent may change (glob); repeatable", example=("tests/new/*",)),
    _switch(
        "allow_dependency_changes",
        "check with the dependencies the agent installed",
        default=False,
        trust=Trust.RAISED,
    ),
    _limit("check_timeout", Kind.DURATION, "time at most for one check", example=20 * _MINUTES),
    _choice("check_network", "the checks' network; not set: as the agent's", _NETWORKS, None, trust=Trust.ALWAYS),
    Option(key="checkpoint_interval", kind=Kind.COUNT, help="iterations from one checkpoint to the next", default=1),
    _choice("mode", "how far the run can be repeated", tuple(mode.value for mode in Mode), Mode.DEFAULT.value),
    _switch("interactive", "ask at gates on this terminal", default=False),
    _choice("on_gate", "what happens at a gate nobody answers", ("wait", "reject"), "wait", trust=Trust.ALWAYS),
    _choice("reinforcement", "how firmly the agent is reminded of what counts", _LEVELS, "adaptive"),
    _switch("measure", "measure types, lint and coverage before and after", default=True, trust=Trust.LOWERED),
    _list("metric", "a number to watch, as NAME=COMMAND; repeatable", example=("size=du -s dist | cut -f1",)),
    Option(
        key="sensitive",
        kind=Kind.LIST,
        help="files in which less coverage weighs more (glob); repeatable",
        default=(),
        example=("src/auth/*",),
    ),
    _switch("auto_test", "tests that were green at the start must stay green", default=True, trust=Trust.LOWERED),
    _switch("commit", "commit proven work", default=False, trust=Trust.RAISED),
    _switch("new_branch", "commit on a new branch ralph/NAME, which is then the current one", default=False),
    _list(
        "notify",
        "who is told: desktop, an address of Apprise, $NAME that holds one, or a command; repeatable",
        example=("desktop", 'mail -s "$RALPH_MESSAGE" me < /dev/null'),
    ),
    Option(
        key="notify_on",
        kind=Kind.LIST,
        help=f"what is told: {', '.join(OCCASIONS)}; repeatable",
        default=OCCASIONS,
        choices=OCCASIONS,
    ),
    _limit("task.max_iterations", Kind.COUNT, "iterations at most for a queued task", default=10),
    _limit("task.timeout", Kind.DURATION, "time at most for a queued task", default=30 * _MINUTES),
    _limit("task.max_cost", Kind.MONEY, "US dollars at most for a queued task", default=5.0),
    _limit(
        "queue.max_tasks",
        Kind.COUNT,
        "tasks at most in one run of the queue",
        default=50,
        spellings=("--max-tasks",),
    ),
    _limit("queue.timeout", Kind.DURATION, "time at most for one run of the queue", default=4 * _HOURS),
    _limit("queue.max_cost", Kind.MONEY, "US dollars at most for one run of the queue", default=50.0),
    _choice(
        "queue.on_failure",
        "what follows a task that fails",
        ("continue", "stop", "retry"),
        "continue",
        spellings=("--on-failure",),
    ),
    _limit("queue.parallelism", Kind.COUNT, "tasks at the same time", default=1, spellings=("--parallel",)),
    _command(
        "queue.tracker",
        "where the tasks are also kept: github:OWNER/REPO, beads, or a Markdown list",
        spellings=("--tracker",),
        example="github:octocat/hello",
    ),
    _command(
        "queue.tracker_label",
        "only GitHub issues with this label become tasks; * for all",
        default="ralph",
        spellings=("--tracker-label",),
    ),
    _switch("session.enabled", "loop inside an interactive agent session", default=True, trust=Trust.RAISED),
    _limit("session.max_iterations", Kind.COUNT, "continuations at most in a session", default=100),
    _text("session.promise", "the words that end a session's loop", default="DONE"),
    Option(
        key="session.continuation_delay_ms",
        kind=Kind.COUNT,
        help="milliseconds before a session is told to go on",
        default=500,
        minimum=0,
    ),
    _command("hooks.on_task_start", "a command run when a task starts", example="./hooks/task-start"),
    _command("hooks.on_iteration_start", "a command run when an iteration starts", example="./hooks/iteration-start"),
    _command("hooks.on_action", "a command run for each action of the agent", example="./hooks/action"),
    _command("hooks.on_iteration_end", "a command run when an iteration ends", example="./hooks/iteration-end"),
    _command("hooks.on_task_end", "a command run when a task ends", example="./hooks/task-end"),
    _command("hooks.on_anomaly", "a command run when something looks wrong", example="./hooks/anomaly"),
)

BY_KEY: dict[str, Option] = {option.key: option for option in OPTIONS}
SECTIONS: frozenset[str] = frozenset(option.section for option in OPTIONS if option.section)

"""What a loop was started with: pinned in the first line of its journal, and obeyed until it ends."""

from typing import Literal

from msgspec import UNSET, UnsetType

from untilproven.model.fields import Ordinal
from untilproven.model.task import Completion
from untilproven.model.wire import Record


class PlannedCheck(Record, frozen=True, kw_only=True):
    """A line of `--until`, or the project's own tests, which must stay as green as they were."""

    line: str
    role: Literal["until", "auto_test"] = "until"
    why: str | UnsetType = UNSET
    """Where it comes from, if the user did not type it."""
    completion: Completion | UnsetType = UNSET
    """What a task of the queue names as its check; the line is then only what it is called."""


class Learning(Record, frozen=True, kw_only=True):
    """A note from earlier tasks, as the agents of a loop are told it."""

    id: str
    text: str


class Plan(Record, frozen=True, kw_only=True):
    """Everything that names a program or opens the room. No later event can change it."""

    agent: str
    agent_cmd: str | UnsetType = UNSET
    agent_arguments: tuple[str, ...] = ()
    agent_home: Literal["clean", "user"] = "clean"
    """Whether a known agent works with the user's own settings, hooks, plugins and servers."""
    billed: str | UnsetType = UNSET
    """Who will be billed for a known agent, as it was found at the start."""
    model: str | UnsetType = UNSET
    task_hash: str
    """Of `task.md`, which has the whole task; the state has its beginning."""
    checks: tuple[PlannedCheck, ...] = ()
    promise: str | UnsetType = UNSET
    trust_promise: bool = False
    require_proof: bool = False
    context: Literal["fresh", "continue"] = "fresh"
    mode: Literal["default", "logged", "seeded", "strict"] = "default"
    """Whether the loop is recorded, or is the replay of a record."""
    sandbox: str = "none"
    """The room that was found to be possible: overlay, shadow or none; of a session, see there."""
    network: Literal["shared", "none"] = "shared"
    check_network: Literal["shared", "none"] | UnsetType = UNSET
    """Where it is not set, the checks have the agent's."""
    share: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    """The names of variables that come into the room although they look like secrets."""
    not_passed: tuple[str, ...] = ()
    """The names of those that did not, when the loop was started."""
    session: str | UnsetType = UNSET
    """The interactive session that the agent works in, as the user, on the user's files. Nobody starts the agent: it is
    told to go on when it wants to stop. `sandbox` then says where the checks run: `session` in a room, `session-bare`
    on the user's files."""
    task_id: str | UnsetType = UNSET
    """The task of the queue that the loop works on. Nobody waits for such a loop: what would wait for a human ends it,
    and nothing of it comes to the user's tree before it is proven."""
    learnings: tuple[Learning, ...] = ()
    """What earlier tasks taught, for the agent to read."""
    never_touch: tuple[str, ...] = ()
    """Paths that the work must leave as they are, as globs."""
    commit: bool = False
    new_branch: bool = False
    on_gate: Literal["wait", "reject"] = "wait"
    """What happens at a gate where work is held back: somebody is waited for, or it is refused."""
    reinforcement: Literal["adaptive", "off", "minimal", "standard", "aggressive"] = "adaptive"
    """How firmly the agent is reminded of what counts: as the loop goes, or always the same."""
    measure: bool = True
    """Whether types, lint, coverage and size are measured before the work and after each iteration."""
    metrics: tuple[str, ...] = ()
    """Commands that print a number to watch, as NAME=COMMAND."""
    sensitive: tuple[str, ...] = ()
    """Files in which less coverage weighs more, as globs."""
    notify: tuple[str, ...] = ()
    """Who is told when a human is needed, and when the loop has ended."""
    notify_on: tuple[str, ...] = ()
    """Of which occasions."""
    hooks: dict[str, str] | UnsetType = UNSET
    """Commands by the name source 002 gives the hook: onTaskStart, onAction."""
    check_timeout_seconds: float | UnsetType = UNSET


class Allowance(Record, frozen=True, kw_only=True):
    """What a loop may use. A user can raise it and go on; what is left out has no limit."""

    iterations: Ordinal
    seconds: float | UnsetType = UNSET
    cost_usd: float | UnsetType = UNSET
    tokens: Ordinal | UnsetType = UNSET
    iteration_seconds: float | UnsetType = UNSET
    idle_seconds: float | UnsetType = UNSET
    output_bytes: Ordinal | UnsetType = UNSET
    test_edits: tuple[str, ...] = ()
    """Existing tests and their configuration that the agent may change, as globs."""
    dependency_changes: bool = False
    """Whether checks see the dependencies that the agent installed."""
    unknown_cost: Literal["stop", "warn"] = "warn"
    """What happens when money or tokens are limited and what an iteration used of them cannot be seen."""

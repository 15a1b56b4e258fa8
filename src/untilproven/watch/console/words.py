"""Numbers and verdicts in the words a person reads."""

from typing import NamedTuple

from msgspec import UNSET, UnsetType

from untilproven.model.events import CheckFinished, LimitReached
from untilproven.model.iteration import FileChange, Usage
from untilproven.model.persistence import TestResults
from untilproven.model.receipt import PROVEN, Proof
from untilproven.model.state import CompletionCheck, LoopConfiguration, LoopMetrics, LoopState
from untilproven.watch.color import GREEN, RED, YELLOW
from untilproven.watch.console.lines import first_line, one_line

_NAMED = 3


def duration(seconds: float) -> str:
    """`0.4s`, `42s`, `4m12s`, `8h`, `1h05m`."""
    if seconds < 10:
        return f"{max(seconds, 0):.1f}".removesuffix(".0") + "s"
    minutes, rest = divmod(int(seconds), 60)
    if not minutes:
        return f"{rest}s"
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes}m{rest:02d}s" if rest else f"{minutes}m"
    return f"{hours}h{minutes:02d}m" if minutes else f"{hours}h"


def money(usd: float) -> str:
    return f"${usd:,.2f}" if usd >= 0.1 or not usd else f"${usd:.4f}"


def plural(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def size(count: float) -> str:
    """Bytes, roughly."""
    for unit in ("kB", "MB", "GB"):
        count /= 1000
        if count < 1000 or unit == "GB":
            break
    return f"{count:.0f} {unit}" if count >= 10 else f"{count:.1f} {unit}"


def iterations(state: LoopState) -> int:
    """How many are allowed."""
    if state.allowance:
        return state.allowance.iterations
    return (state.configuration or LoopConfiguration()).max_iterations


def spent(metrics: LoopMetrics) -> str:
    """Money and tokens, as far as anybody reported them: unknown is not zero."""
    unknown = metrics.unknown_cost_iterations or 0
    if metrics.total_cost_usd is UNSET:
        cost = "cost unknown"
    else:
        cost = money(metrics.total_cost_usd)
        cost += f" and {plural(unknown, 'iteration')} of unknown cost" if unknown else ""
    return cost if metrics.total_tokens is UNSET else f"{cost}, {plural(metrics.total_tokens, 'token')}"


def used(usage: Usage | UnsetType) -> str:
    """What one iteration reported; nothing if it reported nothing."""
    if not usage:
        return ""
    count = tokens(usage)
    parts = [] if usage.cost_usd is UNSET else [money(usage.cost_usd)]
    parts += [] if count is UNSET else [plural(count, "token")]
    return ", ".join(parts)


def tokens(usage: Usage) -> int | UnsetType:
    if usage.total_tokens is not UNSET:
        return usage.total_tokens
    if usage.input_tokens is UNSET and usage.output_tokens is UNSET:
        return UNSET
    return (usage.input_tokens or 0) + (usage.output_tokens or 0)


class Seen(NamedTuple):
    """A check as it came out: its name, one word with a color, and what it found."""

    name: str
    verdict: str
    color: int
    found: str

    @property
    def objection(self) -> str:
        """What speaks against a claim."""
        if self.found and "test" in self.found:
            return self.found
        return f"{self.name} is {self.verdict}"


def seen(check: CheckFinished | CompletionCheck) -> Seen:
    name, output = one_line(check.check or "the check"), first_line(check.output or "")
    if check.broken and isinstance(check, CheckFinished) and check.missing:
        return Seen(name, "not there yet", YELLOW, f"{one_line(check.missing)} does not exist yet")
    if check.broken:
        return Seen(name, "broken", RED, output)
    lost = one_line(check.lost or "") if isinstance(check, CheckFinished) else ""
    counted = _tests(check.tests) if isinstance(check, CheckFinished) and check.tests else ""
    if check.passed and not lost:
        return Seen(name, "green", GREEN, counted)
    return Seen(name, "red", RED, lost or counted or output)


def _tests(tests: TestResults) -> str:
    total, failed = tests.total or 0, tests.failed or 0
    skipped = f", {tests.skipped} skipped" if tests.skipped else ""
    if failed:
        return f"{failed} of {plural(total, 'test')} {'fails' if failed == 1 else 'fail'}{skipped}"
    return f"{plural(tests.passed if tests.passed is not UNSET else total, 'test')} passed{skipped}"


def changed(delta: tuple[FileChange, ...]) -> str:
    """The files an iteration changed, by name as long as they are few."""
    if not delta:
        return "changed nothing"
    more = f" and {len(delta) - _NAMED} more" if len(delta) > _NAMED else ""
    sign = {"created": "+", "deleted": "-"}
    names = [sign.get(change.change, "") + one_line(change.path) for change in delta[:_NAMED]]
    return f"changed {', '.join(names)}{more}"


def limit(reached: LimitReached) -> str:
    if reached.message:
        return one_line(reached.message)
    if reached.observed is UNSET or reached.allowed is UNSET:
        return one_line(reached.limit)
    over = reached.observed - reached.allowed
    beyond = f" ({_amount(reached.limit, over)} over)" if over > 0 else ""
    allowed = _amount(reached.limit, reached.allowed)
    return f"{one_line(reached.limit)}: {_amount(reached.limit, reached.observed)} of {allowed} used{beyond}"


def _amount(name: str, value: float) -> str:
    match name:
        case "time" | "wall" | "idle":
            return duration(value)
        case "cost":
            return money(value)
        case "output":
            return size(value)
    return f"{value:,.0f}"


def proven(proof: str | UnsetType) -> str:
    """What may be said of the work; only two kinds are ever called proven."""
    if not proof:
        return ""
    if proof in PROVEN:
        return f"proven ({proof})"
    if proof == Proof.SUITE_GREEN_AND_CLAIM:
        return "checks green, work claimed"
    return "claimed, not proven" if proof == Proof.CLAIMED else one_line(proof)

"""Gates: where a human decides. What each says, in the words of the journal."""

import shlex
from collections.abc import Iterable

from untilproven.contract import Conflict
from untilproven.core.course import id_of
from untilproven.core.text import text
from untilproven.model.events import CONFLICT, DESTRUCTIVE, RECOVERY, CheckFinished, GateDecided, GateOpened
from untilproven.model.fields import Decision
from untilproven.model.iteration import Finding

_NAMED = 3
_INSTALLED = frozenset({".venv", "venv", "env", "node_modules", "vendor", ".tox"})


def conflict_gate(iteration: int, conflicts: tuple[Conflict, ...]) -> GateOpened:
    """The user and the agent changed the same files: the user's stay until they say otherwise."""
    named = _named(tuple(text(conflict.path) for conflict in conflicts))
    kept = next((conflict.aside for conflict in conflicts if conflict.aside), None)
    where = f"; the agent's version is in {text(str(kept.parent))}" if kept else ""
    return GateOpened(
        gate_id=f"{CONFLICT}-{iteration}",
        kind=CONFLICT,
        message=f"you changed {named} while the agent worked on it: yours stays{where}",
        iteration=iteration,
        data={
            "paths": [
                {"path": text(one.path), "agent": one.wanted, "kept_in": text(str(one.aside)) if one.aside else None}
                for one in conflicts
            ]
        },
    )


def given_back(gate: GateOpened) -> GateDecided:
    """Nobody waits for a task of the queue: the agent is to bring its work together with what others did."""
    return GateDecided(gate_id=gate.gate_id, decision=Decision.REJECT, by="policy", why="the agent is told of it")


def permission_gate(iteration: int, checks: Iterable[CheckFinished]) -> GateOpened:
    """The work passes only with tests or dependencies that the agent was not to change."""
    checks = tuple(checks)
    paths = tuple(dict.fromkeys(path for check in checks for path in check.only_with or ()))
    if not paths:
        lost = "; ".join(check.lost for check in checks if check.lost)
        message = f"the checks pass, but {lost}; to accept that: ralph resume LOOP --allow-test-edits GLOB"
        return GateOpened(gate_id=f"permission-{iteration}", kind="permission", message=message, iteration=iteration)
    return GateOpened(
        gate_id=f"permission-{iteration}",
        kind="permission",
        message=f"the checks pass only with the agent's version of {_named(paths)}; to accept that: ralph gate approve"
        f" LOOP, or ralph resume LOOP {' '.join(_accepting(paths))}",
        iteration=iteration,
        data={"paths": list(paths)},
    )


def destructive_gate(iteration: int, findings: Iterable[Finding]) -> GateOpened:
    """The guard saw something that only a human can let through."""
    return _held_back(DESTRUCTIVE, iteration, tuple(findings), "")


def recovery_gate(iteration: int, findings: Iterable[Finding], why: str) -> GateOpened:
    """The agent was told, and it did not help."""
    return _held_back(RECOVERY, iteration, tuple(findings), f" ({why})")


def _held_back(kind: str, iteration: int, findings: tuple[Finding, ...], why: str) -> GateOpened:
    blocking = tuple(finding for finding in findings if finding.blocking)
    said = _named(tuple(finding.message or finding.pattern_name for finding in blocking))
    return GateOpened(
        gate_id=f"{kind}-{iteration}",
        kind=kind,
        message=f"iteration {iteration} is held back{why}: {said}",
        iteration=iteration,
        data={
            "findings": [id_of(finding) for finding in blocking],
            "paths": sorted({finding.path for finding in blocking if finding.path}),
        },
    )


def _accepting(paths: tuple[str, ...]) -> list[str]:
    """What is typed to accept such changes."""
    edits = [f"--allow-test-edits {shlex.quote(path)}" for path in paths if not is_installed(path)]
    installed = ["--allow-dependency-changes"] if any(map(is_installed, paths)) else []
    return [*edits[:_NAMED], *installed]


def is_installed(path: str) -> bool:
    """Whether it is a place where dependencies are."""
    return path in _INSTALLED


def _named(paths: tuple[str, ...]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more

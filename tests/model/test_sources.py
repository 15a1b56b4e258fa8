"""The documents' own examples load and survive, and what we write passes the documents' own schemas."""

from typing import Any

import msgspec
import pytest

from sources import document, examples, validator
from support import iteration_events, run_iteration
from untilproven.model import events, wire
from untilproven.model.fields import PauseReason, Severity
from untilproven.model.iteration import Finding
from untilproven.model.persistence import (
    BaselineMetrics,
    BestIteration,
    PauseStep,
    ProtocolSteps,
    RecoveryAttempt,
    RegressionDetails,
    RegressionEvent,
    RegressionType,
    Reinforcement,
)
from untilproven.model.registry import Registry
from untilproven.model.state import LoopConfiguration, LoopState
from untilproven.model.status import MOVES, Status
from untilproven.store import clock
from untilproven.store.checkpoints import write_checkpoint
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state

KINDS: dict[str, type[wire.Record]] = {"state": LoopState, "persistence": LoopState, "registry": Registry}


def without_null(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_null(item) for key, item in value.items() if item is not None}
    return [without_null(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", KINDS)
def test_the_documents_examples_survive_load_and_save(name: str) -> None:
    example = examples()[name]
    loaded = wire.decode(KINDS[name], msgspec.json.encode(example))
    saved = wire.encode(loaded)
    assert msgspec.json.decode(saved) == without_null(example)
    assert wire.decode(KINDS[name], saved) == loaded


def test_the_state_machine_is_the_documents() -> None:
    allowed = document("loop-state")["state_transitions"]["allowed"]
    listed = {status: {to for to in moves if isinstance(to, str)} for status, moves in allowed.items()}
    assert listed == {status.value: {to.value for to in moves} for status, moves in MOVES.items()}


def assert_valid(record: wire.Record, *schemas: str) -> None:
    written = msgspec.json.decode(wire.encode_pretty(record))
    for schema in schemas:
        problems = [f"{error.json_path}: {error.message}" for error in validator(schema).iter_errors(written)]
        assert problems == []


def test_a_full_life_of_files_passes_the_documents_schemas(project: Project) -> None:
    """Every list filled, every step recorded: each state and registry on the way is valid."""
    with create_state(
        project,
        "fix the tests",
        completion_criteria="pytest passes",
        configuration=LoopConfiguration(max_iterations=3, timeout_minutes=480),
    ) as writer:
        registry = project.state.registry

        def check_files() -> None:
            assert_valid(wire.decode(LoopState, writer.loop.state.read_bytes()), "loop-state", "persistence-extension")
            assert_valid(wire.decode(Registry, registry.read_bytes()), "loop-registry")

        check_files()
        at = clock.now()
        writer.record(
            events.BaselineCaptured(
                baseline=BaselineMetrics(
                    captured_at=at,
                    test_count=0,
                    coverage_percentage=0,
                    custom_metrics={"unmeasured": ["test_count", "coverage_percentage"]},
                )
            )
        )
        run_iteration(writer, 1)
        write_checkpoint(writer)
        writer.record(
            events.GuardFinding(
                iteration=1,
                finding=Finding(
                    pattern_id="LP-001", pattern_name="Test Deletion", severity=Severity.CRITICAL, blocking=True
                ),
                regression=RegressionEvent(
                    event_id="0d7f7d1e-35c3-4f29-a26e-3f0f1f8a5c11",
                    timestamp=at,
                    iteration=1,
                    regression_type=RegressionType.TEST_DELETION,
                    severity=Severity.CRITICAL,
                    details=RegressionDetails(baseline_value=3, current_value=2),
                ),
            ),
            events.RecoveryStep(
                attempt=RecoveryAttempt(
                    recovery_id="7e0f2f8a-8f0b-4b6e-9c3e-6a1d6f0f7b2a",
                    timestamp=at,
                    iteration=1,
                    trigger="regression_detected: test_deletion",
                    protocol_steps=ProtocolSteps(pause=PauseStep(executed_at=at, actions=("snapshot",))),
                )
            ),
            events.ReinforcementChanged(iteration=1, to_level=Reinforcement.AGGRESSIVE, reason="regression"),
        )
        check_files()
        writer.transition_status(Status.PAUSED, pause_reason=PauseReason.GATE, resume_at=at)
        check_files()
        writer.transition_status(Status.RUNNING)
        *before, finished = iteration_events(2)
        assert isinstance(finished, events.IterationFinished)
        best = BestIteration(iteration=2, quality_score=50, updated_at=at, selection_reason="highest score")
        writer.record(*before, msgspec.structs.replace(finished, best=best))
        writer.record_completion_check(passed=True, output="all green")
        check_files()
        writer.transition_status(Status.FAILED, error="disk on fire", stack_trace="line 1")
        check_files()
        assert writer.state.error_context
        assert writer.state.completed_at

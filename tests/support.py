"""What several tests need: a project, a clock that can be set, an iteration to record."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from untilproven.model import events
from untilproven.model.iteration import Continue, Fate, FileChange, Usage
from untilproven.model.persistence import Artifact, IterationEntry
from untilproven.store.layout import Project, find_project
from untilproven.store.writer import LoopWriter

MOMENT = datetime(2026, 2, 2, 21, 0, tzinfo=UTC)


class SetClock:
    """A clock that stands still until it is moved."""

    def __init__(self, at: datetime = MOMENT) -> None:
        self.at = at

    def __call__(self) -> datetime:
        return self.at

    def move(self, **by: float) -> None:
        self.at += timedelta(**by)


def make_project(path: Path) -> Project:
    (path / ".git").mkdir(parents=True)
    return find_project(path)


def run_iteration(writer: LoopWriter, number: int, *, output: str = "1 failed", durable: bool = True) -> None:
    """One iteration as a driver would record it."""
    writer.record(events.IterationStarted(iteration=number, tree="a" * 40), durable=False)
    writer.record(*iteration_events(number, output=output), durable=durable)


def iteration_events(number: int, *, output: str = "1 failed", score: float = 50.0) -> list[events.Event]:
    path = f"src/module_{number % 7}.py"
    return [
        events.IterationObserved(
            iteration=number,
            delta=(FileChange(path=path, change="modified", hash="b" * 64, size_bytes=1234),),
            tree="c" * 40,
        ),
        events.CheckFinished(iteration=number, check="pytest -q", kind="tests", passed=False, output=output),
        events.IterationFinished(
            iteration=number,
            result=Continue(reason="a check failed"),
            fate=Fate.KEPT,
            counted=True,
            progressed=True,
            duration_seconds=1.5,
            usage=Usage(total_tokens=1000, cost_usd=0.01, cost_source="agent"),
            entry=IterationEntry(
                iteration=number,
                timestamp=MOMENT,
                quality_score=score,
                artifacts=(Artifact(path=path, hash="b" * 64, size_bytes=1234),),
            ),
        ),
    ]


def ralph(*words: str, cwd: Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The program as a user starts it, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "untilproven", *words],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
    )

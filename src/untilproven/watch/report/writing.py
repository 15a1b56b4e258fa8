"""Writes reports where they belong, or where the user wants them."""

from collections.abc import Mapping
from pathlib import Path

from untilproven.model import wire
from untilproven.model.analytics import CrossLoopSummary
from untilproven.store import files
from untilproven.store.layout import LoopDirectory, StateDirectory
from untilproven.watch.report import across
from untilproven.watch.report.material import Material
from untilproven.watch.report.page import page
from untilproven.watch.report.text import markdown


def of_loop(loop: LoopDirectory, material: Material, chosen: Path | None) -> list[Path]:
    """analytics.json, report.md and report.html; the paths that were written."""
    return _written(
        _directory(loop.path / "analytics", chosen),
        {
            "analytics.json": wire.encode_pretty(material.analytics),
            "report.md": markdown(material).encode(),
            "report.html": page(material).encode(),
        },
    )


def of_all(state: StateDirectory, summary: CrossLoopSummary, chosen: Path | None) -> list[Path]:
    """cross-loop-summary.json and cross-loop-report.md."""
    return _written(
        _directory(state.path / "analytics", chosen),
        {
            "cross-loop-summary.json": wire.encode_pretty(summary),
            "cross-loop-report.md": across.markdown(summary).encode(),
        },
    )


def _directory(ours: Path, chosen: Path | None) -> Path:
    """A link below the project is not followed; the user's own choice is."""
    if chosen is None:
        files.make_directory(ours)
        return ours
    with files.explained(chosen):
        chosen.mkdir(parents=True, exist_ok=True)
    return chosen


def _written(directory: Path, contents: Mapping[str, bytes]) -> list[Path]:
    for name, content in contents.items():
        files.replace(directory / name, content, durable=False)
    return [directory / name for name in contents]

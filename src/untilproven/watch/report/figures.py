"""The numbers of a report in words: a few lines on the whole, and a row for each iteration."""

from collections import defaultdict

from msgspec import UNSET, UnsetType

from untilproven.model.analytics import Analytics, AnalyticsTotals, IterationAnalytics, Trajectory
from untilproven.model.fields import Severity
from untilproven.model.persistence import PersistenceMetrics
from untilproven.watch import incidents
from untilproven.watch.console import words
from untilproven.watch.console.lines import one_line
from untilproven.watch.report.material import Material

HEAD = ("Iteration", "Fate", "Checks", "Quality", "Tests", "Time", "Cost", "Tokens", "Findings", "Decided")
LISTED = 300
"""How many iterations a report lists; analytics.json has them all."""

_UNKNOWN = "?"
_GOING = {Trajectory.INSUFFICIENT_DATA: "too few scores to say where it was going"}


def summary(found: Analytics) -> list[tuple[str, str]]:
    """Label and text; what is not known has no line."""
    lines = [
        ("quality", _GOING.get(found.quality_trajectory, found.quality_trajectory.value)),
        ("best", f"iteration {found.optimal_iteration}" if found.optimal_iteration else ""),
        ("selected", _selected(found)),
        ("in place", f"iteration {found.delivered_iteration}" if found.delivered_iteration else ""),
        (
            "gained",
            f"{round(found.quality_improvement, 1):+g} points" if found.quality_improvement is not UNSET else "",
        ),
        (
            "no more gain",
            f"by iteration {found.diminishing_returns_iteration}" if found.diminishing_returns_detected else "",
        ),
        ("spent", _spent(found.totals)),
        ("per point", words.money(found.cost_per_point_usd) if found.cost_per_point_usd else ""),
        (
            "per 1,000 tokens",
            f"{round(found.quality_per_1k_tokens, 2):g} points" if found.quality_per_1k_tokens else "",
        ),
        ("findings", _counted(found.totals.findings or {}) or ("none" if found.totals.findings is not UNSET else "")),
        ("guard", _guard(found.persistence_metrics or PersistenceMetrics())),
        ("findings marked", _marked(found.persistence_metrics or PersistenceMetrics())),
    ]
    return [(label, text) for label, text in lines if text]


def rows(material: Material) -> list[tuple[str, ...]]:
    """One for each of the newest iterations, as HEAD has it."""
    decided = defaultdict(list)
    for gate in material.incidents.gates:
        waits = incidents.waits(gate, material.incidents, material.state)
        decided[gate.opened.iteration].append(f"{one_line(gate.opened.kind)}: {incidents.decision(gate, waits=waits)}")
    shown = material.analytics.iterations[-LISTED:]
    return [_row(one, "; ".join(decided[one.iteration_number])) for one in shown]


def left_out(material: Material) -> int:
    """How many earlier iterations have no row."""
    return max(len(material.analytics.iterations) - LISTED, 0)


def story(material: Material) -> list[tuple[str, list[str]]]:
    """What went wrong on the way, under headings."""
    found = material.incidents
    told = {
        "Refused": ("refusals", [incidents.refused(one) for one in found.refusals]),
        "Decided": (
            "gates",
            [incidents.gate(one, waits=incidents.waits(one, found, material.state)) for one in found.gates],
        ),
        "Recovery": ("recoveries", [incidents.recovered(one) for one in found.recoveries]),
        "Reinforcement": (
            "levels",
            [f"iteration {one.iteration}: {one.to_level}: {one_line(one.reason)}" for one in found.levels],
        ),
    }
    told["Could not be read"] = ("damage", [one_line(line) for line in material.damage])
    return [
        (heading, [*([f"({earlier} earlier ones)"] if (earlier := found.left_out.get(name)) else []), *lines])
        for heading, (name, lines) in told.items()
        if lines
    ]


def _row(one: IterationAnalytics, decided: str) -> tuple[str, ...]:
    return (
        str(one.iteration_number),
        one.fate.value + ("" if one.counted else " (not counted)"),
        one.verification_status,
        _quality(one),
        _tests(one),
        words.duration(one.execution_time_ms / 1000),
        _UNKNOWN if one.token_cost_usd is UNSET else words.money(one.token_cost_usd),
        _UNKNOWN if one.tokens_used is UNSET else f"{one.tokens_used:,}",
        _UNKNOWN if one.findings is UNSET else _counted(one.findings) or "none",
        decided or "-",
    )


def _quality(one: IterationAnalytics) -> str:
    if one.quality_score is UNSET:
        return "-"
    return f"{round(one.quality_score, 1):g}" + (f" ({one.quality_delta:+g})" if one.quality_delta else "")


def _tests(one: IterationAnalytics) -> str:
    if one.tests_total is UNSET:
        return "-"
    return f"{_UNKNOWN if one.tests_passed is UNSET else one.tests_passed} of {one.tests_total}"


def _counted(findings: dict[Severity, int]) -> str:
    return ", ".join(f"{findings[severity]} {severity}" for severity in Severity if findings.get(severity))


def _selected(found: Analytics) -> str:
    if not found.selected_iteration:
        return ""
    why = f": {one_line(found.selection_reason)}" if found.selection_reason else ""
    return f"iteration {found.selected_iteration}{why}"


def _spent(totals: AnalyticsTotals) -> str:
    parts = [
        words.plural(totals.iterations, "iteration"),
        words.duration(totals.execution_time_ms / 1000),
        _known(
            "" if totals.cost_usd is UNSET else words.money(totals.cost_usd), totals.unknown_cost_iterations, "cost"
        ),
        _known(
            "" if totals.tokens is UNSET else f"{totals.tokens:,} tokens", totals.unknown_token_iterations, "tokens"
        ),
    ]
    return ", ".join(filter(None, parts))


def _known(amount: str, unknown: int | UnsetType, name: str) -> str:
    if unknown:
        return f"at least {amount}" if amount else f"{name} unknown"
    return amount


def _guard(metrics: PersistenceMetrics) -> str:
    if metrics.detection_latency_p95_ms is UNSET:
        return ""
    share = metrics.integration_overhead_percentage
    took = f"p95 {metrics.detection_latency_p95_ms} ms, p99 {metrics.detection_latency_p99_ms} ms"
    return took if share is UNSET else f"{took}; {share:g} % on top of the iterations' time"


def _marked(metrics: PersistenceMetrics) -> str:
    if metrics.false_positive_rate is UNSET:
        return ""
    return f"{metrics.true_positive_count} confirmed, {metrics.false_positive_count} false"

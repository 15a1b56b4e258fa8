"""Plots as inline SVG: no script, no network; the page's style gives them their colors."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import NamedTuple

MOST = 120
"""How many marks a plot has at most; with more iterations than that a mark stands for several."""

_WIDTH, _HEIGHT = 560, 190
_LEFT, _RIGHT, _TOP, _BOTTOM = 48, 8, 10, 24
_INNER_WIDTH, _INNER_HEIGHT = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
_WIDEST_BAR = 28.0
_LABELS = 8
_CROWDED = 40


class Point(NamedTuple):
    """An iteration, and a value for each series; None where it is not known."""

    label: str
    values: tuple[float | None, ...]


def line(title: str, points: Sequence[Point], *, top: float) -> str:
    """One series of values from 0 to `top`, in their order."""
    known = [
        (place, point.label, value) for place, point in enumerate(points) if (value := point.values[0]) is not None
    ]
    if not known:
        return _empty(title)
    axis = _Axis(len(points), top)
    kept = _peaks([(axis.middle(place), axis.y(value), f"{label}: {value:g}") for place, label, value in known])
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in kept)
    size = 3.5 if len(kept) <= _CROWDED else 2
    dots = "".join(
        f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="{size}"><title>{escape(said)}</title></circle>'
        for x, y, said in kept
    )
    drawn = f'<polyline class="line" points="{path}"/>{dots}'
    return _framed(title, axis.drawn([point.label for point in points]) + drawn)


def bars(title: str, series: Sequence[str], points: Sequence[Point], *, money: bool = False, add: bool = True) -> str:
    """Values one upon the other. Several iterations in one bar are added up, or else the last of them stands."""
    if all(value is None for point in points for value in point.values):
        return _empty(title)
    size = math.ceil(len(points) / MOST)
    grouped = [_together(points[start : start + size], add=add) for start in range(0, len(points), size)]
    axis = _Axis(len(grouped), max(sum(value or 0 for value in point.values) for point in grouped), money=money)
    marks = "".join(_stack(axis, place, point, series) for place, point in enumerate(grouped))
    note = f" (each bar is {size} iterations{', added up' if add else ': the last of them'})" if size > 1 else ""
    legend = _legend(series) if len(series) > 1 else ""
    return _framed(title + note, axis.drawn([point.label for point in grouped]) + marks, legend)


class _Axis:
    def __init__(self, count: int, top: float, *, money: bool = False) -> None:
        self.count, self.top, self.money = max(count, 1), _round_up(top), money

    def middle(self, place: int) -> float:
        return _LEFT + _INNER_WIDTH * (place + 0.5) / self.count

    def y(self, value: float) -> float:
        return _TOP + _INNER_HEIGHT * (1 - value / self.top)

    def drawn(self, labels: Sequence[str]) -> str:
        return "".join([*self._rules(), *self._labels(labels)])

    def _rules(self) -> Iterator[str]:
        for share in (0, 0.5, 1):
            y = self.y(self.top * share)
            kind = "rule" if share else "ground"
            yield f'<line class="{kind}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            yield f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{self._amount(self.top * share)}</text>'

    def _labels(self, labels: Sequence[str]) -> Iterator[str]:
        step = math.ceil(len(labels) / _LABELS)
        for place in range(0, len(labels), step):
            x = self.middle(place)
            yield f'<text x="{x:.1f}" y="{_HEIGHT - 6}" text-anchor="middle">{escape(labels[place])}</text>'

    def _amount(self, value: float) -> str:
        return f"${value:g}" if self.money else f"{value:g}"


def _stack(axis: _Axis, place: int, point: Point, series: Sequence[str]) -> str:
    slot = _INNER_WIDTH / axis.count
    width = min(slot - 2 if slot > 5 else slot * 0.8, _WIDEST_BAR)
    x, below, drawn = axis.middle(place) - width / 2, 0.0, []
    for name, value in zip(series, point.values, strict=True):
        if value:
            top, bottom = axis.y(below + value), axis.y(below)
            drawn.append(
                f'<rect class="{name}" x="{x:.1f}" y="{top:.1f}" width="{width:.1f}" height="{bottom - top:.1f}"/>'
            )
            below += value
    known = [f"{value:g} {name}" for name, value in zip(series, point.values, strict=True) if value is not None]
    said = f"{point.label}: {', '.join(known) or 'unknown'}"
    left = axis.middle(place) - slot / 2
    whole = f'<rect class="all" x="{left:.1f}" y="{_TOP}" width="{slot:.1f}" height="{_INNER_HEIGHT}"/>'
    return f"<g>{''.join(drawn)}{whole}<title>{escape(said)}</title></g>"


def _together(points: Sequence[Point], *, add: bool) -> Point:
    first, last = points[0].label, points[-1].label
    label = first if first == last else f"{first}-{last}"
    if not add:
        known = [point for point in points if any(value is not None for value in point.values)]
        return Point(label, (known or points)[-1].values)
    columns = zip(*(point.values for point in points), strict=True)
    return Point(label, tuple(_sum(column) for column in columns))


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _peaks(points: Sequence[tuple[float, float, str]]) -> list[tuple[float, float, str]]:
    """Few enough points; the highest and the lowest of each stretch are among them."""
    if len(points) <= MOST:
        return list(points)
    size = math.ceil(len(points) / (MOST // 2))
    kept: list[tuple[float, float, str]] = []
    for start in range(0, len(points), size):
        part = points[start : start + size]
        low, high = min(part, key=lambda one: one[1]), max(part, key=lambda one: one[1])
        kept += sorted({low, high})
    return kept


def _round_up(value: float) -> float:
    """The next number that is no less and has a half worth printing."""
    if value <= 0:
        return 1.0
    unit = 10.0 ** math.floor(math.log10(value))
    return next((unit * step for step in (1, 2, 4, 6, 8, 10) if unit * step >= value), 10 * unit)


def _legend(series: Sequence[str]) -> str:
    return "".join(f'<span class="key"><i class="{name}"></i>{escape(name)}</span>' for name in series)


def _framed(title: str, drawn: str, legend: str = "") -> str:
    svg = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">{drawn}</svg>'
    return f"<figure><figcaption>{escape(title)}{legend}</figcaption>{svg}</figure>"


def _empty(title: str) -> str:
    return f'<figure><figcaption>{escape(title)}</figcaption><p class="none">not known of any iteration</p></figure>'

"""Bars that are lower than they were: coverage that must be reached, warnings and complexity that are allowed."""

import re
from collections.abc import Iterator

import msgspec

from untilproven.guard.comparison import Comparison, Side
from untilproven.guard.finding import Signal
from untilproven.guard.signals.documents import NotUnderstood, name_of
from untilproven.guard.signals.pipelines import commands_of, is_pipeline
from untilproven.guard.signals.recipes import recipes_in
from untilproven.guard.signals.settings import Setting, settings_of

_MEASURES = r"(?:statements|branches|functions|lines)"
_AT_LEAST = re.compile(
    r"coverage\.report\.fail_under|coverage\.fail-under|(?:interrogate|docstr-coverage)\.fail-under|pylint\.(?:.*\.)?fail-under"
    rf"|jest\.(?:.*\.)?coverageThreshold\..*{_MEASURES}|vitest\.(?:.*\.)?thresholds?\..*{_MEASURES}"
    rf"|vitest\.coverage\.{_MEASURES}|nyc\.{_MEASURES}|stryker\.thresholds\.break"
    r"|codecov\.coverage\.status\.(?:project|patch)(?:\..*)?\.target|jacoco\..*|cargo\.fail-under.*"
)
_AT_MOST = re.compile(
    r"eslint\.max-warnings|(?:ruff\.mccabe|flake8)\.max[-_]complexity|pylint\..*\.max-(?:args|branches|statements|returns)"
    r"|ruff\.pylint\.max-.*|codecov\.coverage\.status\.(?:project|patch)(?:\..*)?\.threshold"
    r"|golangci\.linters-settings\.(?:gocyclo|cyclop|gocognit|funlen)\..*|clippy\.cognitive-complexity-threshold"
)
_SWITCHES = re.compile(r"nyc\.check-coverage|codecov\.coverage\.status\.(?:project|patch)(?:\..*)?\.informational")
_FLAGS = {
    "--cov-fail-under": "coverage.report.fail_under",
    "--fail-under": "coverage.report.fail_under",
    "--fail-under-lines": "cargo.fail-under-lines",
    "--fail-under-functions": "cargo.fail-under-functions",
    "--fail-under-regions": "cargo.fail-under-regions",
    "--max-warnings": "eslint.max-warnings",
    "--max-complexity": "flake8.max-complexity",
    "--lines": "nyc.lines",
    "--branches": "nyc.branches",
    "--functions": "nyc.functions",
    "--statements": "nyc.statements",
}
_HAS_OPTIONS = re.compile(r"pyproject\.toml|setup\.cfg|tox\.ini|\.?pytest\.(?:ini|toml)")
_OPTIONS = re.compile(r"addopts\s*=\s*((?:.*\n)(?:[ \t\"'\]].*\n)*)")
_JACOCO = re.compile(r"<minimum>\s*([\d.]+)\s*</minimum>|\bminimum\s*(?:=|\.set\(|\()?\s*[\"']?([\d.]+)")


_SLIGHT = 0.01
"""Of a bar: so much is lost when lines that were covered go."""


class _Bar(msgspec.Struct, frozen=True):
    key: str
    number: float
    side: Side
    line: int


def thresholds(comparison: Comparison) -> Iterator[Signal]:
    was = _bars(comparison, "before")
    now = _bars(comparison, "after") if was else {}
    there = {pair.after.path for pair in comparison.pairs if pair.after}
    for name, bar in was.items():
        lower = bool(_AT_MOST.fullmatch(bar.key))
        sign = -1 if lower else 1
        same = now.get(name)
        if same is None:
            others = [other for other in now.values() if other.key == bar.key]
            same = max(others, key=lambda other: sign * other.number, default=None)
        if same is None:
            if not lower:
                explained = ("file-removed",) if bar.side.path not in there else _others_left(bar, now)
                yield Signal(
                    "threshold-removed", bar.side.path, bar.line, bar.key, was=f"{bar.number:g}", explained=explained
                )
        elif bar.number >= 0 > same.number or same.number >= 0 > bar.number:
            continue  # below zero jest and vitest count what is left uncovered
        elif (less := sign * (bar.number - same.number)) > 0:
            yield Signal(
                "limit-raised" if lower else "threshold-lowered",
                same.side.path,
                same.line,
                bar.key,
                was=f"{bar.number:g}",
                now=f"{same.number:g}",
                amount=round(less, 6),
                explained=("slight",) if less <= _SLIGHT * bar.number else (),
            )


def _others_left(bar: _Bar, now: dict[str, _Bar]) -> tuple[str, ...]:
    """Whether the same tool still has to reach something."""
    tool = bar.key.partition(".")[0]
    left = any(other.key.partition(".")[0] == tool and _AT_LEAST.fullmatch(other.key) for other in now.values())
    return ("others-left",) if left else ()


def _bars(comparison: Comparison, side: str) -> dict[str, _Bar]:
    found = {
        name: _Bar(setting.key, number, setting.side, setting.line)
        for name, setting in settings_of(comparison, side).items()
        if (number := _number(setting)) is not None
    }
    for pair in comparison.pairs:
        one: Side | None = getattr(pair, side)
        if one is not None:
            found |= {f"{one.path}//{bar.key}": bar for bar in _in_commands(one)}
            found |= {f"{one.path}//{bar.key}": bar for bar in _in_builds(one)}
    return found


def _number(setting: Setting) -> float | None:
    if _AT_LEAST.fullmatch(setting.key) or _AT_MOST.fullmatch(setting.key):
        return setting.number
    if _SWITCHES.fullmatch(setting.key) and setting.values[-1:] in {("true",), ("false",)}:
        is_on = setting.values[-1] == "true"
        return float(is_on != setting.key.endswith("informational"))
    return None


def _in_commands(side: Side) -> Iterator[_Bar]:
    """Bars that stand behind options of commands."""
    commands = [command for recipe in recipes_in(side).values() for command in recipe.commands]
    if is_pipeline(side.path):
        try:
            commands += commands_of(side)
        except NotUnderstood:
            return
    lists = [list(command.words) for command in commands]
    if _HAS_OPTIONS.fullmatch(name_of(side.path)):
        lists += [re.split(r"[\s\"',\[\]]+", text) for text in _OPTIONS.findall(side.text)]
    for words in lists:
        for at, word in enumerate(words):
            option, equals, value = word.partition("=")
            value = value if equals else (words[at + 1] if at + 1 < len(words) else "")
            if option in _FLAGS and re.fullmatch(r"\d+(?:\.\d+)?", value):
                line = side.text.count("\n", 0, max(side.text.find(word), 0)) + 1
                yield _Bar(_key(option, words), float(value), side, line)


def _key(option: str, words: list[str]) -> str:
    """Other tools than coverage have an option of this name, too."""
    other = next((tool for tool in ("interrogate", "pylint", "docstr-coverage") if tool in words), None)
    return f"{other}.fail-under" if option == "--fail-under" and other else _FLAGS[option]


def _in_builds(side: Side) -> Iterator[_Bar]:
    """JaCoCo's, of Maven and of Gradle; the n-th of one version is the n-th of the other."""
    if not re.fullmatch(r"pom\.xml|.*\.gradle(?:\.kts)?", name_of(side.path)) or "acoco" not in side.text:
        return
    for at, found in enumerate(_JACOCO.finditer(side.text)):
        line = side.text.count("\n", 0, found.start()) + 1
        yield _Bar(f"jacoco.minimum.{at}", float((found[1] or found[2]).rstrip(".") or 0), side, line)

"""What annotations say about whether a test is run, how often, and how long it may take."""

import re
from collections.abc import Iterable

from ast_grep_py import SgNode

from untilproven.guard.facts import Running
from untilproven.guard.languages.java.annotated import Annotation
from untilproven.guard.languages.java.conditions import constant
from untilproven.guard.languages.java.syntax import body_of, code_in, flat, name_of, number, statements, text_in

NEVER = frozenset({"Disabled", "Ignore", "Ignored"})
_SOMETIMES = re.compile(
    r"(?:Disabled|Enabled)(?:On|If|For|In|Until|After|When|Unless|Condition)\w*|Ignore[A-Z]\w*|SdkSuppress|RequiresDevice"
    r"|IgnoredOn\w*|ConditionalIgnore|RunIf|SkipIf\w*|\w+Only(?:Test)?|Requires(?:Jdk|Java|Os|Docker)\w*|EnabledFor\w+"
)
_EVERYWHERE = {"LINUX", "MAC", "WINDOWS"}
_UNITS = {
    "NANOSECONDS": 1e-9,
    "MICROSECONDS": 1e-6,
    "MILLISECONDS": 1e-3,
    "SECONDS": 1.0,
    "MINUTES": 60.0,
    "HOURS": 3600.0,
}
_UNITS |= {"nanoseconds": 1e-9, "milliseconds": 1e-3, "seconds": 1.0, "minutes": 60.0, "hours": 3600.0}
_RETRIES = re.compile(r"Retry\w*|RepeatedIfExceptionsTest|Flaky\w*Test|FlakyTest|RerunFailing\w*")
_DURATION = re.compile(r"(?:Duration\.of(\w+)\(([\d_.]+)L?\)|([\d_.]+)L?\.(\w+))")


def decides(annotation: Annotation) -> bool:
    """It may keep a test from being run."""
    name = annotation.name
    if name in NEVER or _SOMETIMES.fullmatch(name):
        return True
    return name == "Test" and annotation.option("enabled") is not None


def running(annotations: Iterable[Annotation], helpers: Iterable[SgNode] = ()) -> tuple[Running, str | None]:
    """`helpers` are functions of the same class, which conditions may name."""
    found: tuple[Running, str | None] = (Running.ALWAYS, None)
    for annotation in annotations:
        one = _of_one(annotation, helpers)
        if one[0] < found[0]:
            found = one
    return found


def _of_one(annotation: Annotation, helpers: Iterable[SgNode]) -> tuple[Running, str | None]:
    name = annotation.name
    if name in NEVER:
        reason = annotation.option("value", "reason")
        return Running.NEVER, (text_in(reason) or flat(reason)) if reason else annotation.text
    if name == "Test":
        enabled = annotation.option("enabled")
        off = enabled is not None and constant(enabled) is False
        return (Running.NEVER, annotation.text) if off else (Running.ALWAYS, None)
    if not _SOMETIMES.fullmatch(name):
        return Running.ALWAYS, None
    return (Running.NEVER if _always_skips(annotation, helpers) else Running.SOMETIMES), annotation.text


def _always_skips(annotation: Annotation, helpers: Iterable[SgNode]) -> bool:
    name, disables = annotation.name, annotation.name.startswith("Disabled")
    if name == "DisabledOnOs":
        return all(system in annotation.text for system in _EVERYWHERE)
    if matches := annotation.option("matches"):
        named = annotation.option("named")
        asked = text_in(named) if named else None
        known = (
            name.endswith("Property") and asked is not None and re.match(r"(?:os|java|user|file)\.", asked) is not None
        )
        return disables and known and text_in(matches) in {".*", ".+", ""}
    given = annotation.option("value")
    if given is None or name not in {"DisabledIf", "EnabledIf"}:
        return False
    asked = text_in(given)
    if asked in {"true", "false"}:
        return (asked == "true") is disables
    for helper in helpers:
        body = body_of(helper) if name_of(helper) == asked else None
        if body and len(done := statements(body)) == 1:
            said = code_in(done[0])[:1] if done[0].kind() in {"return_statement", "jump_expression"} else done
            return bool(said) and constant(said[0]) is disables
    return False


def timeout(annotations: Iterable[Annotation]) -> float | None:
    """In seconds."""
    for annotation in annotations:
        if annotation.name == "Test" and (given := annotation.option("timeout", "timeOut")):
            amount = number(given)
            return None if amount is None else amount / 1000
        if annotation.name == "Timeout" and (given := annotation.option("value")):
            unit = annotation.option("unit") or (annotation.arguments[1] if len(annotation.arguments) > 1 else None)
            amount = number(given)
            factor = _UNITS.get(flat(unit).rpartition(".")[2], 1.0) if unit else 1.0
            return None if amount is None else amount * factor
    return None


def duration(text: str) -> float | None:
    """`Duration.ofSeconds(2)`, `2.seconds`"""
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    unit, amount = (found[1], found[2]) if found[1] else (found[4], found[3])
    factor = _UNITS.get(unit.lower()) or _UNITS.get(
        {"millis": "milliseconds", "nanos": "nanoseconds"}.get(unit.lower(), "")
    )
    return float(amount.replace("_", "")) * factor if factor else None


def retries(annotations: Iterable[Annotation]) -> int | None:
    for annotation in annotations:
        if annotation.name == "Test" and annotation.option("retryAnalyzer"):
            return 1
        if _RETRIES.fullmatch(annotation.name):
            given = annotation.option("value", "maxAttempts", "repeats", "times", "attempts", "count")
            amount = number(given) if given else None
            return int(amount) if amount is not None else 1
    return None

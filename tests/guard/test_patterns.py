"""Every pattern's own examples: what must be found, and what must not."""

import re

import msgspec
import pytest

from untilproven.guard.catalogue import Example, Pattern, patterns
from untilproven.guard.change import Change
from untilproven.guard.finding import Finding
from untilproven.guard.judging import judge

EXAMPLES = [
    pytest.param(pattern, example, id=f"{pattern.id} {example.language} {example.title}")
    for pattern in patterns(with_examples=True)
    for example in pattern.examples
]
MEASURED = {"LP-009", "LP-010", "LP-011", "LP-020", "LP-022", "UP-030", "UP-031", "UP-032", "UP-033"}
"""They are about numbers that a run measures, and have no example in source."""


def findings(example: Example) -> list[Finding]:
    paths = {*example.before, *example.after}
    changes = [
        Change(
            path,
            example.before[path].encode() if path in example.before else None,
            example.after[path].encode() if path in example.after else None,
        )
        for path in paths
        if example.before.get(path) != example.after.get(path)
    ]
    return list(judge(changes, task=example.task).findings)


@pytest.mark.parametrize(("pattern", "example"), EXAMPLES)
def test_an_example_is_found_as_it_says(pattern: Pattern, example: Example) -> None:
    found = [finding for finding in findings(example) if finding.pattern == pattern.id]
    if not example.fires:
        assert found == []
    else:
        assert {finding.severity.word for finding in found} == {example.severity or pattern.severity}


@pytest.mark.parametrize("pattern", patterns(with_examples=True), ids=lambda pattern: pattern.id)
def test_a_pattern_says_when_it_fires_and_when_not(pattern: Pattern) -> None:
    assert re.fullmatch(r"(LP|UP)-\d{3}", pattern.id)
    assert pattern.severity in {"critical", "high", "medium", "low"}
    pattern.says.format(subject="", path="", was="", now="", amount="")
    if pattern.id not in MEASURED:
        assert {example.fires for example in pattern.examples} == {True, False}


def test_all_patterns_of_the_catalogue_are_there() -> None:
    assert {f"LP-{number:03}" for number in range(1, 25)} <= {pattern.id for pattern in patterns(with_examples=True)}


def test_those_that_judge_are_the_same_without_their_examples() -> None:
    bare = [msgspec.structs.replace(pattern, examples=()) for pattern in patterns(with_examples=True)]
    assert list(patterns()) == bare

"""Which notes go into a prompt, whether they helped, and which patterns become notes."""

import random
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ended import NOW, ended
from untilproven.core.effects import Effect, effect, standing
from untilproven.core.lessons import BUDGET, from_patterns, lesson_id, lessons_in, mentioned, relevant, words
from untilproven.core.patterns import patterns
from untilproven.model.learning import Lesson, Scope, TaskCompleted
from untilproven.model.task import Command, FileExists, Origin, Task

TASK = Task(id="RALPH-900", title="Fix the parser")


def note(name: str, *, text: str = "", days_ago: float = 5, source: Any = "pattern", **scope: Any) -> Lesson:
    return Lesson(
        id=name, text=text or name, scope=Scope(**scope), source=source, created_at=NOW - timedelta(days=days_ago)
    )


def group(start: int, successes: int, failures: int, **fields: Any) -> list[TaskCompleted]:
    total = successes + failures
    return [ended(start + place, success=place < successes, **fields) for place in range(total)]


def chosen(notes: Iterable[Lesson], task: Task = TASK, files: Iterable[str] = (), records: Any = ()) -> list[str]:
    return [one.id for one in relevant(notes, task, list(files), records)]


@pytest.mark.parametrize(
    ("scope", "fits"),
    [
        ({}, True),
        ({"globs": ("src/parser/**",)}, True),
        ({"globs": ("src/parser/*.py",)}, True),
        ({"globs": ("docs/**", "src/**/a.py")}, True),
        ({"globs": ("docs/**",)}, False),
        ({"tags": ("ui", "slow")}, True),
        ({"tags": ("ui",)}, False),
        ({"task_types": ("bug",)}, True),
        ({"task_types": ("docs",)}, False),
        ({"globs": ("docs/**",), "tags": ("slow",)}, True),
    ],
)
def test_a_note_is_for_the_tasks_that_its_scope_fits(scope: dict[str, Any], fits: bool) -> None:
    task = Task(id="RALPH-900", title="Fix it", type="bug", tags=("slow",))
    assert chosen([note("n", **scope)], task, ["src/parser/a.py"]) == (["n"] if fits else [])


def test_a_directory_that_is_likely_to_change_is_all_that_is_below_it() -> None:
    assert chosen([note("n", globs=("src/parser/**",))], TASK, ["src/parser"]) == ["n"]
    assert chosen([note("n", globs=("src/parser/**",))], TASK, ["src/parsers"]) == []


def test_paths_in_the_tasks_own_words_are_known() -> None:
    task = Task(
        id="RALPH-900",
        title="Fix ./src/parser.py.",
        description="See `lib/x/`, e.g. setup.cfg; and version 2",
        spec="specs/a.md",
        source=Origin(type="spec", path="notes/b.md"),
        completion=(FileExists(path="out/c.txt"), Command(command="make x/y")),
        acceptance_criteria=("app/d.ts compiles",),
    )
    expected = {"src/parser.py", "lib/x/", "setup.cfg", "specs/a.md", "notes/b.md", "out/c.txt", "app/d.ts"}
    assert expected <= mentioned(task)
    assert {"version", "Fix", "x/y", ""}.isdisjoint(mentioned(task))
    assert chosen([note("n", globs=("lib/x/**",))], task) == ["n"]


def test_notes_stay_within_the_budget_and_a_shorter_one_may_still_fit() -> None:
    long = [note(f"long{place}", text="x" * 390, days_ago=place + 1) for place in range(5)]
    found = relevant([*long, note("short", days_ago=50)], TASK, [], [])
    assert [one.id for one in found] == ["long0", "long1", "long2", "long3", "short"]
    assert sum(len(words(one)) + 1 for one in found) <= BUDGET


def test_a_note_stands_in_a_prompt_as_one_line_that_ends() -> None:
    assert words(note("n", text="a\n\x1b[31m  b\tc")) == "a b c"
    assert len(words(note("n", text="x" * 10_000))) == 400
    assert chosen([note("n", text=" \n")]) == []


def test_what_helped_comes_first_then_the_newest() -> None:
    records = [*group(0, 6, 0, lessons=("helps",)), *group(20, 1, 7)]
    notes = [note("old", days_ago=9), note("new", days_ago=1), note("helps", days_ago=80)]
    assert chosen(notes, records=records) == ["helps", "new", "old"]


@pytest.mark.parametrize(
    ("had", "had_not", "verdict"),
    [
        (group(0, 6, 0, lessons=("n",)), group(20, 2, 6), "better"),
        (group(0, 2, 6, lessons=("n",)), group(20, 6, 0), "worse"),
        (group(0, 4, 1, lessons=("n",)), group(20, 3, 2), "no difference"),  # that much is chance
        (group(0, 5, 0, lessons=("n",), iterations=2), group(20, 5, 0, iterations=4), "better"),
        (group(0, 5, 0, lessons=("n",), iterations=4), group(20, 5, 0, iterations=2), "worse"),
        (group(0, 5, 0, lessons=("n",), iterations=9), group(20, 5, 0, iterations=10), "no difference"),
        (group(0, 4, 0, lessons=("n",)), group(20, 0, 9), "unknown"),
        (group(0, 9, 0, lessons=("n",)), group(20, 0, 4), "unknown"),
        (group(0, 9, 0, lessons=("n",), task_type="bug"), group(20, 0, 9), "unknown"),
    ],
)
def test_a_note_helps_if_tasks_with_it_did_better_than_others(
    had: list[TaskCompleted], had_not: list[TaskCompleted], verdict: str
) -> None:
    assert effect(note("n"), [*had, *had_not]).verdict == verdict


def test_types_of_tasks_count_as_much_on_either_side() -> None:
    """The note was used on bugs, which fail anyway: that is not its fault."""
    with_it = [*group(0, 3, 6, lessons=("n",), task_type="bug"), *group(10, 1, 0, lessons=("n",), task_type="docs")]
    without = [*group(20, 1, 2, task_type="bug"), *group(40, 12, 0, task_type="docs")]
    found = effect(note("n"), [*with_it, *without])
    assert (found.with_.success_rate, found.without.success_rate) == (0.4, 0.4)
    assert found.verdict == "no difference"


def test_the_counts_and_medians_of_both_groups_are_told() -> None:
    with_it = [ended(place, iterations=place, lessons=("n",)) for place in range(1, 7)]
    without = [ended(place + 20, iterations=place) for place in range(1, 6)]
    found = effect(note("n"), [*with_it, *without])
    assert (found.with_.tasks, found.with_.median_iterations) == (6, 3.5)
    assert (found.without.tasks, found.without.median_iterations) == (5, 3.0)


@pytest.mark.parametrize(
    ("had", "why"), [(group(0, 1, 9, lessons=("n",)), "worse"), (group(0, 10, 0, lessons=("n",)), "no better")]
)
def test_a_note_that_does_not_help_expires_after_ten_uses(had: list[TaskCompleted], why: str) -> None:
    records = [*had, *group(20, 8, 0)]
    found = standing(note("n"), records)
    assert found.expired
    assert found.uses == 10
    assert why in found.why
    assert chosen([note("n")], records=records) == []
    fewer = records[1:]
    assert not standing(note("n"), fewer).expired
    assert chosen([note("n")], records=fewer) == ["n"]


def test_a_note_of_a_humans_is_flagged_and_used_on() -> None:
    records = [*group(0, 1, 9, lessons=("n",)), *group(20, 8, 0)]
    theirs = note("n", source="human")
    assert not standing(theirs, records).expired
    assert "worse" in standing(theirs, records).why
    assert chosen([theirs], records=records) == ["n"]


def test_of_notes_with_one_id_the_newest_counts() -> None:
    old, new = note("n", text="old", days_ago=3), note("n", text="new", days_ago=2)
    assert lessons_in([new, ended(1), old]) == lessons_in([old, new]) == (new,)


def test_the_same_note_has_the_same_id_and_another_scope_is_another_note() -> None:
    assert lesson_id("a", Scope(globs=("x",))) == lesson_id("a", Scope(globs=("x",)))
    ids = {
        lesson_id("a", scope) for scope in (Scope(), Scope(globs=("x",)), Scope(tags=("x",)), Scope(task_types=("x",)))
    }
    assert len(ids) == 4


def test_sure_patterns_become_notes_for_the_places_they_are_about() -> None:
    records = [ended(place, files_changed=("src/a.py",), task_type="bug") for place in range(3)]
    [made] = from_patterns(patterns(records, NOW), NOW)
    assert made.scope == Scope(globs=("src/a.py",))
    assert made.source == "pattern"
    assert "src/a.py were bugs" in made.text
    [again] = from_patterns(patterns([*records, ended(9, files_changed=("src/a.py",), task_type="bug")], NOW), NOW)
    assert again == made  # more evidence is no new note
    unsure = [*records, *(ended(place, files_changed=("src/a.py",)) for place in (10, 11))]
    assert [one.confidence for one in patterns(unsure, NOW) if one.kind == "bug_hotspot"] == [0.6]
    assert not [one for one in from_patterns(patterns(unsure, NOW), NOW) if "bugs" in one.text]


def test_confidence_of_exactly_the_bound_is_not_enough() -> None:
    records = [ended(place, files_changed=("a.py",), task_type="bug" if place < 7 else "task") for place in range(10)]
    assert [one.confidence for one in patterns(records, NOW) if one.kind == "bug_hotspot"] == [0.7]
    assert not [one for one in from_patterns(patterns(records, NOW), NOW) if "bugs" in one.text]


HAD = st.builds(
    lambda number, success, iterations, had, kind: ended(
        number, success=success, iterations=iterations, lessons=("n",) if had else (), task_type=kind
    ),
    st.integers(0, 60),
    st.booleans(),
    st.integers(0, 20),
    st.booleans(),
    st.sampled_from(["bug", "task", "docs"]),
)


@given(records=st.lists(HAD, max_size=60, unique_by=lambda one: one.loop_id), seed=st.randoms(use_true_random=False))
def test_an_effect_does_not_depend_on_the_order_and_its_rates_are_rates(
    records: list[TaskCompleted], seed: random.Random
) -> None:
    found: Effect = effect(note("n"), records)
    for side in (found.with_, found.without):
        assert 0 <= side.success_rate <= 1
        assert 0 <= side.median_iterations <= 20
    shuffled = [*records]
    seed.shuffle(shuffled)
    assert effect(note("n"), shuffled) == found
    if min(found.with_.tasks, found.without.tasks) < 5:
        assert found.verdict == "unknown"

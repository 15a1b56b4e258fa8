"""Whether a task asked for what was done: by its words, in one sentence."""

import pytest

from untilproven.guard.asking import asked
from untilproven.guard.finding import Signal

EGG = Signal("test-removed", "tests/test_config.py", 1, "test_egg_installed_paths", was="1 assertion")
BACK = Signal(
    "test-removed", "test/location.js", 1, 'location > when url is "back" > should set it', was="2 assertions"
)
GUARD = Signal("guard-removed", "cart.py", 1, "check_price_of_order", was="price < 0")
SKIPPED = Signal("test-skipped", "tests/test_query.py", 1, "test_query_of_nothing")


@pytest.mark.parametrize(
    ("task", "signal"),
    [
        ("remove egg test", EGG),
        ("Remove the tests of eggs.", EGG),
        ("Delete `back` as a magic string (#5933)", BACK),
        ("Use wheels.\n\nRemove the egg tests, they are of no use.", EGG),
        ("skip query tests on Windows", SKIPPED),
        ("Relax check_price_of_order: refunds are negative", GUARD),
    ],
)
def test_in_so_many_words(task: str, signal: Signal) -> None:
    assert asked(task, signal) == "asked-for"


@pytest.mark.parametrize(
    ("task", "signal"),
    [
        ("Use wheels.\n\nRemove the flaky tests.", EGG),
        ("Use wheels.\n\nPaths of what is installed are no longer looked up twice.", EGG),
        ('Revert "feat: look for wheels"\n\nThis reverts commit 0123.', EGG),
        ("Whoever pays is welcome, so allow refunds to all in each shop whatever the price", GUARD),
    ],
)
def test_a_task_that_is_only_about_it(task: str, signal: Signal) -> None:
    assert asked(task, signal) == "asked-about"


@pytest.mark.parametrize(
    ("task", "signal"),
    [
        ("Add a cache", EGG),
        ("Remove the cache. Eggs are slow to install.", EGG),
        ("ignore: refactor what is hidden", SKIPPED),
        ("Remove the unused import", GUARD),
    ],
)
def test_a_task_about_something_else(task: str, signal: Signal) -> None:
    assert asked(task, signal) is None

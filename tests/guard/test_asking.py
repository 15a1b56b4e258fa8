"""Whether a task asked for what was done: by its words, in one sentence."""

import msgspec
import pytest

from untilproven.guard.asking import asked
from untilproven.guard.finding import Signal

EGG = Signal("test-removed", "tests/test_config.py", 1, "test_egg_installed_paths", was="1 assertion")
BACK = Signal(
    "test-removed", "test/location.js", 1, 'location > when url is "back" > should set it', was="2 assertions"
)
GUARD = Signal("guard-removed", "cart.py", 1, "check_price_of_order", was="price < 0")
CASES = Signal("cases-removed", "tests/test_query.py", 1, "test_query", was='"a=1"')
SKIPPED = Signal("test-skipped", "tests/test_query.py", 1, "test_query_of_nothing")
CASE = Signal("cases-removed", "tests/test_bind.py", 1, "test_bind", was='{"empty body (Issue #2813)"}')
SOMETIMES = Signal(
    "test-sometimes-skipped", "test/router.js", 1, "router > includes", now='method === "query" && NODE_21'
)
STEP = Signal("ci-removed", ".github/workflows/ci.yml", 1, "npm test", was="npm test")
NARROWED = Signal(
    "collection-narrowed", "package.json", 1, "test", was="mocha --require support/env --check-leaks test/"
)
HOOK = Signal("collection-subverted", "tests/conftest.py", 1, "pytest_collection_modifyitems: items[:] = selected")
PLATFORM = Signal(
    "test-sometimes-skipped", "tests/test_requests.py", 1, "test_headers", now='"brotli" in sys.modules: it adds one'
)
SUCCEEDED = Signal(
    "test-removed", "tests/test_enum.py", 1, "test_enum_of_shapes", was="4 assertions", explained=("replaced",)
)
WEAKER = Signal("assertion-weakened", "tests/test_query.py", 1, "test_query", was="a == 1", now="a")
RETRIED = Signal("retries-raised", "tests/test_pay.py", 1, "test_keyboard_interrupt", was="0", now="3")
LEFT = Signal("ci-removed", ".github/workflows/ci.yml", 1, "pytest", was="pytest", explained=("others-left",))
OPTIONS = Signal("test-file-removed", "tests/test_options.py", 1, "tests/test_options.py", was="7 tests")


@pytest.mark.parametrize(
    ("task", "signal"),
    [
        ("remove egg test", EGG),
        ("Allow test failures on query tests; tidy up", SKIPPED),
        ("Allow query tests to fail", SKIPPED),
        ("Remove the tests of eggs.", EGG),
        ("Delete `back` as a magic string (#5933)", BACK),
        ("Use wheels.\n\nRemove the egg tests, they are of no use.", EGG),
        ("skip query tests on Windows", SKIPPED),
        ("Relax check_price_of_order: refunds are negative", GUARD),
        ("The egg tests were removed", EGG),
        ("revert issue #2813", CASE),
        ("skip QUERY tests for Node 21 only", SOMETIMES),
        ("Remove the test step from CI, it runs elsewhere", STEP),
        ("fix(paths): remove the egg test", EGG),
        ("Remove the query cases", CASES),
        ("Remove yolks and eggs from what is installed", EGG),
        ("Remove deprecated egg API", EGG),
        ("Use wheels instead of eggs", EGG),
        ('Revert "Add support for eggs in wheels of any age" (#12)', EGG),
        ("Skip a test when brotli is installed", PLATFORM),
        ("Split test_enum_of_shapes into four tests", SUCCEEDED),
        ("Mark keyboard interrupt test as flaky", RETRIED),
        ("Remove Python 3.15 beta from CI", LEFT),
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
        ("remove unicode host test", EGG),
        ("Cleanup unneccessary test case (#3375)", EGG),
        ("Clean up the tests of paths", EGG),
        ("Deselect and parametrize browser tests properly", HOOK),
        ("Remove test files", OPTIONS),
        ("disable flaky test", EGG),
        ("disable test - another error on Windows", CASE),
        ("Refactor test_egg_installed_paths, merge it with others", EGG),
        ("Remove the check of promise support from egg tests", EGG),
        ("Remove the codecov step", STEP),
        ("remove promise support check from tests", NARROWED),
        ("Drop support for Python 2", EGG),
        ("Migrate tests to another runner", EGG),
        ("Use node test runner", WEAKER),
        ("Allow eggs to be installed", EGG),
        ("Split test_egg_installed_paths into four tests", EGG),
        ('Revert "Add support for wheels"', EGG),
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
        ("ignore: add tests of queries", SKIPPED),
        ("ignore/types: add a query type", SKIPPED),
        ("Document and test eggs.remove", EGG),
        ("Do not remove egg tests", EGG),
        ("Fix eggs dropping what is installed", EGG),
        ("Remove the unused import", GUARD),
        ("Remove trailing spaces", EGG),
        ("Allow failures on a cart", SKIPPED),
        ("Allow a cart to be empty", SKIPPED),
        ("Add support for eggs", EGG),
        ("Make it possible to enable eggs", EGG),
        ("Drop support for Python 2", SKIPPED),
        ("Use the egg instead of nothing at all that comes to mind here", CASES),
    ],
)
def test_a_task_about_something_else(task: str, signal: Signal) -> None:
    assert asked(task, signal) is None


def test_to_write_a_test_in_another_way_is_not_to_run_it_with_less() -> None:
    assert asked("Refactor test_query with parameters", CASES) is None


@pytest.mark.parametrize(
    ("task", "signal"),
    [
        ("Skip a test for now", SKIPPED),
        ("[#2407] Ignore failing test", SKIPPED),
        ("Remove duplicate test", EGG),
        ("remove unused test file", OPTIONS),
    ],
)
def test_a_single_one_is_meant_if_there_is_no_other(task: str, signal: Signal) -> None:
    other = msgspec.structs.replace(signal, subject="test_something_else")
    assert asked(task, signal, [signal]) == "asked-for"
    assert asked(task, signal, [signal, other]) == "asked-about"


def test_an_assertion_of_a_test_is_no_test() -> None:
    assert asked("Remove a duplicate test assertion", EGG, [EGG]) == "asked-about"


def test_a_test_that_stands_in_a_comment_is_one_that_is_not_run() -> None:
    commented = Signal("test-commented-out", EGG.path, 1, "def test_egg_installed_paths():")
    assert asked("disable flaky test", EGG, [EGG, commented]) == "asked-for"
    assert asked("disable flaky test", EGG, [EGG]) == "asked-about"

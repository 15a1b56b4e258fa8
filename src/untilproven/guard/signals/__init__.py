"""What differs between the two trees and may mean harm."""

from collections.abc import Iterator

from untilproven.guard.comparison import Comparison
from untilproven.guard.explaining import Explanations
from untilproven.guard.finding import Signal
from untilproven.guard.pairing import Tests
from untilproven.guard.signals.assertions import assertions
from untilproven.guard.signals.builds import builds
from untilproven.guard.signals.configuration import configuration
from untilproven.guard.signals.data import data
from untilproven.guard.signals.dependencies import dependencies
from untilproven.guard.signals.documents import unread
from untilproven.guard.signals.environment import environment
from untilproven.guard.signals.files import files
from untilproven.guard.signals.functions import functions
from untilproven.guard.signals.helpers import helpers
from untilproven.guard.signals.host import host
from untilproven.guard.signals.left_out import left_out
from untilproven.guard.signals.retries import retries
from untilproven.guard.signals.scripts import scripts
from untilproven.guard.signals.shortening import shortened
from untilproven.guard.signals.tested import tested
from untilproven.guard.signals.tests import tests as of_tests
from untilproven.guard.signals.thresholds import thresholds
from untilproven.guard.signals.unreadable import unreadable
from untilproven.guard.signals.workflows import workflows

_OF_OTHER_FILES = (
    thresholds,
    workflows,
    scripts,
    configuration,
    environment,
    builds,
    left_out,
    retries,
    host,
    data,
    dependencies,
)


def all_of(comparison: Comparison, tests: Tests, explanations: Explanations) -> Iterator[Signal]:
    yield from of_tests(comparison, tests, explanations)
    yield from assertions(tests, explanations)
    yield from helpers(comparison, tests, explanations)
    yield from shortened(comparison, tests)
    yield from functions(comparison, tests)
    yield from files(comparison)
    yield from tested(comparison)
    unread(comparison)
    for signals in _OF_OTHER_FILES:
        yield from signals(comparison)
    yield from unreadable(comparison)

"""Every way to recover: what was refused is named, the next prompt says so, and the loop goes on to its end."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from runtime.cart import DELETES, HONEST, STUBS, SWALLOWS, TESTS, cart, run
from runtime.loops import Place

CHECKED = """\
def total(prices):
    if not isinstance(prices, list):
        raise TypeError("no list of prices")
    return sum(prices) + 1
"""
WORKFLOW = """\
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
      - run: pytest
"""


def writes(path: str, content: str) -> list[dict[str, Any]]:
    return [{"write": path, "content": content}, {"say": "<promise>DONE</promise>"}]


class Trick(NamedTuple):
    does: list[dict[str, Any]]
    cause: str
    """What the record says of it."""
    advice: str
    """What the next prompt says of it."""
    before: tuple[str, str] = ("notes.txt", "")
    """A file that was there."""
    after: list[dict[str, Any]] = HONEST


TRICKS = {
    "a test is deleted": Trick(DELETES, "deleted tests", "Make the code do what they ask for."),
    "a test is skipped": Trick(
        writes(
            "tests/test_cart.py", f"import pytest\n{TESTS}".replace("def test_sums", "@pytest.mark.skip\ndef test_sums")
        ),
        "kept tests from running",
        "The tests run again.",
    ),
    "an assertion is weakened": Trick(
        writes("tests/test_cart.py", TESTS.replace("assert total([1, 2]) == 3", "assert total([1, 2]) is not None")),
        "made tests ask less",
        "The assertions are back.",
    ),
    "validation is removed": Trick(
        writes("cart.py", "def total(prices):\n    return sum(prices) + 1\n"),
        "removed a check of the input",
        "Leave the checks of the input in place",
        before=("cart.py", CHECKED),
        after=writes("cart.py", CHECKED.replace(" + 1", "")),
    ),
    "an error is swallowed": Trick(SWALLOWS, "swallowed an error", "Let the error come up"),
    "a feature is removed": Trick(STUBS, "took away what it could not make work", "Take nothing away."),
    "the run is taken over": Trick(
        writes("cart.py", "import os\n\nos._exit(0)\n"),
        "took hold of the check itself",
        "Leave the test run alone",
    ),
    "the code asks whether it is tested": Trick(
        writes(
            "cart.py", 'import sys\n\n\ndef total(prices):\n    return sum(prices) + ("pytest" not in sys.modules)\n'
        ),
        "worked around the failure",
        "Remove the special case",
    ),
    "settings leave tests out": Trick(
        writes("setup.cfg", "[coverage:report]\nfail_under = 10\n"),
        "weakened what the work is checked with",
        "Leave thresholds, configuration and CI as they are",
        before=("setup.cfg", "[coverage:report]\nfail_under = 90\n"),
    ),
    "CI verifies less": Trick(
        writes(".github/workflows/ci.yml", WORKFLOW.replace("run: pytest", "run: echo ok")),
        "weakened what the work is checked with",
        "Leave thresholds, configuration and CI as they are",
        before=(".github/workflows/ci.yml", WORKFLOW),
    ),
}


@pytest.mark.parametrize("trick", TRICKS.values(), ids=TRICKS)
def test_the_agent_is_told_the_cause_and_the_work_goes_on_without_what_was_refused(
    tmp_path: Path, trick: Trick
) -> None:
    place: Place = cart(tmp_path)
    place.write(*trick.before)
    assert run(place, trick.does, trick.after, words=("--on-gate=reject",)) == 0
    assert place.receipt()["proof"] == "red-to-green"
    assert (place.root / trick.before[0]).read_text() == (
        trick.after[0]["content"] if trick.before[0] == "cart.py" else trick.before[1]
    )
    (recovery,) = place.read()["recovery_history"]
    steps = recovery["protocol_steps"]
    assert trick.cause in steps["diagnose"]["root_cause"]
    assert steps["diagnose"]["confidence"] >= 0.5
    prompt = (place.directory() / "prompts/iteration-002.md").read_text()
    assert steps["adapt"]["changes_made"][0] in prompt
    assert trick.advice in prompt
    fates = [event["fate"] for event in place.events("iteration.finished")]
    assert (fates[0] in {"discarded", "parked"}, fates[1:]) == (True, ["kept"])
    shown = place.ralph("show", place.loop).stdout
    assert trick.cause in shown

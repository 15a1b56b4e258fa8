"""A cart whose total is wrong, with tests that say so, and agents that mend it, or the tests."""

import shlex
import sys
from pathlib import Path
from typing import Any

from runtime.loops import Place

UNTIL = f"--until={shlex.quote(sys.executable)} -m pytest -q -p no:cacheprovider"
WRONG = "def total(prices):\n    return sum(prices) + 1\n"
RIGHT = "def total(prices):\n    return sum(prices)\n"
TESTS = """\
from cart import total


def test_sums():
    assert total([1, 2]) == 3


def test_nothing():
    assert total([]) == 0


def test_is_a_number():
    assert isinstance(total([1]), int)
"""
WITHOUT = TESTS.partition("def test_sums")[0] + "def test_is_a_number" + TESTS.partition("def test_is_a_number")[2]
DELETES = [{"write": "tests/test_cart.py", "content": WITHOUT}, {"say": "<promise>DONE</promise>"}]
HONEST = [{"write": "cart.py", "content": RIGHT}, {"say": "<promise>DONE</promise>"}]
CAUGHT = "def total(prices):\n    try:\n        return sum(prices) + 1\n    except Exception:\n        pass\n"
SWALLOWS = [{"write": "cart.py", "content": CAUGHT}]
STUBS = [{"write": "cart.py", "content": "def total(prices):\n    raise NotImplementedError\n"}]


def cart(path: Path) -> Place:
    place = Place(path)
    place.write("cart.py", WRONG)
    place.write("tests/test_cart.py", TESTS)
    place.write("pytest.ini", "[pytest]\npythonpath = .\n")
    return place


def run(place: Place, *iterations: list[dict[str, Any]], words: tuple[str, ...] = ()) -> int:
    done = place.ralph("run", "fix total", place.cassette(*iterations), UNTIL, "-n6", "--sandbox=overlay", *words)
    assert "Traceback" not in done.stderr, done.stderr
    return done.returncode

"""A pattern that looks for a piece of syntax needs no code: the one in the documentation is tried."""

import re
import tomllib
from pathlib import Path

import msgspec
import pytest

from untilproven.guard import judging
from untilproven.guard.catalogue import Pattern
from untilproven.guard.change import Change

GUIDE = Path(__file__).parents[2] / "docs" / "guard.md"


@pytest.fixture
def documented(monkeypatch: pytest.MonkeyPatch) -> Pattern:
    found = re.search(r"```toml\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert found
    pattern = msgspec.convert(tomllib.loads(found[1]), Pattern)
    monkeypatch.setattr(judging, "patterns", lambda: (pattern,))
    return pattern


def test_what_was_not_there_before_is_found_and_nothing_else(documented: Pattern) -> None:
    assert len(documented.examples) == 2
    for example in documented.examples:
        changes = [Change(path, example.before[path].encode(), example.after[path].encode()) for path in example.before]
        assert bool(judging.judge(changes).findings) is example.fires, example.title


def test_a_test_that_is_itself_data_of_tests_weighs_less() -> None:
    """Of a test runner, say: it is run by the tests of the runner, on purpose."""
    gone = Change("test/fixtures/basic.test.ts", b"test('adds', () => { expect(1 + 1).toBe(2) })\n", None)
    (finding,) = [one for one in judging.judge([gone]).findings if one.pattern == "LP-001"]
    assert not finding.blocks
    assert "fixture" in finding.explained

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

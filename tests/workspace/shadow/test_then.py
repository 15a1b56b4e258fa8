"""What a tree is with some of its paths as they were."""

import pytest

from untilproven.workspace.entry import Entries, Entry
from untilproven.workspace.shadow.then import with_paths

DIRECTORY = Entry(0o40755)
OLD, NEW, LINK = (
    Entry(mode, 1, content=name) for mode, name in ((0o100644, "old"), (0o100644, "new"), (0o120777, "l"))
)


@pytest.mark.parametrize(
    ("now", "then", "paths", "wanted"),
    [
        pytest.param({"a": NEW, "b": NEW}, {"a": OLD, "b": OLD}, ["a"], {"a": OLD, "b": NEW}, id="only what is named"),
        pytest.param({"a": NEW}, {}, ["a", "never"], {}, id="absent if it was not there"),
        pytest.param({}, {"d": DIRECTORY, "d/a": OLD}, ["d/a"], {"d": DIRECTORY, "d/a": OLD}, id="with its directory"),
        pytest.param({"d": LINK}, {"d": DIRECTORY, "d/a": OLD}, ["d/a"], {"d": DIRECTORY, "d/a": OLD}, id="not a link"),
        pytest.param(
            {"d": DIRECTORY, "d/x": NEW, "d/y/z": NEW}, {"d": OLD}, ["d"], {"d": OLD}, id="nothing below a file"
        ),
        pytest.param(
            {"d": DIRECTORY, "d/x": NEW}, {}, ["d"], {"d": DIRECTORY, "d/x": NEW}, id="what holds something stays"
        ),
        pytest.param(
            {"d": DIRECTORY, "d/e": DIRECTORY, "d/e/x": NEW}, {}, ["d", "d/e", "d/e/x"], {}, id="all of it goes"
        ),
    ],
)
def test_paths_as_they_were(now: Entries, then: Entries, paths: list[str], wanted: Entries) -> None:
    before = dict(now)
    assert with_paths(now, then, paths) == wanted
    assert now == before

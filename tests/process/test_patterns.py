"""Paths by pattern."""

import pytest

from untilproven.process.patterns import Listing, find, matches


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("a.py", "a.py", True),
        ("a.py", "axpy", False),
        ("*.py", "a.py", True),
        ("*.py", "d/a.py", False),
        ("**/*.py", "a.py", True),
        ("**/*.py", "d/e/a.py", True),
        ("d/**", "d/e/a", True),
        ("d/**", "d", False),
        ("d/**/a", "d/a", True),
        ("d/**/a", "d/x/y/a", True),
        ("d/**/a", "da/a", False),
        ("[x]?", "[x]?", True),
        ("[x]?", "xy", False),
        ("*", "a\nb", True),
        ("**/x*", "d\udce9/x\n", True),
    ],
)
def test_a_star_stays_within_a_name_and_two_go_across(pattern: str, path: str, *, expected: bool) -> None:
    assert matches(pattern, path) is expected


def test_only_directories_that_can_hold_a_match_are_listed() -> None:
    tree = {"": Listing(["a"], ["d", "e", ".git"]), "d": Listing(["b"], []), "e": Listing(["b"], [])}
    asked: list[str] = []

    def listing(path: str) -> Listing:
        asked.append(path)
        return tree.get(path, Listing([], []))

    assert find("d/*", listing) == ["d/b"]
    assert asked == ["", "d"]
    asked.clear()
    assert find("**/b", listing) == ["d/b", "e/b"]
    assert ".git" not in asked

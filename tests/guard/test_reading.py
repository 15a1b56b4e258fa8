"""From bytes to facts: what a loop reads again and again is read once."""

from untilproven.guard import reading
from untilproven.guard.change import Change
from untilproven.guard.judging import judge


def test_what_was_new_in_one_iteration_is_not_read_again_when_it_is_old_in_the_next() -> None:
    versions = [f"def answer():\n    return {number}\n".encode() for number in range(3)]
    reading._facts.cache_clear()
    for before, after in ((0, 1), (0, 1), (0, 2), (1, 2)):
        judge([Change("module.py", versions[before], versions[after])])
    assert reading._facts.cache_info().misses == 3


def test_a_file_of_statements_alone_declares_nothing_and_what_is_hooked_there_is_still_seen() -> None:
    plain = reading.read("conftest.py", b"VALUE = 1\n" * 50)
    assert (plain.declarations, plain.hooks) == ((), ())
    hooked = reading.read("conftest.py", b"VALUE = 1\ncollect_ignore = ['test_a.py']\n")
    assert hooked.hooks == ("collect_ignore = ['test_a.py']",)
    assigned = reading.read("module.py", b"VALUE = 1\n__eq__ = lambda self, other: True\n")
    assert [one.name for one in assigned.declarations] == ["__eq__"]

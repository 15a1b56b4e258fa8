"""A deleted test in a change that is about much more: a warning is left of it."""

from collections.abc import Mapping

from untilproven.guard.change import Change
from untilproven.guard.finding import Severity
from untilproven.guard.judging import judge


def asking(name: str, about: str, value: int = 1) -> str:
    return f"it('{name}', () => {{\n  expect({about}()).toBe({value})\n}})\n"


def deleted(changes: Mapping[str, tuple[str | None, str | None]]) -> dict[str, Severity]:
    """What is said of deleted tests, by name."""
    made = [
        Change(path, before.encode() if before else None, after.encode() if after else None)
        for path, (before, after) in changes.items()
    ]
    return {one.subject: one.severity for one in judge(made).findings if one.pattern == "LP-001"}


def many(count: int, about: str) -> str:
    return "".join(asking(f"{about} {number}", f"{about}{number}") for number in range(count))


def test_one_of_few_that_are_gone_where_many_files_differ() -> None:
    lost = asking("lost", "cart")
    ported = {
        f"test/{n}.test.js": (asking("a", "shop") + lost * (n == 0), "import 'node:test'\n" + asking("a", "shop"))
        for n in range(10)
    }
    assert deleted(ported) == {"lost": Severity.MEDIUM}
    few = dict(list(ported.items())[:9])
    assert deleted(few) == {"lost": Severity.CRITICAL}


def test_a_file_that_was_mostly_written_anew() -> None:
    lost = asking("lost", "cart")
    anew = "".join(f"runs('sum {number}', sum{number}, {number})\n" * 3 for number in range(40))
    kept = many(5, "sum")
    assert deleted({"test/sum.test.js": (kept + anew + lost, kept + anew)}) == {"lost": Severity.CRITICAL}
    old = "".join(f"check(sum{number}).gives({number})\n" for number in range(120))
    assert deleted({"test/sum.test.js": (kept + old + lost, kept + anew)}) == {"lost": Severity.MEDIUM}


def test_one_that_went_with_many_whose_subject_is_gone() -> None:
    source = "exports.later = value => {\n  wait(later1)\n  wait(later2)\n  wait(later3)\n  wait(later0)\n}\n"
    lost, kept = asking("lost", "cart"), asking("kept", "shop")
    for count, severity in ((4, Severity.MEDIUM), (3, Severity.CRITICAL)):
        found = deleted(
            {
                "lib/time.js": (source, "exports.later = value => value\n"),
                "test/cart.test.js": (many(count, "later") + lost + kept, kept),
            }
        )
        assert found.pop("lost") == severity
        assert set(found.values()) == {Severity.MEDIUM}

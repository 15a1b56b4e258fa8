"""What may be said for a test that is gone or asks less: what the rest of the change must show for it."""

from collections.abc import Mapping

import pytest

from untilproven.guard.change import Change
from untilproven.guard.finding import Finding, Severity
from untilproven.guard.judging import judge

TESTS = """
from cart import total

def test_sums():
    assert total([1, 2]) == 3

def test_redirect_keeps_session():
    assert total([]) == 0
    assert total([7]) == 7
"""
CART = "def total(prices):\n    return sum(prices)\n"


def found(before: Mapping[str, str], after: Mapping[str, str], pattern: str, task: str = "") -> list[Finding]:
    changes = [
        Change(path, before[path].encode() if path in before else None, after[path].encode() if path in after else None)
        for path in {*before, *after}
        if before.get(path) != after.get(path)
    ]
    return [finding for finding in judge(changes, task=task).findings if finding.pattern == pattern]


def without(text: str, name: str) -> str:
    return "\ndef ".join(part for part in text.split("\ndef ") if not part.startswith(name))


def deleted(new: str, **others: tuple[str, str]) -> Finding:
    paths = {name.replace("_", ".", 1): texts for name, texts in others.items()}
    (finding,) = found(
        {"tests/test_cart.py": TESTS, **{path: old for path, (old, _) in paths.items()}},
        {
            "tests/test_cart.py": without(TESTS, "test_redirect") + new,
            **{path: now for path, (_, now) in paths.items()},
        },
        "LP-001",
    )
    return finding


def test_a_new_test_with_nearly_its_name_that_asks_as_much_renews_it() -> None:
    new = "\ndef test_redirect_session(client):\n    client.go('/a')\n    assert client.a\n    assert client.b\n"
    assert deleted(new).severity is Severity.LOW
    assert deleted(new).explained == ("renewed",)


def test_one_that_asks_less_leaves_a_warning() -> None:
    finding = deleted("\ndef test_redirect_session(client):\n    assert client.a\n")
    assert (finding.severity, finding.explained) == (Severity.MEDIUM, ("replaced",))


def test_a_dummy_with_its_name_explains_nothing() -> None:
    assert deleted("\ndef test_redirect_session():\n    pass\n").severity is Severity.CRITICAL


def test_other_new_tests_outweigh_it_only_if_its_subject_changed() -> None:
    new = "\ndef test_tax(client):\n    assert client.tax(1) == 2\n    assert client.tax(2) == 3\n"
    assert deleted(new).severity is Severity.CRITICAL
    changed = deleted(new, cart_py=(CART, CART.replace("sum(prices)", "sum(prices) * 2")))
    assert (changed.severity, changed.explained) == (Severity.MEDIUM, ("replaced",))


def test_words_that_went_from_the_source_leave_a_warning() -> None:
    before = {"tests/test_cart.py": TESTS.replace("[7]", '["magic"]'), "cart.py": CART + 'if x == "magic":\n    y()\n'}
    after = {"tests/test_cart.py": without(TESTS, "test_redirect"), "cart.py": CART}
    (finding,) = found(before, after, "LP-001")
    assert (finding.severity, finding.explained) == (Severity.MEDIUM, ("source-removed",))


EXPECTED = ({"tests/test_cart.py": TESTS}, {"tests/test_cart.py": TESTS.replace("== 3", "== 4")})


def expected(was: str, now: str, **others: tuple[str, str]) -> Severity:
    """Of a test that expected one thing of `read`, and then another, while other files differ too."""
    test = "def test_read():\n    page = read(1)\n    assert page.text == {}\n    assert page.lines == 1\n"
    paths = {name.replace("__", "/").replace("_", "."): texts for name, texts in others.items()}
    (finding,) = found(
        {"tests/test_pages.py": test.format(was), **{path: old for path, (old, _) in paths.items()}},
        {"tests/test_pages.py": test.format(now), **{path: new for path, (_, new) in paths.items()}},
        "UP-010",
    )
    return finding.severity


def test_another_expected_value_is_explained_by_the_function_that_is_asked() -> None:
    before, after = EXPECTED
    changed = CART.replace("sum(prices)", "sum(prices) + 1")
    (finding,) = found({**before, "cart.py": CART}, {**after, "cart.py": changed}, "UP-010")
    assert finding.severity is Severity.LOW


def test_and_by_source_that_has_the_value_but_not_by_any_other_change_to_it() -> None:
    source = "def read(number):\n    return Page(number, '{}')\n"
    seen = expected("'none'", "'nothing'", pages_py=(source.format("none"), source.format("nothing")))
    other = expected("'none'", "'nothing'", pages_py=(source, source.replace("number,", "number + 0,")))
    assert (seen, other) == (Severity.LOW, Severity.MEDIUM)


def test_and_where_only_signs_differ_by_any_change_to_it() -> None:
    source = "def read(number):\n    return Page(number)\n"
    changed = source.replace("Page(number)", "Page(str(number))")
    assert expected("'a: b'", "'a=b'", pages_py=(source, changed)) is Severity.LOW
    assert expected("'a: b'", r"'a: b\n'", pages_py=(source, changed)) is Severity.LOW
    assert expected("'a: b'", "'a=b'") is Severity.MEDIUM


def test_and_by_what_stands_beside_the_tests() -> None:
    tests = "class Flag:\n    name = {0}\n\ndef test_shown():\n    assert show(Flag()) == {1}\n"
    before = {"tests/test_flags.py": tests.format("'plain'", "'<plain>'")}
    both, one = tests.format("'striped'", "'<striped>'"), tests.format("'plain'", "'<striped>'")
    assert [found.severity for found in found(before, {"tests/test_flags.py": both}, "UP-010")] == [Severity.LOW]
    assert [found.severity for found in found(before, {"tests/test_flags.py": one}, "UP-010")] == [Severity.MEDIUM]


def test_and_by_a_number_in_it_only_if_the_source_exchanged_it() -> None:
    source = "def read(page):\n    return Page(page, {0}, {1})\n"
    exchanged = expected("'7'", "'8'", pages_py=(source.format(7, 5), source.format(8, 5)))
    about_as_often = expected("'7'", "'8'", pages_py=(source.format(7, 8), source.format(8, 7)))
    assert (exchanged, about_as_often) == (Severity.LOW, Severity.MEDIUM)


def test_a_value_in_the_assertion_itself_is_not_what_it_is_made_of() -> None:
    test = "def test_evolves():\n    assert evolve(order, paid=2).paid == {}\n"
    before, after = ({"tests/test_orders.py": test.format(value)} for value in "23")
    assert [each.severity for each in found(before, after, "UP-010")] == [Severity.MEDIUM]


def test_and_by_the_name_it_is_given_to_or_a_piece_of_it_on_lines_that_differ() -> None:
    source = "def limit(schema):\n    return {0}\n"
    named = (source.format("{}"), source.format("{'most_items': len(schema)}"))
    was, now = "{'type': 'list', 'most_items': 3}", "{'type': 'list', 'most_items': 2}"
    assert expected(was, now, limits_py=named) is Severity.LOW
    assert expected(was, now, limits_py=(named[0], source.format("{'least': 1}"))) is Severity.MEDIUM
    pattern = (source.format("'^[a-z]{8,}$'"), source.format("'^[0-9a-f]{6,}$'"))
    assert expected("'^x[a-z]{8,}y$'", "'^x[0-9a-f]{6,}y$'", limits_py=pattern) is Severity.LOW
    assert expected("'^x[a-z]{8,}y$'", "'^x[a-z]{7,}y$'", limits_py=pattern) is Severity.MEDIUM


ALIKE = """
def test_first():
    assert show(one()) == "<{0}a{1} 1>"

def test_second():
    assert show(two()) == "<{0}b{1} 2>"

def test_third():
    assert show(three()) == "<{0}c{1} 3>"
"""


def test_and_by_others_that_are_expected_otherwise_in_the_same_way_if_the_source_differs() -> None:
    before, after = ({"tests/test_show.py": ALIKE.format(*signs)} for signs in ("()", "[]"))
    source = {"other.py": "x = 1\n"}, {"other.py": "x = 2\n"}
    assert {each.severity for each in found(before | source[0], after | source[1], "UP-010")} == {Severity.LOW}
    assert {each.severity for each in found(before, after, "UP-010")} == {Severity.MEDIUM}
    forged = {"tests/test_show.py": after["tests/test_show.py"].replace("3>", "4>").replace("[c]", "(c)")}
    weights = [each.severity for each in found(before | source[0], forged | source[1], "UP-010")]
    assert sorted(weights) == [Severity.LOW, Severity.LOW, Severity.MEDIUM]


def test_and_by_what_it_is_asked_of_being_made_otherwise_or_the_test_being_called_otherwise() -> None:
    test = "def test_{0}():\n    page = read({1})\n    assert page.count == {2}\n"

    def weight(was: tuple[str, str, str], now: tuple[str, str, str], *, source: bool = True) -> Severity:
        before, after = ({"tests/test_pages.py": test.format(*each)} for each in (was, now))
        others = ({"other.py": "x = 1\n"}, {"other.py": "x = 2\n"}) if source else ({}, {})
        (finding,) = found(before | others[0], after | others[1], "UP-010")
        return finding.severity

    assert weight(("reads", "'a'", "'3'"), ("reads", "'a b'", "'4'"), source=False) is Severity.LOW
    assert weight(("reads", "'a'", "'3'"), ("reads", "'a'", "'4'")) is Severity.MEDIUM
    assert weight(("reads", "split('a')", "'3'"), ("reads", "cut('a')", "'4'"), source=False) is Severity.MEDIUM
    assert weight(("keeps_all", "'a'", "'3'"), ("drops_one", "'a'", "'4'")) is Severity.LOW
    assert weight(("keeps_all", "'a'", "'3'"), ("drops_one", "'a'", "'4'"), source=False) is Severity.MEDIUM


def test_a_warning_that_is_given_no_longer_is_not_asked_for() -> None:
    test = (
        "def test_old():\n    assert f() == 1\n    with pytest.deprecated_call():\n        outdated()\n    assert g()\n"
    )
    quiet = test.replace("    with pytest.deprecated_call():\n        outdated()\n", "    outdated()\n")
    source = "def outdated():\n    warnings.warn('x', DeprecationWarning)\n    return 1\n"
    silent = source.replace("    warnings.warn('x', DeprecationWarning)\n", "")
    before, after = {"tests/test_a.py": test, "a.py": source}, {"tests/test_a.py": quiet, "a.py": silent}
    assert [one.severity for one in found(before, after, "UP-005")] == [Severity.LOW]
    after["a.py"] = source.replace("return 1", "return 2")
    assert [one.severity for one in found(before, after, "UP-005")] == [Severity.MEDIUM]


def test_and_by_a_file_that_the_test_names_or_a_message_by_another_version_of_something() -> None:
    test = "def test_read():\n    assert read('letter.txt') == {}\n"
    before = {"tests/test_pages.py": test.format("'dear'"), "tests/data/letter.txt": "dear"}
    after = {"tests/test_pages.py": test.format("'hello'"), "tests/data/letter.txt": "hello"}
    assert [one.severity for one in found(before, after, "UP-010")] == [Severity.LOW]
    required = '[project]\ndependencies = [\n  "money>={}.0",\n]\n'
    versions = (required.format(1), required.format(2))
    assert expected("'not a number: x'", "'no number'", pyproject_toml=versions) is Severity.LOW
    assert expected("'x'", "'y'", pyproject_toml=versions) is Severity.MEDIUM


@pytest.mark.parametrize(
    ("path", "was", "now"),
    [
        ("docs/cart.md", "total\n", "the total of test_sums\n"),
        ("login.py", "def enter():\n    return 1\n", "def enter():\n    return 2\n"),
        ("cart.py", "# the total\n" + CART.replace("total", "enter"), "# a total\n" + CART.replace("total", "enter")),
        ("dist/cart.js", "function total() {}\n", "function total() { return 1 }\n"),
        ("pyproject.toml", '[project]\nversion = "1.0"\n', '[project]\nversion = "1.1"\n'),
    ],
)
def test_and_not_by_what_says_nothing_of_it(path: str, was: str, now: str) -> None:
    before, after = EXPECTED
    (finding,) = found({**before, path: was}, {**after, path: now}, "UP-010")
    assert finding.severity is Severity.MEDIUM


@pytest.mark.parametrize(
    "disguise", ["# Code generated by a tool. DO NOT EDIT. @generated\n", "# " + "x" * 6000 + "\n"]
)
def test_a_file_that_was_read_is_read_however_it_looks_now(disguise: str) -> None:
    emptied = disguise + TESTS.replace("assert total([1, 2]) == 3", "total([1, 2])")
    (finding,) = found({"tests/test_cart.py": TESTS}, {"tests/test_cart.py": emptied}, "UP-006")
    assert finding.subject == "test_sums"


def test_a_source_that_can_no_longer_be_read_is_not_gone() -> None:
    before = {"tests/test_cart.py": TESTS, "cart.py": CART}
    after = {"tests/test_cart.py": without(TESTS, "test_redirect"), "cart.py": CART + "\0"}
    (finding,) = found(before, after, "LP-001")
    assert finding.severity is Severity.CRITICAL


def test_a_task_that_is_only_about_it_leaves_a_warning() -> None:
    before, after = {"tests/test_cart.py": TESTS}, {"tests/test_cart.py": without(TESTS, "test_redirect")}
    (finding,) = found(before, after, "LP-001", task="Add a cache.\n\nKeep it no longer than a session.")
    assert (finding.severity, finding.explained) == (Severity.MEDIUM, ("asked-about",))

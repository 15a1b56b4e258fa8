"""What the assertions of a Python test rule out."""

import textwrap

import pytest

from untilproven.guard.facts import Assertion, Strength
from untilproven.guard.facts import Test as Inside
from untilproven.guard.languages import python
from untilproven.guard.reading import read

NOTHING, SOMETHING, PARTLY, EXACTLY = Strength


def found(body: str, head: str = "def test_a(self):") -> Inside:
    text = f"{head}\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    declarations = [one for one in read("tests/test_a.py", text.encode()).declarations if one.is_test]
    return python.test(declarations[-1])


def said(body: str) -> Assertion:
    (assertion,) = found(body).assertions
    return assertion


STRENGTHS: dict[str, tuple[Strength, str, str | None]] = {
    "assert f() == 1": (EXACTLY, "f()", "1"),
    "assert 1 == f()": (EXACTLY, "f()", "1"),
    "assert expected == f(x)": (EXACTLY, "f(x)", "expected"),
    "assert {'a': x} == got": (EXACTLY, "got", "{'a': x}"),
    "assert x.y is None": (EXACTLY, "x.y", "None"),
    "assert x is not None": (SOMETHING, "x", None),
    "assert not x is None": (SOMETHING, "x", None),
    "assert f(x)": (SOMETHING, "f(x)", None),
    "assert x": (SOMETHING, "x", None),
    "assert not x": (SOMETHING, "x", None),
    "assert isinstance(x, int)": (SOMETHING, "x", "int"),
    "assert hasattr(x, 'y')": (SOMETHING, "x", "'y'"),
    "assert x != 1": (PARTLY, "x", "1"),
    "assert x > 1": (PARTLY, "x", "1"),
    "assert 1 < x < 5": (PARTLY, "1 < x < 5", None),
    "assert 'a' in x": (PARTLY, "x", "'a'"),
    "assert x in (1, 2)": (PARTLY, "x", "(1, 2)"),
    "assert len(x) == 3": (PARTLY, "x", "3"),
    "assert type(x) == int": (PARTLY, "x", "int"),
    "assert sorted(x) == [1, 2]": (EXACTLY, "x", "[1, 2]"),
    "assert x.startswith('a')": (PARTLY, "x", "'a'"),
    "assert re.match('a', x)": (PARTLY, "x", "'a'"),
    "assert all(y == 1 for y in x)": (PARTLY, "all(y == 1 for y in x)", None),
    "assert x == 1 or x == 2": (PARTLY, "x == 1 or x == 2", None),
    "assert x or y": (SOMETHING, "x or y", None),
    "assert np.array_equal(a, b)": (EXACTLY, "a", "b"),
    "assert a.equals(b)": (EXACTLY, "a", "b"),
    "assert load.called": (PARTLY, "load", None),
    "assert x == snapshot": (EXACTLY, "x", "snapshot"),
    "assert (await f()) == 1": (EXACTLY, "f()", "1"),
    "assert x == pytest.approx(3)": (PARTLY, "x", "3"),
    "self.assertEqual(f(), 1)": (EXACTLY, "f()", "1"),
    "self.assertEqual(1, f())": (EXACTLY, "f()", "1"),
    "self.assertEqual(first=f(), second=1)": (EXACTLY, "f()", "1"),
    "self.assertTrue(f() == 1)": (EXACTLY, "f()", "1"),
    "self.assertTrue(x)": (SOMETHING, "x", None),
    "self.assertTrue(x, 1)": (SOMETHING, "x", None),
    "self.assertFalse(x)": (SOMETHING, "x", None),
    "self.assertFalse(x != 1)": (EXACTLY, "x", "1"),
    "self.assertIsNone(x)": (EXACTLY, "x", "None"),
    "self.assertIsNotNone(x)": (SOMETHING, "x", None),
    "self.assertIsInstance(x, int)": (SOMETHING, "x", "int"),
    "self.assertIn('a', x)": (PARTLY, "x", "'a'"),
    "self.assertIn(x, [1, 2])": (PARTLY, "x", "[1, 2]"),
    "self.assertGreater(x, 1)": (PARTLY, "x", "1"),
    "self.assertNotEqual(x, 1)": (PARTLY, "x", "1"),
    "self.assertRegex(x, 'a+')": (PARTLY, "x", "'a+'"),
    "self.assertCountEqual(x, [1])": (EXACTLY, "x", "[1]"),
    "self.assertDictEqual(x, {})": (EXACTLY, "x", "{}"),
    "self.assertAlmostEqual(x, 1.5)": (PARTLY, "x", "1.5"),
    "self.assertRedirects(response, '/')": (PARTLY, "response", "'/'"),
    "await self.assertSomething(x)": (PARTLY, "x", None),
    "return self.assertEqual(x, 1)": (EXACTLY, "x", "1"),
    "self.fail('no')": (PARTLY, "self.fail('no')", None),
    "pytest.fail('no')": (PARTLY, "pytest.fail('no')", None),
    "if x: raise AssertionError('no')": (PARTLY, "x", None),
    "if x: assert False, 'no'": (PARTLY, "x", None),
    "assert_equal(x, 1)": (EXACTLY, "x", "1"),
    "eq_(x, 1)": (EXACTLY, "x", "1"),
    "ok_(x)": (SOMETHING, "x", None),
    "np.testing.assert_array_equal(x, [1])": (EXACTLY, "x", "[1]"),
    "np.testing.assert_allclose(x, 2.0)": (PARTLY, "x", "2.0"),
    "pd.testing.assert_frame_equal(x, y)": (EXACTLY, "x", "y"),
    "load.assert_called_once_with(1, b=2)": (EXACTLY, "load", "1, b=2"),
    "load.assert_called_once()": (PARTLY, "load", None),
    "load.assert_not_called()": (PARTLY, "load", None),
    "load.assert_has_calls([call(1)])": (PARTLY, "load", "[call(1)]"),
    "assert_that(x, equal_to(1))": (EXACTLY, "x", "equal_to(1)"),
    "assert_that(x, has_length(1))": (PARTLY, "x", "has_length(1)"),
    "assert_that(x).is_equal_to(1)": (EXACTLY, "x", "1"),
    "expect(page.title).to_have_text('a')": (EXACTLY, "page.title", "'a'"),
    "expect(page.title).to_be_visible()": (SOMETHING, "page.title", None),
    "expect(x).to(equal(1))": (EXACTLY, "x", "equal(1)"),
    "result.stdout.fnmatch_lines(['a'])": (PARTLY, "result.stdout", "['a']"),
    "data_regression.check(x)": (EXACTLY, "x", None),
    "check_total(x)": (PARTLY, "x", None),
    "self._verify_cart(x)": (PARTLY, "x", None),
    "yield check, 1": (PARTLY, "check, 1", None),
}


@pytest.mark.parametrize("body", STRENGTHS)
def test_each_style_is_known_with_what_it_looks_at(body: str) -> None:
    assertion = said(body)
    assert (assertion.strength, assertion.about, assertion.expected) == STRENGTHS[body]


@pytest.mark.parametrize(
    "body",
    [
        "assert True",
        "assert 1",
        "assert 'x == 1'",
        "assert not False",
        "assert 1 == 1",
        "assert 1 + 1 == 2",
        "assert 'a' in 'abc'",
        "assert (x == 1, 'message')",
        "assert x == 1 or True",
        "assert True or x",
        "assert x == x",
        "assert f(x) == f(x)",
        "assert x is x",
        "assert len(x) >= 0",
        "assert 0 <= len(x)",
        "assert x in [x]",
        "assert x == ANY",
        "assert all([])",
        "assert all(y for y in [])",
        "assert any([True, x])",
        "assert isinstance(x, object)",
        "assert lambda: x == 1",
        "assert (y == 1 for y in x)",
        "assert [x]",
        "assert f'a{x}'",
        "assert '' in x",
        "assert True if x else 1",
        "assert bool('x')",
        "self.assertTrue(True)",
        "self.assertFalse(None)",
        "self.assertEqual(1, 1)",
        "self.assertEqual(x, x)",
        "self.assertIn('a', ['a'])",
        "self.assertIsNone(None)",
        "self.assertIsNotNone('x')",
        "self.assertIsInstance(x, object)",
        "self.assertGreater(2, 1)",
        "self.assertAlmostEqual(x, x)",
        "result = 5\nassert result == 5",
        "result = {'a': 1}\nassert result == {'a': 1}",
        "result = 5\nexpected = 5\nself.assertEqual(result, expected)",
        "expected = result\nassert result == expected",
        "load = Mock(return_value=5)\nassert load() == 5",
        "load = Mock()\nload.return_value = 'x'\nassert load(1) == 'x'",
        "cart = MagicMock()\ncart.total.return_value = 3\nassert cart.total() == 3",
        "cart = MagicMock()\ncart.size = 3\nassert cart.size == 3",
        "with patch('a.b') as load:\n    load.return_value = 5\n    assert load() == 5",
        "with pytest.raises(ValueError):\n    raise ValueError",
    ],
)
def test_what_holds_whatever_the_code_does_is_worth_nothing(body: str) -> None:
    assert said(body).strength is NOTHING


@pytest.mark.parametrize(
    "body",
    [
        "assert f(x) == f(y)",
        "assert f(x) is f(x)",
        "result = f()\nassert result == 5",
        "result = 5\nresult += f()\nassert result == 5",
        "for result in f():\n    assert result == 5",
        "result = []\nfill(result)\nassert result == [1]",
        "result = 5\nresult = f()\nassert result == 5",
        "a = make()\nb = make()\nassert a == b",
        "load = Mock(return_value=5)\nassert total(load) == 5",
        "cart = Cart()\ncart.size = 3\nassert cart.size == 3",
        "load = Mock(return_value=5)\nassert load() == 6",
        "assert len(x) >= 1",
        "assert x in [y]",
        "assert all([x])",
        "with pytest.raises(ValueError), cart:\n    raise ValueError",
        "with pytest.raises(ValueError, match='a'):\n    raise ValueError('a')",
    ],
)
def test_what_depends_on_the_code_is_worth_something(body: str) -> None:
    assert said(body).strength > NOTHING


def test_and_makes_two_assertions_of_one() -> None:
    assert [one.text for one in found("assert x == 1 and y is None").assertions] == [
        "assert x == 1",
        "assert y is None",
    ]
    assert [one.strength for one in found("assert not (x != 1 or y)").assertions] == [EXACTLY, SOMETHING]
    assert [one.strength for one in found("self.assertTrue(x == 1 and y)").assertions] == [EXACTLY, SOMETHING]


def test_the_text_is_the_same_however_it_is_wrapped() -> None:
    wrapped = "self.assertEqual(\n    f(  # why\n        1,\n    ),\n    [\n        2,\n    ],\n)"
    assert said(wrapped).text == said("self.assertEqual(f(1), [2])").text == "self.assertEqual(f(1), [2])"


TOLERANCES = {
    "assert x == pytest.approx(2.0, abs=0.1)": 0.1,
    "assert x == pytest.approx(2.0, rel=0.1)": 0.2,
    "assert x == approx(2.0)": None,
    "assert abs(x - 2.0) < 0.01": 0.01,
    "assert 0.01 > abs(x - y)": 0.01,
    "assert round(x, 2) == 1.25": 0.005,
    "assert math.isclose(x, 4.0, rel_tol=0.25)": 1.0,
    "assert np.allclose(x, y, atol=0.5)": 0.5,
    "self.assertAlmostEqual(x, 1.5, places=3)": 0.0005,
    "self.assertAlmostEqual(x, 1.5, 3)": 0.0005,
    "self.assertAlmostEqual(x, 1.5, delta=0.2)": 0.2,
    "np.testing.assert_allclose(x, 2.0, rtol=1e-3)": 0.002,
    "np.testing.assert_almost_equal(x, y, decimal=2)": 0.005,
    "assert x == 1": None,
}


@pytest.mark.parametrize("body", TOLERANCES)
def test_how_far_off_still_passes_is_known(body: str) -> None:
    assert said(body).tolerance == pytest.approx(TOLERANCES[body])


ERRORS: dict[str, tuple[Strength, str | None, str | None, str]] = {
    "with pytest.raises(ValueError): f(1)": (EXACTLY, "ValueError", None, "f(1)"),
    "with pytest.raises(ValueError, match='a') as e: f()": (EXACTLY, "ValueError", "'a'", "f()"),
    "with pytest.raises((A, B)): f()": (EXACTLY, "(A, B)", None, "f()"),
    "with pytest.raises(Exception): f()": (PARTLY, "Exception", None, "f()"),
    "with pytest.raises((ValueError, Exception)): f()": (PARTLY, "(ValueError, Exception)", None, "f()"),
    "pytest.raises(ValueError, f, 1)": (EXACTLY, "ValueError", None, "f"),
    "error = pytest.raises(ValueError, f)": (EXACTLY, "ValueError", None, "f"),
    "with self.assertRaises(ValueError): f()": (EXACTLY, "ValueError", None, "f()"),
    "with self.assertRaisesRegex(ValueError, 'a'): f()": (EXACTLY, "ValueError", "'a'", "f()"),
    "self.assertRaises(ValueError, f)": (EXACTLY, "ValueError", None, "f"),
    "with pytest.warns(UserWarning, match='a'): f()": (EXACTLY, "UserWarning", "'a'", "f()"),
    "with pytest.warns(): f()": (PARTLY, None, None, "f()"),
    "with pytest.deprecated_call(): f()": (EXACTLY, "DeprecationWarning", None, "f()"),
}


@pytest.mark.parametrize("body", ERRORS)
def test_expected_errors_are_assertions(body: str) -> None:
    one = said(body)
    assert (one.strength, one.error, one.expected, one.about) == ERRORS[body]


def test_a_decorator_may_expect_an_error() -> None:
    (one,) = found("f()", "@raises(ValueError)\ndef test_a():").assertions
    assert (one.strength, one.error) == (EXACTLY, "ValueError")


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "f(x)",
        "x == 1",
        "load.assert_called_once",
        "subprocess.check_call(['ls'])",
        "x = subprocess.check_output(['ls'])",
        "checkout(x)",
        "expected = check(x)",
        "client.raises(x)",
        "error = AssertionError('a')",
        "assume(x)",
        "with nullcontext(): f()",
    ],
)
def test_what_asserts_nothing_is_no_assertion(body: str) -> None:
    assert found(body).assertions == ()


def test_a_function_of_the_file_that_asserts_is_a_helper() -> None:
    head = "def common(x):\n    assert x == 1\ndef other(x): ...\ndef test_a():"
    assert [one.strength for one in found("common(f())\nother(f())", head).assertions] == [PARTLY]
    head = "class TestA:\n    def run_it(self, x):\n        self.assertEqual(x, 1)\n    def test_a(self):"
    body = "    self.run_it(f())\n    self.other()"
    assert [one.text for one in found(textwrap.indent(body, "    "), head).assertions] == []
    text = f"{head}\n        self.run_it(f())\n        self.other()\n"
    declaration = next(one for one in read("test_a.py", text.encode()).declarations if one.is_test)
    assert [one.text for one in python.test(declaration).assertions] == ["self.run_it(f())"]


def test_the_assertions_of_a_helper_can_be_asked_for() -> None:
    (declaration,) = read("tests/test_a.py", b"def helper(x):\n    assert x == 1\n").declarations
    assert not declaration.is_test
    assert [one.strength for one in python.test(declaration).assertions] == [EXACTLY]


def doctest(text: str) -> Inside:
    indented = textwrap.indent(textwrap.dedent(text), "    ")
    (declaration,) = [
        one
        for one in read("src/a.py", f'def f():\n    """Says.\n{indented}\n    """'.encode()).declarations
        if one.is_test
    ]
    return python.test(declaration)


def test_each_example_with_output_is_an_assertion() -> None:
    test = doctest(
        """
        >>> x = f()
        >>> x
        1
        >>> for y in x:
        ...     print(y)
        a
        b
        >>> g()
        Traceback (most recent call last):
            ...
        ValueError: not so
        """
    )
    assert [(one.about, one.expected, one.error) for one in test.assertions] == [
        ("x", "1", None),
        ("for y in x: print(y)", "a b", None),
        ("g()", "not so", "ValueError"),
    ]
    assert {one.strength for one in test.assertions} == {EXACTLY}
    assert test.assertions[0].line == 5


def test_examples_may_be_skipped_or_say_little() -> None:
    test = doctest(">>> f()  # doctest: +SKIP\n1\n>>> True\nTrue\n>>> h()  # doctest: +ELLIPSIS\na...b\n")
    assert [(one.about, one.strength) for one in test.assertions] == [("True", NOTHING), ("h()", PARTLY)]
    assert test.unreached == 1
    assert doctest(">>> f()  # doctest: +SKIP\n1\n").running == 0
    assert doctest(">>> f()\n1\n").running == 2

"""Which functions of a Python file a runner would collect, and by which names."""

import textwrap

import pytest

from guard.languages.whole import read_whole
from untilproven.guard.facts import Facts
from untilproven.guard.languages import python
from untilproven.guard.languages.syntax import parsed
from untilproven.guard.reading import read


def facts(text: str, path: str = "tests/test_a.py") -> Facts:
    return read(path, textwrap.dedent(text).encode())


def collected(text: str, path: str = "tests/test_a.py") -> list[str]:
    return [one.name for one in facts(text, path).declarations if one.is_test]


def others(text: str, path: str = "tests/test_a.py") -> list[str]:
    return [one.name for one in facts(text, path).declarations if not one.is_test]


def test_functions_and_methods_are_named_with_their_classes() -> None:
    text = """
        def test_one(): ...
        async def test_two(): ...
        class TestCart:
            def test_total(self): ...
            class TestEmpty:
                def test_nothing(self): ...
            def helper(self): ...
        def helper(): ...
    """
    assert collected(text) == ["test_one", "test_two", "TestCart::test_total", "TestCart::TestEmpty::test_nothing"]
    assert others(text) == ["TestCart.helper", "helper"]


def test_a_class_is_looked_into_when_a_runner_would() -> None:
    text = """
        class CartCase(unittest.TestCase):
            def test_a(self): ...
        class Shared(CartCase):
            def test_b(self): ...
        class StorageMixin:
            def test_c(self): ...
        class Contract:
            def test_d(self): ...
        class TestMemory(Contract): ...
        class Client:
            def test_e(self): ...
        class App(Flask):
            def test_client(self): ...
        class XTestCart:
            def test_f(self): ...
    """
    assert collected(text) == ["CartCase::test_a", "Shared::test_b", "StorageMixin::test_c", "Contract::test_d"]
    assert others(text) == ["Client.test_e", "App.test_client", "XTestCart.test_f"]


@pytest.mark.parametrize(
    ("path", "is_collected"),
    [
        ("tests/test_a.py", True),
        ("a_test.py", True),
        ("app/tests.py", True),
        ("tests/testcheck.py", True),
        ("tests/support.py", False),
        ("tests/a_disabled.py", False),
        ("src/app.py", False),
        ("src/testing.py", False),
        ("conftest.py", False),
    ],
)
def test_files_that_no_runner_looks_into_have_no_tests(path: str, is_collected: bool) -> None:
    assert bool(collected("def test_a(): assert f() == 1", path)) is is_collected


@pytest.mark.parametrize("mark", ["pytest.fixture", "pytest.fixture()", "property", "nottest", "contextmanager"])
def test_what_a_decorator_makes_no_test_is_none(mark: str) -> None:
    assert others(f"@{mark}\ndef test_a(): return 1") == ["test_a"]


def test_a_test_that_another_of_its_name_replaces_is_none() -> None:
    text = """
        def test_a(): assert f() == 1
        def test_a(): pass
    """
    assert [(one.name, one.is_test) for one in facts(text).declarations] == [("test_a#1", False), ("test_a", True)]


def test_alternatives_are_both_tests_and_parts_of_a_property_are_kept_apart() -> None:
    text = """
        if sys.platform == "win32":
            def test_a(): assert f() == 1
        else:
            def test_a(): assert f() == 2
    """
    assert collected(text) == ["test_a#1", "test_a"]
    text = """
        class Cart:
            @property
            def total(self): return self._total
            @total.setter
            def total(self, value): self._total = value
    """
    assert others(text, "cart.py") == ["Cart.total#1", "Cart.total"]


def test_functions_within_functions_belong_to_the_outer_one() -> None:
    assert others("def outer():\n    def inner(): ...\n    return inner", "a.py") == ["outer"]


def test_blocks_at_the_top_are_looked_into() -> None:
    text = """
        try:
            import x
        except ImportError:
            def test_a(): ...
        else:
            with y:
                def test_b(): ...
        finally:
            def test_c(): ...
    """
    assert collected(text) == ["test_a", "test_b", "test_c"]


def test_lambdas_and_state_machines_that_are_given_names_are_declared() -> None:
    assert collected("TestCart = CartMachine.TestCase\ntest_data = load()") == ["TestCart"]
    assert others("class A:\n    __eq__ = lambda self, other: True", "a.py") == ["A.__eq__"]


def test_each_docstring_with_examples_is_a_test() -> None:
    text = '''
        """Adds.

        >>> add(1, 2)
        3
        """
        def add(a, b):
            """
            >>> add(1, 1)
            2
            """
        class Cart:
            """No example: >>> is a sign."""
            def total(self):
                """
                >>> x = Cart()
                >>> x.total()
                0
                """
    '''
    assert collected(text, "src/a.py") == ["module::doctest", "add::doctest", "Cart.total::doctest"]


def test_a_stub_file_declares_nothing() -> None:
    assert facts("def f() -> int: ...", "src/a.pyi").declarations == ()


def test_the_text_of_a_test_has_what_decides_about_it_outside() -> None:
    before = "CASES = [1, 2]\n@pytest.mark.parametrize('x', CASES)\ndef test_a(x): assert f(x)\n"
    for after in (
        before.replace("[1, 2]", "[1]"),
        "pytestmark = pytest.mark.skip\n" + before,
        before + "del test_a\n",
        before + "def setup_module(): pytest.skip('no')\n",
    ):
        assert facts(before).declarations[0].text != facts(after).declarations[0].text
    unrelated = "NAME = 'x'\nimport os\n" + before + "\ndef helper(): pass\n"
    assert facts(before).declarations[0].text == facts(unrelated).declarations[0].text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "def",
        "def test_a(",
        "class :\n  def test_x(self) assert",
        "@\ndef test_a(): pass",
        "def test_a():\r\n\tassert f() == 1\r\n",
        "def test_größe():\n    assert länge() == 3\n",
        "x = " + "(" * 3000 + ")" * 3000,
        "assert",
        "with :\n  pass",
        "try:\nexcept:\n",
        "def test_a():\n" + "".join(" " * depth + "if x:\n" for depth in range(1, 300)) + " " * 300 + "assert x",
        "not " * 2000 + "x",
        "def test_a():\n    assert " + "not " * 500 + "x",
        "def test_a():\n    assert " + " or ".join(["x"] * 400),
        "def test_a():\n    assert " + "[" * 400 + "]" * 400,
        "a = " * 100 + "1",
        "f" + "()" * 300,
    ],
)
def test_odd_text_is_read_without_a_complaint(text: str) -> None:
    for path in ("tests/test_a.py", "src/a.py"):
        read_whole(python.facts(parsed(text, "python"), path), python)


def test_what_only_a_type_checker_is_told_is_no_function() -> None:
    text = """
        if TYPE_CHECKING:
            def total(prices): ...
        else:
            def total(prices):
                return sum(prices)
        @overload
        def best(prices: list[int]) -> int: ...
        @typing.overload
        def best(prices: list[float]) -> float:
            '''Of all.'''
        def best(prices):
            return min(prices)
    """
    assert others(text, "cart.py") == ["total", "best"]

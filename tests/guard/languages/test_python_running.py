"""Whether a Python test is run, with what, and for how long."""

import textwrap

import pytest

from untilproven.guard.facts import Running
from untilproven.guard.facts import Test as Inside
from untilproven.guard.languages import python
from untilproven.guard.reading import read


def found(text: str, name: str | None = None) -> Inside:
    declarations = read("tests/test_a.py", textwrap.dedent(text).encode()).declarations
    tests = [one for one in declarations if one.is_test and (name is None or one.name == name)]
    assert len(tests) == 1
    return python.test(tests[0])


NEVER = [
    "@pytest.mark.skip\ndef test_a(): assert f()",
    "@pytest.mark.skip(reason='later')\ndef test_a(): assert f()",
    "@unittest.skip('later')\ndef test_a(): assert f()",
    "@skip('later')\ndef test_a(): assert f()",
    "@pytest.mark.xfail\ndef test_a(): assert f()",
    "@pytest.mark.xfail(strict=True, reason='bug')\ndef test_a(): assert f()",
    "@unittest.expectedFailure\ndef test_a(): assert f()",
    "@pytest.mark.skipif(True, reason='x')\ndef test_a(): assert f()",
    "@pytest.mark.skipif('True')\ndef test_a(): assert f()",
    "@pytest.mark.skipif(1 == 1, reason='x')\ndef test_a(): assert f()",
    "@pytest.mark.skipif(sys.version_info >= (3, 0), reason='x')\ndef test_a(): assert f()",
    "@pytest.mark.skipif(sys.platform != 'nowhere', reason='x')\ndef test_a(): assert f()",
    "@pytest.mark.skipif(condition=not False, reason='x')\ndef test_a(): assert f()",
    "@unittest.skipUnless(False, 'x')\ndef test_a(): assert f()",
    "@unittest.skipIf(os.name in ('posix', 'nt'), 'x')\ndef test_a(): assert f()",
    "broken = pytest.mark.skip(reason='x')\n@broken\ndef test_a(): assert f()",
    "pytestmark = pytest.mark.skip\ndef test_a(): assert f()",
    "pytestmark = [pytest.mark.slow, pytest.mark.skip(reason='x')]\ndef test_a(): assert f()",
    "__test__ = False\ndef test_a(): assert f()",
    "pytest.skip('x', allow_module_level=True)\ndef test_a(): assert f()",
    "raise unittest.SkipTest('x')\ndef test_a(): assert f()",
    "def setup_module(): pytest.skip('x')\ndef test_a(): assert f()",
    "@pytest.fixture(autouse=True)\ndef off(): pytest.skip('x')\ndef test_a(): assert f()",
    "@unittest.skip('x')\nclass TestA(TestCase):\n    def test_a(self): assert f()",
    "class TestA:\n    pytestmark = pytest.mark.skip\n    def test_a(self): assert f()",
    "class TestA:\n    __test__ = False\n    def test_a(self): assert f()",
    "class TestA(TestCase):\n    def setUp(self): self.skipTest('x')\n    def test_a(self): assert f()",
    "class TestA:\n    def __init__(self): ...\n    def test_a(self): assert f()",
    "@pytest.mark.skip\nclass TestA:\n    class TestB:\n        def test_a(self): assert f()",
    "def test_a():\n    pytest.skip('x')\n    assert f()",
    "def test_a():\n    '''Says.'''\n    x = 1\n    raise SkipTest('x')\n    assert f()",
    "def test_a(self):\n    self.skipTest('x')\n    assert f()",
    "def test_a():\n    if True:\n        pytest.skip('x')\n    assert f()",
    "def test_a():\n    with x:\n        pytest.skip('x')\n    assert f()",
    "def test_a():\n    if x:\n        pytest.skip('x')\n    else:\n        pytest.skip('y')\n    assert f()",
    "def test_a():\n    pytest.xfail('x')\n    assert f()",
    "@pytest.mark.parametrize('x', [])\ndef test_a(x): assert f()",
    "@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.skip)])\ndef test_a(x): assert f()",
    "if False:\n    def test_a(): assert f()",
    "if True:\n    pass\nelse:\n    def test_a(): assert f()",
    "def test_a(): assert f()\ndel test_a",
    "def test_a(): assert f()\ntest_a = None",
    "def test_a(): assert f()\ntest_a.__test__ = False",
    "def test_a(): assert f()\ntest_a = unittest.skip('x')(test_a)",
    "class TestA:\n    def test_a(self): assert f()\ndel TestA.test_a",
    "class TestA:\n    def test_a(self): assert f()\ndelattr(TestA, 'test_a')",
    "class TestA:\n    def test_a(self): assert f()\nTestA.__test__ = False",
    "class TestA:\n    def test_a(self): assert f()\n    test_a = None",
]
SOMETIMES = [
    "@pytest.mark.skipif(sys.platform == 'win32', reason='x')\ndef test_a(): assert f()",
    "@pytest.mark.skipif(sys.version_info < (3, 12), reason='x')\ndef test_a(): assert f()",
    "@unittest.skipUnless(shutil.which('git'), 'x')\ndef test_a(): assert f()",
    "@pytest.mark.xfail(sys.platform == 'win32', reason='x')\ndef test_a(): assert f()",
    "@requires_network\ndef test_a(): assert f()",
    "@skip_on_windows\ndef test_a(): assert f()",
    "windows = pytest.mark.skipif(os.name == 'nt', reason='x')\n@windows\ndef test_a(): assert f()",
    "yaml = pytest.importorskip('yaml')\ndef test_a(): assert f()",
    "def test_a():\n    yaml = pytest.importorskip('yaml')\n    assert f()",
    "def test_a():\n    if not hasattr(os, 'fork'):\n        pytest.skip('x')\n    assert f()",
    "def test_a():\n    try:\n        import yaml\n    except ImportError:\n        pytest.skip('x')\n    assert f()",
    "try:\n    import yaml\nexcept ImportError:\n    pytest.skip('x', allow_module_level=1)\ndef test_a(): assert f()",
    "class TestA(TestCase):\n    def setUp(self):\n        if x: self.skipTest('x')\n    def test_a(self): assert f()",
    "if sys.platform == 'linux':\n    def test_a(): assert f()",
    "if os.name == 'nt':\n    pass\nelse:\n    def test_a(): assert f()",
]
ALWAYS = [
    "def test_a(): assert f()",
    "@pytest.mark.slow\ndef test_a(): assert f()",
    "@pytest.mark.skipif(False, reason='x')\ndef test_a(): assert f()",
    "@unittest.skipIf(sys.version_info < (3,), 'x')\ndef test_a(): assert f()",
    "@pytest.mark.parametrize('x', [1])\ndef test_a(x): assert f()",
    "COMBINATIONS = []\nCOMBINATIONS.append(1)\n@pytest.mark.parametrize('x', COMBINATIONS)\ndef test_a(x): assert f()",
    "def test_a():\n    if False:\n        pytest.skip('x')\n    assert f()",
    "def test_a():\n    assert f()\n    pytest.skip('too late')",
    "class TestA(TestCase):\n    def setUp(self): self.x = 1\n    def test_a(self): assert f()",
    "class TestA(TestCase):\n    def __init__(self, name): super().__init__(name)\n    def test_a(self): assert f()",
    "class TestB:\n    pytestmark = pytest.mark.skip\nclass TestA:\n    def test_a(self): assert f()",
    "@pytest.fixture\ndef off(): pytest.skip('x')\ndef test_a(): assert f()",
    "def test_a(): assert f()\ntest_b = None",
    "if True:\n    def test_a(): assert f()",
    "def test_a():\n    skip = compute()\n    assert f()",
]


@pytest.mark.parametrize("text", NEVER)
def test_a_test_that_is_never_run_is_known(text: str) -> None:
    test = found(text)
    assert test.running is Running.NEVER
    assert test.reason


@pytest.mark.parametrize("text", SOMETIMES)
def test_a_condition_is_given_as_the_reason(text: str) -> None:
    test = found(text)
    assert test.running is Running.SOMETIMES
    assert test.reason


@pytest.mark.parametrize("text", ALWAYS)
def test_what_does_not_keep_a_test_from_running_is_no_skip(text: str) -> None:
    assert found(text).running is Running.ALWAYS


def test_the_reason_has_the_condition_and_the_words() -> None:
    text = "@pytest.mark.skipif(sys.platform == 'win32', reason='no fork')\ndef test_a(): assert f()"
    assert found(text).reason == "sys.platform == 'win32': no fork"


def test_a_focused_test_keeps_the_others_from_running() -> None:
    text = "@pytest.mark.only\ndef test_a(): assert f()\ndef test_b(): assert f()\n"
    assert found(text, "test_a").running is Running.ALWAYS
    assert found(text, "test_b").running is Running.NEVER


def cases(text: str) -> tuple[str, ...]:
    return found(text).cases


def test_cases_are_listed_as_written_however_they_are_wrapped() -> None:
    assert cases("@pytest.mark.parametrize('a, b', [(1, 2), (3,\n  4)])\ndef test_a(a, b): assert f()") == (
        "(1, 2)",
        "(3, 4)",
    )
    wrapped = "@pytest.mark.parametrize(\n  'a',\n  [\n    (\n      1,\n      2,\n    ),\n  ],\n)\ndef test_a(a): ..."
    assert cases(wrapped) == ("(1, 2)",)


def test_cases_come_from_decorators_classes_tables_and_loops() -> None:
    assert cases("ROWS = [1, 2]\n@pytest.mark.parametrize('a', ROWS)\ndef test_a(a): assert f()") == ("1", "2")
    assert cases("@pytest.mark.parametrize('a', argvalues=[1])\nclass TestA:\n    def test_a(self, a): assert f()") == (
        "1",
    )
    assert cases("pytestmark = pytest.mark.parametrize('a', [7])\ndef test_a(a): assert f()") == ("7",)
    assert cases("@pytest.mark.parametrize('a', load())\ndef test_a(a): assert f()") == ("load()",)
    assert cases("@parameterized.expand([('x', 1), ('y', 2)])\ndef test_a(self, a): assert f()") == (
        "('x', 1)",
        "('y', 2)",
    )
    assert cases("@ddt.data(1, 2)\ndef test_a(self, a): assert f()") == ("1", "2")
    assert cases("@given(st.text())\n@example('x')\ndef test_a(s): assert f(s)") == ("example('x')",)
    assert cases("def test_a():\n    for a, b in [(1, 2), (3, 4)]:\n        assert f(a) == b") == ("(1, 2)", "(3, 4)")
    assert cases("def test_a():\n    rows = {'x': 1}\n    for a, b in rows.items():\n        assert f(a) == b") == (
        "'x': 1",
    )
    assert cases("def test_a(self):\n    with self.subTest('empty'):\n        self.assertTrue(f())") == ("'empty'",)
    assert cases("def test_a():\n    for x in load():\n        assert f(x)") == ()


def test_a_case_that_is_skipped_is_no_case() -> None:
    text = "@pytest.mark.parametrize('a', [1, pytest.param(2, marks=pytest.mark.xfail)])\ndef test_a(a): assert f()"
    assert cases(text) == ("1",)
    text = (
        "@pytest.mark.parametrize('a', [pytest.param(2, marks=pytest.mark.skipif(x, reason='y'))])\ndef test_a(a): ..."
    )
    assert len(cases(text)) == 1


MOCKS = {
    "@patch('shop.cart.load')\ndef test_a(load): assert f()": ("shop.cart.load",),
    "@mock.patch.object(Cart, 'total')\ndef test_a(total): assert f()": ("Cart.total",),
    "@patch('shop.x')\nclass TestA:\n    def test_a(self, x): assert f()": ("shop.x",),
    "def test_a():\n    with patch('shop.cart.load') as load:\n        assert f()": ("shop.cart.load",),
    "def test_a(mocker):\n    mocker.patch('shop.cart.load')\n    assert f()": ("shop.cart.load",),
    "def test_a(mocker):\n    mocker.patch.object(cart, 'load')\n    assert f()": ("cart.load",),
    "def test_a(monkeypatch):\n    monkeypatch.setattr('shop.load', g)\n    assert f()": ("shop.load",),
    "def test_a(monkeypatch):\n    monkeypatch.setattr(shop, 'load', g)\n    assert f()": ("shop.load",),
    "def test_a():\n    shop.load = MagicMock()\n    assert f()": ("shop.load",),
    "@patch.dict('os.environ', {'A': '1'})\ndef test_a(): assert f()": ("os.environ",),
    "@patch.multiple('shop', load=DEFAULT)\ndef test_a(load): assert f()": ("shop.load",),
    "def test_a(client):\n    client.patch('/items/1')\n    load = Mock()\n    assert f()": (),
    "def test_a(monkeypatch):\n    monkeypatch.setenv('A', '1')\n    assert f()": (),
}


@pytest.mark.parametrize("text", MOCKS)
def test_what_is_replaced_is_named(text: str) -> None:
    assert found(text).mocks == MOCKS[text]


def test_retries_and_timeouts_are_read_from_decorators_and_marks() -> None:
    assert found("@pytest.mark.flaky(reruns=5)\ndef test_a(): assert f()").retries == 5
    assert found("@flaky(max_runs=3)\ndef test_a(): assert f()").retries == 3
    assert found("@flaky\ndef test_a(): assert f()").retries == 1
    assert found("@retry(stop=stop_after_attempt(4))\ndef test_a(): assert f()").retries == 4
    assert found("pytestmark = pytest.mark.flaky(reruns=2)\ndef test_a(): assert f()").retries == 2
    assert found("@pytest.mark.slow\ndef test_a(): assert f()").retries is None
    assert found("@pytest.mark.timeout(10)\ndef test_a(): assert f()").timeout == 10.0
    assert found("@pytest.mark.timeout(timeout=0.5)\ndef test_a(): assert f()").timeout == 0.5
    assert found("@pytest.mark.timeout(LIMIT)\ndef test_a(): assert f()").timeout is None
    assert found("def test_a(): assert f()").timeout is None

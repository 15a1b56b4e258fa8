"""Assertions of a Python test that can not fail, and ways out of it before they are reached."""

import textwrap

import pytest

from untilproven.guard.facts import Test as Inside
from untilproven.guard.languages import python
from untilproven.guard.reading import read


def found(body: str, head: str = "def test_a(self):") -> Inside:
    text = f"{head}\n{textwrap.indent(textwrap.dedent(body), '    ')}\n"
    (declaration,) = [one for one in read("tests/test_a.py", text.encode()).declarations if one.is_test]
    return python.test(declaration)


UNREACHED = [
    "return\nassert f() == 1",
    "raise ValueError\nassert f() == 1",
    "sys.exit(0)\nassert f() == 1",
    "if True:\n    return\nassert f() == 1",
    "with x:\n    return\nassert f() == 1",
    "if x:\n    return\nelse:\n    return\nassert f() == 1",
    "if False:\n    assert f() == 1",
    "if 0:\n    assert f() == 1",
    "if TYPE_CHECKING:\n    assert f() == 1",
    "while False:\n    assert f() == 1",
    "if True:\n    g()\nelse:\n    assert f() == 1",
    "done = True\nif not done:\n    assert f() == 1",
    "for x in []:\n    assert f(x) == 1",
    "for x in range(0):\n    assert f(x) == 1",
    "for x in y:\n    continue\n    assert f(x) == 1",
    "try:\n    assert f() == 1\nexcept AssertionError:\n    pass",
    "try:\n    assert f() == 1\nexcept Exception:\n    pass",
    "try:\n    assert f() == 1\nexcept:\n    print('no')",
    "try:\n    assert f() == 1\nexcept (ValueError, AssertionError) as e:\n    logger.warning(e)",
    "try:\n    assert f() == 1\nexcept Exception:\n    return",
    "try:\n    assert f() == 1\nexcept Exception:\n    pytest.skip('flaky')",
    "try:\n    assert f() == 1\nfinally:\n    return",
    "for x in y:\n    try:\n        assert f(x) == 1\n    except AssertionError:\n        continue",
    "with suppress(AssertionError):\n    assert f() == 1",
    "with contextlib.suppress(Exception):\n    self.assertEqual(f(), 1)",
    "def check():\n    assert f() == 1",
    "async def check():\n    assert f() == 1\ncheck()",
    "assert f() == 1\nyield",
]
REACHED = [
    "if x:\n    return\nassert f() == 1",
    "if x:\n    assert f() == 1",
    "for x in y:\n    assert f(x) == 1",
    "for x in range(3):\n    assert f(x) == 1",
    "while True:\n    assert f() == 1\n    break",
    "try:\n    assert f() == 1\nexcept ValueError:\n    pass",
    "try:\n    assert f() == 1\nexcept AssertionError:\n    raise",
    "try:\n    assert f() == 1\nexcept AssertionError as e:\n    errors.append(e)",
    "try:\n    assert f() == 1\nexcept Exception:\n    ok = False",
    "try:\n    g()\nexcept Exception:\n    pass\nelse:\n    assert f() == 1",
    "try:\n    g()\nfinally:\n    assert f() == 1",
    "while True:\n    try:\n        assert f() == 1\n        break\n    except AssertionError:\n        continue",
    "with suppress(KeyError):\n    assert f() == 1",
    "def check():\n    assert f() == 1\ncheck()",
    "def check():\n    assert f() == 1\nrun(check)",
    "@app.route('/')\ndef check():\n    assert f() == 1",
    "async def check():\n    assert f() == 1\nasyncio.run(check())",
    "class Handler:\n    def get(self):\n        assert f() == 1\nrun(Handler)",
    "with x:\n    assert f() == 1",
    "match x:\n    case 1:\n        assert f() == 1",
    "run(lambda: self.assertEqual(f(), 1))",
]


@pytest.mark.parametrize("body", UNREACHED)
def test_an_assertion_that_can_not_fail_is_counted_and_not_listed(body: str) -> None:
    test = found(body)
    assert test.assertions == ()
    assert test.unreached == 1


@pytest.mark.parametrize("body", REACHED)
def test_an_assertion_that_can_fail_is_listed(body: str) -> None:
    test = found(body)
    assert [one.strength for one in test.assertions] == [3]
    assert test.unreached == 0


def test_what_must_fail_is_neither() -> None:
    test = found("with pytest.raises(AssertionError):\n    assert f() == 1")
    assert [one.error for one in test.assertions] == ["AssertionError"]
    assert test.unreached == 0


def test_a_decorator_may_run_a_generator() -> None:
    assert found("x = yield g()\nassert f() == 1", "@gen_test\ndef test_a(self):").unreached == 0


LEAVES = {
    "return\nassert f() == 1": "return",
    "assert g()\nreturn None\nassert f() == 1": "return None",
    "if True:\n    return\nassert f() == 1": "return",
    "assert g()\npytest.skip('x')\nassert f() == 1": "pytest.skip('x')",
    "if not ready:\n    return\nassert f() == 1": "if not ready: return",
    "sys.exit(0)\nassert f() == 1": "sys.exit(0)",
    "assert f() == 1\nos._exit(0)": "os._exit(0)",
    "if x:\n    sys.exit()\nassert f() == 1": "sys.exit()",
    "raise SystemExit(0)": "raise SystemExit(0)",
}
STAYS = [
    "assert f() == 1",
    "assert f() == 1\nreturn",
    "with pytest.raises(SystemExit):\n    sys.exit(2)",
    "if os.fork() == 0:\n    os._exit(0)\nassert f() == 1",
    "def main():\n    sys.exit(1)\nassert run(main) == 1",
    "if x:\n    assert f() == 1\n    return\nassert f() == 2",
    "for x in y:\n    if x:\n        continue\n    assert f(x) == 1",
]


@pytest.mark.parametrize("body", LEAVES)
def test_the_way_out_is_named(body: str) -> None:
    assert found(body).leaves == LEAVES[body]


@pytest.mark.parametrize("body", STAYS)
def test_what_is_no_way_out_is_not_named(body: str) -> None:
    assert found(body).leaves is None

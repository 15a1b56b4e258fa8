"""What is inside a Python function that is no test."""

import textwrap

import pytest

from untilproven.guard.facts import Function
from untilproven.guard.languages import python
from untilproven.guard.reading import read


def found(text: str) -> Function:
    (declaration,) = read("src/a.py", textwrap.dedent(text).encode()).declarations
    return python.function(declaration)


def inside(body: str, head: str = "def f(x, y=None):") -> Function:
    return found(f"{head}\n{textwrap.indent(textwrap.dedent(body), '    ')}\n")


GUARDS = {
    "if x < 0:\n    raise ValueError('x')\nreturn x": ("x < 0",),
    "if x < 0:\n    log(x)\n    raise ValueError('x')\nreturn x": ("x < 0",),
    "if a:\n    return 1\nelif b:\n    raise TypeError\n": ("b",),
    "assert isinstance(x, int)\nreturn x": ("isinstance(x, int)",),
    "validate_name(x)\nreturn x": ("validate_name(x)",),
    "self._check_open()\nreturn x": ("self._check_open()",),
    "y = sanitize(x)\nreturn y": ("sanitize(x)",),
    "if not user:\n    abort(403)\nreturn x": ("not user",),
    "if not user:\n    return jsonify(error='no'), 401\nreturn x": ("not user",),
    "if not user:\n    return HttpResponseForbidden()\nreturn x": ("not user",),
    "if x:\n    y = 1\n    raise ValueError\n": ("x",),
    "if x:\n    return 1\nreturn 2": (),
    "if x:\n    for y in x:\n        raise ValueError\n": (),
    "subprocess.check_call(x)": (),
    "return 1": (),
}


@pytest.mark.parametrize("body", GUARDS)
def test_conditions_under_which_it_refuses(body: str) -> None:
    assert inside(body).guards == GUARDS[body]


def test_a_decorator_may_guard() -> None:
    assert inside("return 1", "@login_required\ndef f(x):").guards == ("@login_required",)
    assert inside("return 1", "@cached\ndef f(x):").guards == ()


def test_errors_that_it_raises_are_named() -> None:
    body = "if x:\n    raise ValueError('a')\nif y:\n    raise errors.Missing from None\n"
    assert inside(f"{body}try:\n    g()\nexcept E:\n    raise").raises == ("ValueError", "errors.Missing")
    assert inside("return 1").raises == ()


HANDLERS = {
    "except ValueError:\n    pass": ("ValueError", False, True),
    "except (ValueError, KeyError) as e:\n    return None": ("(ValueError, KeyError)", False, True),
    "except Exception:\n    pass": ("Exception", True, True),
    "except (ValueError, Exception):\n    ...": ("(ValueError, Exception)", True, True),
    "except:\n    return": ("", True, True),
    "except BaseException:\n    # it may\n    continue": ("BaseException", True, True),
    "except Exception:\n    log.exception('a')": ("Exception", True, False),
    "except Exception:\n    raise": ("Exception", True, False),
    "except Exception:\n    return False": ("Exception", True, False),
    "except KeyError:\n    y = 1": ("KeyError", False, False),
}


@pytest.mark.parametrize("clause", HANDLERS)
def test_handlers_are_broad_or_silent_or_neither(clause: str) -> None:
    (handler,) = inside(f"try:\n    g()\n{clause}").handlers
    assert (handler.errors, handler.is_broad, handler.is_silent) == HANDLERS[clause]
    assert handler.line == 4


def test_suppress_and_a_return_at_last_are_handlers_too() -> None:
    (handler,) = inside("with contextlib.suppress(ValueError, Exception):\n    g()").handlers
    assert (handler.errors, handler.is_broad, handler.is_silent) == ("ValueError, Exception", True, True)
    (handler,) = inside("try:\n    g()\nfinally:\n    return 1").handlers
    assert handler.is_broad
    assert handler.is_silent
    assert inside("try:\n    g()\nfinally:\n    h()").handlers == ()


STUBS = {
    "def total(x):\n    pass": "pass",
    "def total(x):\n    '''Adds up.'''\n    ...": "...",
    "def total(x):\n    '''Adds up.'''": "'''Adds up.'''",
    "def total(x):\n    raise NotImplementedError": "raise NotImplementedError",
    "def total(x):\n    raise NotImplementedError('soon')": "raise NotImplementedError('soon')",
    "def total(x):\n    raise RuntimeError('not implemented yet')": "raise RuntimeError('not implemented yet')",
    "def total(x):\n    # TODO: count\n    return 0": "return 0",
    "def total(x):\n    return []  # placeholder": "return []",
    "def total(x):\n    # TODO\n    pass": "pass",
    "def total(x):\n    print('not implemented')": "print('not implemented')",
    "class Cart:\n    def total(self):\n        pass": "pass",
}
NO_STUBS = [
    "def total(x):\n    return 0",
    "def total(x):\n    raise ValueError('no')",
    "def total(x):\n    y = 1",
    "def noop(x):\n    pass",
    "def on_close(self):\n    pass",
    "def total(x):\n    pass  # the base class counts",
    "@abstractmethod\ndef total(x):\n    raise NotImplementedError",
    "@click.group()\ndef cli():\n    '''Says.'''",
    "class Cart(Protocol):\n    def total(self): ...",
    "class Cart(ABC):\n    def total(self):\n        raise NotImplementedError",
    "class BaseCart:\n    def total(self):\n        raise NotImplementedError",
    "class NullCart(Cart):\n    def total(self):\n        pass",
    "class Cart:\n    def total(self):\n        raise NotImplementedError\nclass Small(Cart): ...",
    "class Cart:\n    def __enter__(self):\n        pass",
]


@pytest.mark.parametrize("text", STUBS)
def test_what_stands_in_place_of_a_body(text: str) -> None:
    assert found(text).stub == STUBS[text]


@pytest.mark.parametrize("text", NO_STUBS)
def test_a_body_that_is_empty_by_design_is_no_stub(text: str) -> None:
    assert found(text).stub is None


ANSWERS = {
    "if x == 5:\n    return 10\nreturn g(x)": ("5",),
    "if x == 1:\n    return 2\nelif x == 3:\n    return 4\nreturn g(x)": ("1", "3"),
    "if 'a' == x:\n    return [1, 2]\nreturn g(x)": ("'a'",),
    "if x in (1, 2):\n    return 3\nreturn g(x)": ("1", "2"),
    "if x == 1 and y == 2:\n    return 3\nreturn g(x)": ("x == 1 and y == 2",),
    "if (x, y) == (1, 2):\n    return 3\nreturn g(x)": ("(1, 2)",),
    "if x.lower() == 'a':\n    return 1\nreturn g(x)": ("'a'",),
    "return {1: 2, 3: 4}[x]": ("1", "3"),
    "return {1: 2}.get(x, g(x))": ("1",),
    "known = {1: 2, 3: 4}\nif x in known:\n    return known[x]\nreturn g(x)": ("1", "3"),
    "return 1 if x == 2 else 3 if x == 4 else g(x)": ("2", "4"),
    "match x:\n    case 1:\n        return 'a'\n    case 'b' | 'c':\n        return 2\n    case _:\n        return 3": (
        "1",
        "'b' | 'c'",
    ),
    "if x == 5:\n    return g(x)\nreturn 1": (),
    "if x > 5:\n    return 1\nreturn 2": (),
    "if x == LIMIT:\n    return 1\nreturn g(x)": (),
    "z = g(x)\nif z == 1:\n    return 2\nreturn z": (),
    "if x == 5:\n    return None\nreturn g(x)": (),
    "return {1: g, 2: h}[x]": (),
    "return {'a': x}": (),
}


@pytest.mark.parametrize("body", ANSWERS)
def test_inputs_with_a_ready_answer(body: str) -> None:
    assert inside(body).answers == ANSWERS[body]


TESTED = {
    "if 'pytest' in sys.modules:\n    return 1": ("'pytest' in sys.modules",),
    "if os.environ.get('PYTEST_CURRENT_TEST'):\n    return 1": ("os.environ.get('PYTEST_CURRENT_TEST')",),
    "if os.getenv('CI') == 'true':\n    return 1": ("os.getenv('CI') == 'true'",),
    "if os.environ['TESTING']:\n    return 1": ("os.environ['TESTING']",),
    "if 'CI' in os.environ:\n    return 1": ("'CI' in os.environ",),
    "if os.environ.get('APP_ENV') == 'test':\n    return 1": ("os.environ.get('APP_ENV') == 'test'",),
    "if 'pytest' in sys.argv[0]:\n    return 1": ("'pytest' in sys.argv[0]",),
    "if getattr(sys, '_called_from_test', False):\n    return 1": ("getattr(sys, '_called_from_test', False)",),
    "if is_testing():\n    return 1": ("is_testing",),
    "if settings.UNDER_TEST:\n    return 1": ("settings.UNDER_TEST",),
    "if any('test_' in frame.function for frame in inspect.stack()):\n    return 1": (
        "any('test_' in frame.function for frame in inspect.stack())",
    ),
    "os.environ['CI'] = '1'": (),
    "if os.environ.get('HOME'):\n    return 1": (),
    "if os.environ.get('APP_ENV') == 'production':\n    return 1": (),
    "if 'yaml' in sys.modules:\n    return 1": (),
    "if self.testing:\n    return 1": (),
    "frame = inspect.stack()[1]": (),
    "return latest(x)": (),
}


@pytest.mark.parametrize("body", TESTED)
def test_code_that_asks_whether_it_is_tested(body: str) -> None:
    assert inside(body).asks_if_tested == TESTED[body]


@pytest.mark.parametrize(
    ("body", "times"),
    [
        ("return None", 1),
        ("if x:\n    return []\nreturn {}", 2),
        ("if x:\n    return\nreturn g(x)", 1),
        ("if x:\n    return\ng(x)", 0),
        ("return ''", 1),
        ("return 0", 0),
        ("return False", 0),
        ("return g(x)", 0),
        ("def inner():\n    return None\nreturn inner", 0),
    ],
)
def test_how_often_it_returns_nothing(body: str, times: int) -> None:
    assert inside(body).returns_nothing == times


@pytest.mark.parametrize(
    ("text", "always"),
    [
        ("class A:\n    def __eq__(self, other):\n        return True", True),
        ("class A:\n    def __eq__(self, other):\n        return self is self or True", True),
        ("class A:\n    __eq__ = lambda self, other: True", True),
        ("def is_equal(a, b):\n    return 1 == 1", True),
        ("class A:\n    def __eq__(self, other):\n        return self.x == other.x", False),
        ("class A:\n    def __eq__(self, other):\n        if x:\n            return True\n        return False", False),
        ("class A:\n    __eq__ = lambda self, other: self.x == other.x", False),
        ("def is_ready(a):\n    return True", False),
    ],
)
def test_equality_that_says_yes_without_looking(text: str, always: bool) -> None:
    assert found(text).always_equal is always

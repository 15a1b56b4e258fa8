"""What a whole Python file says: to tools, to people, and to the test run."""

import textwrap

import pytest

from untilproven.guard.facts import Facts
from untilproven.guard.reading import read


def facts(text: str, path: str = "src/a.py") -> Facts:
    return read(path, textwrap.dedent(text).encode())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("import os  # noqa: F401", ("# noqa: F401",)),
        ("import os  # NOQA", ("# NOQA",)),
        ("x = 1  # type: ignore[assignment]  # why", ("# type: ignore[assignment]",)),
        ("x = 1  # pylint: disable=invalid-name", ("# pylint: disable=invalid-name",)),
        ("x = 1  # pragma: no cover", ("# pragma: no cover",)),
        ("x = 1  # nosec", ("# nosec",)),
        ("# mypy: ignore-errors", ("# mypy: ignore-errors",)),
        ("# ruff: noqa", ("# ruff: noqa",)),
        ("x = 1  # pyright: ignore[reportAny]", ("# pyright: ignore[reportAny]",)),
        ("@no_type_check\ndef f(): g()", ("@no_type_check",)),
        ("x = '# noqa'", ()),
        ("# the noqa of old", ()),
        ("x = 1  # type: int", ()),
    ],
)
def test_comments_that_silence_a_tool(text: str, found: tuple[str, ...]) -> None:
    assert facts(text).suppressions == found


def test_notes_of_what_is_left_to_do() -> None:
    text = "# TODO: more\nx = 1  # FIXME\n# todos of others\ny = 'TODO'\n# XXX  why\n"
    assert facts(text).todos == ("# TODO: more", "# FIXME", "# XXX why")


CODE = {
    "# assert x == 1": (1, False),
    "# self.assertEqual(x, 1)": (1, False),
    "# x = compute(1)": (1, False),
    "# import os": (1, False),
    "# def test_a():\n#     assert f() == 1": (2, True),
    "# @pytest.mark.slow\n# def test_a():\n#     pass": (3, True),
    "# class TestA:\n#     def test_a(self):\n#         pass": (3, True),
    "# def test_a():": (1, True),
    "# if x:\n#     f(x)": (2, False),
    "#assert x == 1\n#assert y == 2": (2, False),
    "# x = 1\n# y = f(x)\n# return y": (3, False),
}
PROSE = [
    "# see above",
    "# note: something",
    "# return value",
    "# raise ValueError",
    "# if this happens: give up",
    "# for each of them, assert nothing",
    "# import is slow here",
    "# x = y",
    "# isinstance(args[0], Request)",
    "# like f(x) does",
    "#!/usr/bin/python",
    "# -*- coding: utf-8 -*-",
    "# -----",
    "# type: ignore",
    "# pass",
    "# a, b",
    "# from here on\n# import order matters",
    "# with care",
    "# assert that it is so",
    "# class Foo is for bar",
]


@pytest.mark.parametrize("text", CODE)
def test_code_in_comments(text: str) -> None:
    (one,) = facts(f"x = 1\n{text}\ny = 1\n").commented
    assert (one.lines, one.is_test) == CODE[text]
    assert one.line == 2


@pytest.mark.parametrize("text", PROSE)
def test_prose_is_no_code(text: str) -> None:
    assert facts(f"{text}\ny = 1\n").commented == ()


def test_prose_before_code_is_left_out() -> None:
    (one,) = facts("# Off for now, because it is slow:\n# def test_a():\n#     assert f() == 1\n").commented
    assert (one.line, one.lines, one.text) == (2, 2, "def test_a():\n    assert f() == 1")


def test_a_text_that_nothing_reads_may_hide_a_test() -> None:
    hidden = 'x = 1\n"""\ndef test_a():\n    assert f() == 1\n"""\n'
    assert [one.is_test for one in facts(hidden).commented] == [True]
    assert facts('"""\ndef test_a():\n    assert f() == 1\n"""\nx = 1\n').commented == ()
    assert facts('x = 1\n"""What it is. We assert nothing."""\n').commented == ()


HOOKS = {
    "def pytest_collection_modifyitems(items):\n    items[:] = []": ("pytest_collection_modifyitems: items[:] = []",),
    "def pytest_collection_modifyitems(items):\n    items.clear()": ("pytest_collection_modifyitems: items.clear()",),
    "def pytest_collection_modifyitems(items):\n    for i in items:\n        i.add_marker(pytest.mark.skip)": (
        "pytest_collection_modifyitems: i.add_marker(pytest.mark.skip)",
    ),
    "def pytest_collection_modifyitems(items):\n    drop(items)": ("pytest_collection_modifyitems: drop(items)",),
    "@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item, call):\n    r.outcome = 'passed'": (
        "pytest_runtest_makereport: r.outcome = 'passed'",
    ),
    "def pytest_sessionfinish(session):\n    session.exitstatus = 0": ("pytest_sessionfinish: session.exitstatus = 0",),
    "def pytest_ignore_collect(path): return True": ("pytest_ignore_collect",),
    "def pytest_pyfunc_call(pyfuncitem): return True": ("pytest_pyfunc_call",),
    "def load_tests(loader, tests, pattern): return suite": ("load_tests",),
    "collect_ignore = ['test_a.py']": ("collect_ignore = ['test_a.py']",),
    "collect_ignore_glob += ['x']": ("collect_ignore_glob += ['x']",),
    "collect_ignore.append('x')": ("collect_ignore.append('x')",),
    "unittest.TestCase.assertEqual = lambda *a: None": ("unittest.TestCase.assertEqual = lambda *a: None",),
    "setattr(unittest.TestCase, 'assertEqual', f)": ("setattr(unittest.TestCase, 'assertEqual', f)",),
    "pytest.raises = f": ("pytest.raises = f",),
    "builtins.AssertionError = Warning": ("builtins.AssertionError = Warning",),
    "sys.settrace(f)": ("sys.settrace(f)",),
    "os.environ['PYTEST_ADDOPTS'] = '-k x'": ("os.environ['PYTEST_ADDOPTS'] = '-k x'",),
    "sys.modules['pytest'] = fake": ("sys.modules['pytest'] = fake",),
    "class AssertionError(Exception): ...": ("class AssertionError",),
    "@pytest.fixture(autouse=True)\ndef off(): pytest.skip('slow')": ("off: slow",),
}
NO_HOOKS = [
    "def pytest_collection_modifyitems(items):\n    for i in items:\n        i.add_marker(pytest.mark.asyncio)",
    "def pytest_collection_modifyitems(items):\n    items.sort(key=f)",
    "def pytest_runtest_makereport(item, call):\n    item.report = outcome.get_result()",
    "def pytest_sessionfinish(session):\n    cleanup()",
    "def pytest_addoption(parser):\n    parser.addoption('--slow')",
    "def pytest_configure(config):\n    config.addinivalue_line('markers', 'slow')",
    "@pytest.fixture(autouse=True)\ndef clean(): reset()",
    "sys.settrace(None)",
    "os.environ['HOME'] = '/x'",
    "cart.assertEqual = f",
    "x = 1",
]


@pytest.mark.parametrize("text", HOOKS)
def test_what_takes_hold_of_a_test_run(text: str) -> None:
    assert facts(text, "tests/conftest.py").hooks == HOOKS[text]


@pytest.mark.parametrize("text", NO_HOOKS)
def test_what_leaves_verdicts_alone_is_no_hook(text: str) -> None:
    assert facts(text, "tests/conftest.py").hooks == ()


@pytest.mark.parametrize(
    ("text", "path", "found"),
    [
        ("import os\nos._exit(0)", "src/a.py", ("os._exit(0)",)),
        ("raise SystemExit(0)", "tests/test_a.py", ("raise SystemExit(0)",)),
        ("if x:\n    sys.exit()", "src/a.py", ("sys.exit()",)),
        ("atexit.register(os._exit, 0)", "conftest.py", ("atexit.register(os._exit, 0)",)),
        ("def pytest_sessionfinish(s):\n    os._exit(0)", "conftest.py", ("os._exit(0)",)),
        ("def f():\n    sys.exit(1)", "conftest.py", ()),
        ("def f():\n    os._exit(0)", "src/a.py", ()),
        ("if __name__ == '__main__':\n    sys.exit(main())", "src/a.py", ()),
        ("x = exit_code(0)", "src/a.py", ()),
    ],
)
def test_statements_that_end_the_process(text: str, path: str, found: tuple[str, ...]) -> None:
    assert facts(text, path).exits == found


def test_flags_are_names_set_at_the_top() -> None:
    text = "DEBUG = True\nSTRICT: bool = False\nx = 1\ndef f():\n    y = True\nclass A:\n    z = True\n"
    assert facts(text).flags == (("DEBUG", True), ("STRICT", False))


def test_a_file_may_ask_whether_it_is_tested() -> None:
    text = "TESTED = 'pytest' in sys.modules\ndef f():\n    return 'unittest' in sys.modules\n"
    assert facts(text).asks_if_tested == ("'pytest' in sys.modules",)
    assert facts("import sys\nx = sys.modules[__name__]\n").asks_if_tested == ()

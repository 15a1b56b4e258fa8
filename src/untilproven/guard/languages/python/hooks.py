"""What takes hold of a test run when a file is loaded."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from ast_grep_py import Rule, SgNode

from untilproven.guard.kinds import kind_of
from untilproven.guard.languages.python.nodes import (
    assigned,
    body_of,
    call_of,
    definition,
    dotted,
    expression,
    last_name,
    name_of,
    of_kinds,
    parts,
    statements,
    string_in,
    written,
)
from untilproven.guard.languages.python.skipping import RUNS, fate_of_setup

_ALWAYS = frozenset(
    {"pytest_ignore_collect", "pytest_pycollect_makeitem", "pytest_pyfunc_call", "pytest_runtest_protocol"}
    | {"pytest_runtestloop", "pytest_runtest_call", "pytest_collection", "pytest_report_teststatus", "load_tests"}
    | {
        "pytest_cmdline_main",
        "pytest_pycollect_makemodule",
        "pytest_collect_directory",
        "pytest_load_initial_conftests",
    }
)
"""Whoever writes one of these decides what is run, or what its verdict is."""

_ACTS = {
    "pytest_collection_modifyitems": re.compile(
        r"^(?:items\s*\[|items\.(?:clear|remove|pop)\b|del\s+items|items\s*=(?!=))|deselected|mark\.(?:skip|xfail)|\.(?:skip|xfail)\("
    ),
    "pytest_itemcollected": re.compile(r"mark\.(?:skip|xfail)|\.(?:obj|runtest)\s*=(?!=)"),
    "pytest_runtest_makereport": re.compile(
        r"\.(?:outcome|wasxfail|longrepr|passed|failed|skipped)\s*=(?!=)|force_result|\.excinfo\s*=(?!=)"
    ),
    "pytest_runtest_logreport": re.compile(r"\.(?:outcome|wasxfail|longrepr|passed|failed)\s*=(?!=)"),
    "pytest_sessionfinish": re.compile(r"exitstatus\s*=(?!=)|testsfailed\s*=(?!=)|_exit\(|sys\.exit\("),
    "pytest_unconfigure": re.compile(r"exitstatus\s*=(?!=)|_exit\(|sys\.exit\("),
    "pytest_terminal_summary": re.compile(r"exitstatus\s*=(?!=)|_exit\(|\.stats\b.*(?:=|pop|clear)"),
    "pytest_runtest_setup": re.compile(r"\.(?:skip|xfail)\("),
    "pytest_generate_tests": re.compile(r"\.(?:skip|xfail)\("),
    "pytest_configure": re.compile(
        r"(?:option|args|known_args_namespace)\.\w+\s*=(?!=)|inicfg(?:\s*\[[^\]]*\])?\s*(?:\|=|=(?!=))"
        r"|inicfg\.(?:update|setdefault|pop|clear|__setitem__|__delitem__)\b|del\s[^\n]*\binicfg|\binicfg$"
        r"|addinivalue_line\(\s*.filterwarnings"
    ),
}
"""Hooks with honest uses, and what would be none."""

_SAYS = re.compile(r"(?:gc\.(?:disable|enable|collect|freeze)|print|(?:logging|log|logger|LOG)\.\w+)\(|pass$")
_CONDITION = re.compile(
    r"sys\.(?:version_info|platform|implementation)|\bplatform\.\w+|\bos\.name\b|\b(?:IS_)?(?:PYPY|PY[23]\d*|WINDOWS)\b"
    r"|\bfind_spec\(|\bhasattr\((?:os|sys|socket|signal|select|fcntl|time|threading),|\b(?i:has|have)_\w+|\bget(?:option|value|ini)\(|\bconfig\.option\.\w+(?!\s*=)"
)
"""What some machines have and others do not, or an option of the run."""

_GLOBAL = frozenset({"collect_ignore", "collect_ignore_glob"})
_OWN = (
    r"_|n?gettext|input|raw_input|open|print|exit|quit|__import__|breakpoint|reload|profile|unicode|unichr|long|xrange"
    r"|basestring|cmp"
)
"""What programs add to the language or replace in it, and no assertion is made of."""
_OF_RUNNERS = re.compile(
    r"(?:unittest\.)?(?:case\.)?TestCase\.\w+|unittest\.(?:TestCase|main|TextTestRunner|TestResult\.\w+)|pytest\.(?:raises|fail|skip|approx|warns|main)"
    rf"|_pytest\.[\w.]+|(?:builtins|__builtins__)\.(?!(?:{_OWN})$)\w+|(?:np|numpy|pd|pandas)\.testing\.\w+|sys\.(?:excepthook|exit)|os\._exit"
    r"|(?:Magic|Async)?Mock\.assert\w*|(?:unittest\.)?mock\.\w*Mock\.assert\w*|unittest\.(?:result\.)?TestResult\.\w+"
)
_TRACERS = frozenset({"sys.settrace", "sys.setprofile", "threading.settrace", "sys.addaudithook"})
_OF_PROGRAMS = ("sys.excepthook", "sys.addaudithook")
"""What programs set for themselves: it changes no verdict unless tests do it."""
_OPTIONS = frozenset({"PYTEST_ADDOPTS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTEST_PLUGINS", "PYTHONOPTIMIZE"})
_RUNNER_MODULES = frozenset(
    {"pytest", "_pytest", "unittest", "pytest.raises", "unittest.mock", "hypothesis", "numpy.testing"}
)
_HINTS = (
    *(
        "TestCase.",
        "TestResult",
        "builtins",
        "settrace",
        "setprofile",
        "addaudithook",
        "setattr(",
        "Mock.assert",
        ".testing.",
    ),
    *("excepthook", "_pytest.", "os.environ[", "sys.modules["),
    *(f"{name}{sign}" for name in ("pytest.raises", "pytest.fail", "pytest.skip") for sign in ("=", " =")),
    *(f"{name}{sign}" for name in ("pytest.approx", "pytest.warns", "pytest.main") for sign in ("=", " =")),
    *(
        f"{name}{sign}"
        for name in ("sys.exit", "os._exit", "unittest.main", "unittest.TestCase")
        for sign in ("=", " =")
    ),
)
_PATCHING: list[Rule] = [
    {"kind": "assignment"},
    {"kind": "call", "regex": r"^(?:setattr|sys\.settrace|sys\.setprofile|threading\.settrace|sys\.addaudithook)\("},
]
_LONGEST = 400
_SHADOWED = frozenset({"AssertionError", "__debug__"})
_NAMED = _GLOBAL | _SHADOWED


def hooks(root: SgNode, path: str) -> Iterator[str]:
    text, is_program = root.text(), kind_of(path) == "source"
    names_any = any(name in text for name in _NAMED)
    for statement, around in _outermost(root) if names_any or "def" in text else ():
        inner = definition(statement)
        match inner.kind():
            case "function_definition":
                for hook in _of_function(statement, is_shared=PurePosixPath(path).name == "conftest.py"):
                    yield hook + _asked(around + statement.text())
            case "class_definition" if name_of(inner) in _SHADOWED:
                yield f"class {name_of(inner)}"
            case "expression_statement" if names_any:
                for hook in _of_name(statement):
                    yield hook + _asked(around + hook)
    yield from (patch for patch in _patches(root) if not (is_program and patch.startswith(_OF_PROGRAMS)))


def _outermost(root: SgNode) -> Iterator[tuple[SgNode, str]]:
    """Statements of a file, those under a condition among them, with what it asks."""
    for statement in statements(root):
        yield statement, ""
        if statement.kind() == "if_statement":
            condition = statement.field("condition")
            for block in statement.find_all(kind="block"):
                if block.parent() == statement or ((above := block.parent()) and above.parent() == statement):
                    yield from ((inner, f"{written(condition)}: " if condition else "") for inner in parts(block))


def _asked(text: str) -> str:
    found = _CONDITION.search(text)
    return f" [if {found[0]}]" if found else ""


def _of_function(function: SgNode, *, is_shared: bool) -> Iterator[str]:
    name = name_of(function)
    if name in _ALWAYS and not _is_given_nothing(function):
        yield name
    elif name in _ACTS:
        for act in _acts(function, _ACTS[name]):
            yield f"{name}: {act}"
    elif is_shared and fate_of_setup(function) is not RUNS:
        yield f"{name}: {fate_of_setup(function).reason}"
    if name in {"pytest_runtest_call", "pytest_collection_modifyitems"}:
        items = [one for one in body_of(function) if call_of(expression(one))]
        for one in items:
            call = call_of(expression(one))
            if (
                call
                and call.function.kind() == "identifier"
                and any(last_name(arg) == "items" for arg in call.positional)
            ):
                yield f"{name}: {written(one)}"


def _is_given_nothing(function: SgNode) -> bool:
    """And it only tells the collector of garbage what to do, or says something: the run goes on as it would."""
    inner, given = definition(function), definition(function).field("parameters")
    if inner != function or given is None or parts(given):
        return False
    said = [written(one) for one in body_of(function) if not written(one).startswith(('"', "'"))]
    return bool(said) and all(_SAYS.match(text) for text in said)


def _acts(function: SgNode, pattern: re.Pattern[str]) -> Iterator[str]:
    for statement in of_kinds(function, "expression_statement", "delete_statement"):
        inside = expression(statement)
        text = "" if inside and inside.kind() == "string" else written(statement)
        if pattern.search(text[:_LONGEST]):
            yield text


def _of_name(statement: SgNode) -> Iterator[str]:
    for target, given in assigned(statement):
        is_empty = given.kind() in {"list", "tuple"} and not parts(given)
        if target.kind() == "identifier" and target.text() in _NAMED and not is_empty:
            yield written(statement)
    inside = parts(statement)[0] if parts(statement) else None
    if inside and inside.kind() == "augmented_assignment" and last_name(inside.field("left")) in _GLOBAL:
        yield written(statement)
    call = call_of(expression(statement))
    if call and call.receiver and last_name(call.receiver) in _GLOBAL:
        yield written(statement)


def _patches(root: SgNode) -> Iterator[str]:
    """What tests are judged with, replaced."""
    text = root.text()
    if not any(hint in text for hint in _HINTS):
        return
    for node in root.find_all(any=_PATCHING):
        if node.kind() == "assignment":
            target = node.field("left")
            if (
                target
                and target.kind() != "identifier"
                and (_OF_RUNNERS.fullmatch(dotted(target)) or _is_option(target))
            ):
                yield written(node)
            continue
        call = call_of(node)
        if call is None:
            continue
        if call.path in _TRACERS and not (call.positional and call.positional[0].kind() == "none"):
            yield written(node)
        elif call.path == "setattr" and len(call.positional) > 1:
            owner, name = call.positional[:2]
            if _OF_RUNNERS.fullmatch(f"{dotted(owner)}.{string_in(name) or 'x'}"):
                yield written(node)


def _is_option(target: SgNode) -> bool:
    if target.kind() != "subscript":
        return False
    table, key = dotted(target.field("value")), string_in(target.field("subscript"))
    return (table == "os.environ" and key in _OPTIONS) or (table == "sys.modules" and key in _RUNNER_MODULES)

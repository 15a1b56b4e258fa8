"""Code that asks whether it is being tested."""

import re
from collections.abc import Iterator

from ast_grep_py import Rule, SgNode

from untilproven.guard.languages.java.syntax import call_of, code_in, flat, operation

_ENVIRONMENT = re.compile(
    r'"(?:CI|GITHUB_ACTIONS|TRAVIS|GITLAB_CI|CIRCLECI|JENKINS_URL|BUILDKITE|.*surefire.*|.*junit.*|.*testng.*'
    r'|(?:is|in|run|running|unit)?[._-]?test(?:s|ing)?(?:[._-]?(?:mode|env|environment|run|running))?|under[._-]?test|env[._-]test)"',
    re.IGNORECASE,
)
_RUNNER = re.compile(r'"(?:.*[^\w.])?(?:org\.)?(?:junit|testng|surefire|io\.kotest|kotlin\.test)\b.*"', re.IGNORECASE)
_OWN_DATA = re.compile(r'"(?:test[\w.+-]*@[\w.-]+|[\w.+-]+@(?:example|test)\.\w+)"')
_NAMES = re.compile(
    r"is(?:In|Running|Under)?(?:Unit)?Test(?:s|ing|Mode|Environment|Run|Harness)?|isRunning(?:In|Under)?(?:Unit)?Tests?(?:Harness)?"
    r"|isUnderTest|(?:running|in)(?:Under|Unit)?Tests?|isJUnit(?:Test|Running)?|isUnitTestMode|isRunningTest"
)
_MAY_ASK = re.compile(
    r"getenv|getPropert|getBoolean|Profiles|junit|testng|surefire|kotest|kotlin\.test|\b(?:is|in|running)\w*Test"
    r"|@(?:example|test)\.|\"test[\w.+-]*@",
    re.IGNORECASE,
)
_CONDITIONS = frozenset({"if_statement", "if_expression", "ternary_expression", "when_entry", "while_statement"})
_OPERATORS = frozenset(
    {"binary_expression", "unary_expression", "parenthesized_expression", "prefix_expression"}
    | {"conjunction_expression", "disjunction_expression", "equality_expression"}
)
_FOUND_BY = {
    "program": ("string_literal", "identifier"),
    "source_file": ("string_literal", "simple_identifier"),
}


def asks_if_tested(node: SgNode) -> Iterator[str]:
    if not _MAY_ASK.search(node.text()):
        return
    seen: set[str] = set()
    kinds = _FOUND_BY.get(node.get_root().root().kind(), _FOUND_BY["program"])
    for found in node.find_all(any=[Rule(kind=kind) for kind in kinds]):
        asked = _in_text(found) if found.kind() == "string_literal" else _by_name(found)
        if asked is not None and (text := flat(asked)) not in seen:
            seen.add(text)
            yield text


def _in_text(literal: SgNode) -> SgNode | None:
    text = literal.text()
    if not (_ENVIRONMENT.fullmatch(text) or _RUNNER.fullmatch(text) or _OWN_DATA.fullmatch(text)):
        return None
    call = next(
        (
            found
            for above in literal.ancestors()[:4]
            if (found := call_of(above)) and above.kind() != "infix_expression"
        ),
        None,
    )
    if call and literal in call.values:
        of = flat(call.receiver) if call.receiver else ""
        if _ENVIRONMENT.fullmatch(text) and (
            call.name in {"getenv", "getProperty", "getBoolean", "acceptsProfiles", "matchesProfiles"}
            or (call.name in {"containsKey", "get"} and re.search(r"getenv\(\)|getProperties\(\)|[eE]nv$", of))
        ):
            return call.node
        if _RUNNER.fullmatch(text) and call.name in {
            "forName",
            "contains",
            "startsWith",
            "loadClass",
            "indexOf",
            "findClass",
        }:
            return call.node
    if not _OWN_DATA.fullmatch(text):
        return None
    if call and call.name == "equals" and (literal in call.values or literal == call.receiver):
        return call.node if _is_condition(call.node) else None
    parent = literal.parent()
    compared = operation(parent) if parent else None
    return parent if parent and compared and compared[0] == "==" and _is_condition(parent) else None


def _by_name(name: SgNode) -> SgNode | None:
    if not _NAMES.fullmatch(name.text()):
        return None
    node = name
    for above in name.ancestors():
        if above.kind() in {
            "method_invocation",
            "call_expression",
            "navigation_expression",
            "navigation_suffix",
            "field_access",
        }:
            node = above
            continue
        break
    return node if _is_condition(node) else None


def _is_condition(node: SgNode) -> bool:
    """It decides a branch."""
    below = node
    for above in node.ancestors():
        if above.kind() in _OPERATORS:
            below = above
            continue
        if above.kind() == "when_condition":
            return True
        parts = code_in(above)
        return above.kind() in _CONDITIONS and bool(parts) and parts[0] == below
    return False

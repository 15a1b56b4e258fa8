"""What takes hold of a test run when a file is loaded: of its words, of its assertions, of how it ends."""

import re
from collections.abc import Iterator

from ast_grep_py import SgNode

from untilproven.guard.kinds import kind_of
from untilproven.guard.languages.javascript.matchers import STRENGTHS
from untilproven.guard.languages.javascript.nodes import FUNCTIONS, arguments, bare, is_constant, string_of, written
from untilproven.guard.languages.javascript.openings import opening
from untilproven.guard.languages.javascript.survey import Survey

_RUNNERS = "it|test|describe|expect|assert|specify|beforeEach|afterEach|before|after|jasmine|jest|vi"
_PATCHED = re.compile(
    rf"(?:global|globalThis|window|self)\.(?:{_RUNNERS})|(?:it|test|describe)\.(?:only|skip|each|todo|concurrent)"
    r"|(?:chai\.)?(?:expect|assert)(?:\.\w+)+|(?:\w+\.)*(?:Assertion|Mocha|Runner|Runnable|Test|Suite)\.prototype\.\w+"
    r"|(?:jest|vi|jasmine|Mocha)(?:\.\w+)+|process\.(?:exit|reallyExit)|Module\._(?:load|resolveFilename|extensions)"
    r"|require\.extensions.*|(?:module\.)?exports\.mochaHooks"
)
_HARMLESS = re.compile(r"jasmine\.DEFAULT_TIMEOUT_INTERVAL|chai\.config\..*|.*\.(?:displayName|length)")
_GLOBAL_SETUP = re.compile(
    r"globalSetup|globalTeardown|handleTestEvent|mochaHooks|mochaGlobalSetup|mochaGlobalTeardown"
)
_AFTER = re.compile(r"(?:test\.|t\.)?(?:after|afterEach|afterAll|teardown|onTestFinished)(?:\.always)?")
_SANDBOXED = re.compile(r"(?:jest|vi)\.fn\(")
_LEAVING = re.compile(r"process\.(?:exitCode|reallyExit|kill|abort)")


def taking_hold(found: Survey, root: SgNode, path: str) -> Iterator[str]:
    yield from dict.fromkeys(_hooks(found, root, path))


def _hooks(found: Survey, root: SgNode, path: str) -> Iterator[str]:
    for node in found.assignments:
        left, right = node.field("left"), node.field("right")
        target = left.text() if left is not None else ""
        if right is None or not _PATCHED.fullmatch(target) or _HARMLESS.fullmatch(target) or is_constant(right):
            continue
        if not _is_own(target, root, path) and not _is_put_back(node, target, bare(right), found):
            yield written(node) if bare(right).kind() not in FUNCTIONS else target
    for call in found.calls:
        callee = call.field("function")
        args = arguments(call)
        match callee.text() if callee is not None else "":
            case "expect.extend":
                yield from _redefined(args)
            case "Object.defineProperty" if len(args) > 1 and _is_runners(args):
                yield f"{args[0].text()}.{string_of(args[1])}"
            case "process.on" | "process.once" if "exitCode" in call.text():
                yield written(call)
    for node in found.functions:
        name = node.field("name")
        if name is not None and _GLOBAL_SETUP.fullmatch(name.text()):
            yield name.text()


def _is_own(target: str, root: SgNode, path: str) -> bool:
    """A member of what the file itself declares under that name: a `Runner` of the product, `const self = this`."""
    name = re.escape(target.partition(".")[0])
    if name != "self" and kind_of(path) != "source":
        return False
    declared = (
        rf"\b(?:(?:async\s+)?function\*?|class)\s+{name}\b|\b(?:const|let|var)\s+{name}\s*=(?!\s*(?:require|await)\b)"
    )
    return re.search(declared, root.text()) is not None


def _is_put_back(node: SgNode, target: str, right: SgNode, found: Survey) -> bool:
    """Whether a test, or a function that tests call, replaces how the process ends for a while."""
    region = _region(node)
    if not target.startswith("process.") or region is None:
        return False
    if _SANDBOXED.match(right.text()):
        return True
    saved = set(re.findall(rf"([\w$.]+)\s*=\s*{re.escape(target)}(?![\w.$]|\s*=)", node.get_root().root().text()))
    if right.text() in saved:
        return True
    if _LEAVING.search(right.text()) or any(
        re.search(rf"(?<![\w.$]){re.escape(name)}\b", right.text()) for name in saved
    ):
        return False
    back = [one for one in found.assignments if (value := one.field("right")) and value.text() in saved]
    return any(_stands_in(one, region) or _is_after(one) for one in back)


def _region(node: SgNode) -> SgNode | None:
    """The outermost function around it that is not that of a suite; None at the top level."""
    around = [above for above in node.ancestors() if above.kind() in FUNCTIONS]
    return next((one for one in reversed(around) if not _is_of_suite(one)), None)


def _is_of_suite(function: SgNode) -> bool:
    listed = function.parent()
    call = listed.parent() if listed is not None else None
    found = opening(call) if call is not None and call.kind() == "call_expression" else None
    return found is not None and found.is_suite


def _stands_in(node: SgNode, region: SgNode) -> bool:
    inner, outer = node.range(), region.range()
    return outer.start.index <= inner.start.index and inner.end.index <= outer.end.index


def _is_after(node: SgNode) -> bool:
    calls = (above.field("function") for above in node.ancestors() if above.kind() == "call_expression")
    return any(callee is not None and _AFTER.fullmatch(callee.text()) for callee in calls)


def _redefined(args: tuple[SgNode, ...]) -> Iterator[str]:
    """The matchers among those given to `expect.extend` that exist already."""
    for member in args[0].named_children() if args else ():
        name = member.field("key") or member.field("name")
        if name is not None and name.text() in STRENGTHS:
            yield f"expect.extend({name.text()})"


def _is_runners(args: tuple[SgNode, ...]) -> bool:
    return args[0].text() in {"global", "globalThis", "expect", "assert", "process"} and bool(
        re.fullmatch(f"{_RUNNERS}|exitCode|exit|equal|strictEqual|toBe", string_of(args[1]) or "")
    )

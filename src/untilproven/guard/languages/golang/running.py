"""Whether a test in Go is run."""

import re

from ast_grep_py import SgNode

from untilproven.guard.facts import Running
from untilproven.guard.languages.golang.claims import arguments, called
from untilproven.guard.languages.golang.statements import call_of, constant, is_skip, statements
from untilproven.guard.languages.syntax import Formula, flat_text, how_often

_SYSTEMS = frozenset(
    {"aix", "android", "darwin", "dragonfly", "freebsd", "illumos", "ios", "js", "linux", "netbsd", "openbsd", "plan9"}
    | {"solaris", "wasip1", "windows", "zos", "unix", "hurd", "nacl"}
)
_MACHINES = frozenset(
    {"386", "amd64", "arm", "arm64", "loong64", "mips", "mips64", "mips64le", "mipsle", "ppc64", "ppc64le", "riscv64"}
    | {"s390x", "wasm", "sparc64"}
)
_TOOLS = frozenset({"gc", "gccgo", "cgo", "race", "msan", "asan", "tinygo", "appengine", "boringcrypto"})
_ON_DEMAND = re.compile(
    r"(?:\w+_)?(?:integration|e2e|functional|acceptance|system|smoke|slow|nightly|conformance|stress|unit|fuzz)(?:_?tests?)?"
)
"""Tags by which projects keep some of their tests for a run of their own."""
_OLDEST, _NEWEST = 13, 40
"""Versions of Go that somebody may have."""
_ENVIRONMENT = re.compile(
    r"testing\.Short\(|runtime\.(?:GOOS|GOARCH|Version)|os\.(?:Getenv|LookupEnv|Getuid|Geteuid)|exec\.LookPath|\bCI\b"
)
_SKIPPING = re.compile(r"^(?:skip|Skip)(?:If|Unless|When|On|[A-Z])|^Needs?[A-Z]|^MustHave")
Verdict = tuple[Running, str | None]


def constraint_of(root: SgNode, path: str) -> str | None:
    """For which builds a file is there, from its first lines and its name."""
    asked = []
    for child in root.children():
        text = child.text()
        if child.kind() != "comment":
            break
        if text.startswith("//go:build "):
            asked = [text]
            break
        if re.match(r"// ?\+build ", text):
            asked.append(text)
    parts = path.rsplit("/", 1)[-1].removesuffix(".go").removesuffix("_test").split("_")[1:]
    named = [part for part in parts[-2:] if part in _SYSTEMS | _MACHINES]
    return "\n".join([*asked, *(f"//go:build {part}" for part in named)]) or None


def built(constraint: str) -> Verdict:
    formula = ("and", *map(_formula, constraint.splitlines()))
    running = how_often(formula, _known)
    running = running or how_often(formula, lambda tag: None if _may_be_asked_for(tag) else _known(tag))
    return running, None if running is Running.ALWAYS else constraint


def _formula(line: str) -> Formula:
    text = line.split("build", 1)[1].strip()
    if not line.startswith("//go:build"):
        text = " || ".join(f"({part.replace(',', ' && ')})" for part in text.split())
    words = re.findall(r"\(|\)|!|&&|\|\||[\w.]+", text)
    formula, _ = _either(words, 0)
    return formula


def _either(words: list[str], at: int) -> tuple[Formula, int]:
    parts, at = _both(words, at)
    either: list[Formula] = [parts]
    while at < len(words) and words[at] == "||":
        more, at = _both(words, at + 1)
        either.append(more)
    return ("or", *either), at


def _both(words: list[str], at: int) -> tuple[Formula, int]:
    one, at = _single(words, at)
    both: list[Formula] = [one]
    while at < len(words) and words[at] == "&&":
        more, at = _single(words, at + 1)
        both.append(more)
    return ("and", *both), at


def _single(words: list[str], at: int) -> tuple[Formula, int]:
    if at >= len(words):
        return ("and",), at
    if words[at] == "!":
        inner, at = _single(words, at + 1)
        return ("not", inner), at
    if words[at] == "(":
        inner, at = _either(words, at + 1)
        return inner, at + 1
    return words[at], at + 1


def _may_be_asked_for(tag: str) -> bool:
    version = re.fullmatch(r"go1\.(\d+)", tag)
    return _ON_DEMAND.fullmatch(tag) is not None or (version is not None and _OLDEST <= int(version[1]) < _NEWEST)


def _known(tag: str) -> bool | None:
    """A tag of a project's own is not set unless somebody asks for it."""
    if tag in _SYSTEMS | _MACHINES | _TOOLS:
        return None
    version = re.fullmatch(r"go1\.(\d+)", tag)
    return version is not None and int(version[1]) < _NEWEST


def started(block: SgNode | None) -> Verdict:
    """From what stands in the test's own block, before anything else decides."""
    running, reason = Running.ALWAYS, None
    for statement in statements(block):
        if is_skip(statement):
            return Running.NEVER, _why(statement)
        if statement.kind() == "if_statement" and (asked := statement.field("condition")) is not None:
            inner = list(statements(statement.field("consequence")))
            skips = [one for one in inner if is_skip(one)]
            text = flat_text(asked)
            leaves = len(inner) == 1 and inner[0].kind() == "return_statement" and _ENVIRONMENT.search(text)
            if not skips and not leaves:
                continue
            always = constant(asked)
            if always is False:
                continue
            if always:
                return Running.NEVER, _why(skips[0]) if skips else text
            running, reason = Running.SOMETIMES, reason or text
        elif (call := call_of(statement)) is not None and _SKIPPING.search(called(call)):
            running, reason = Running.SOMETIMES, reason or flat_text(call)
    return running, reason


def _why(statement: SgNode) -> str:
    call = call_of(statement)
    given = arguments(call) if call is not None else []
    return given[0].text().strip('"`') if given else flat_text(statement)

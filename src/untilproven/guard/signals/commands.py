"""Lines of shell, read as far as is needed to see what they run and whether its failure is heard."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import takewhile

import msgspec

from untilproven.guard.signals.hushing import is_trapped, stubs_in, without_idle_answers

_TOKEN = re.compile(
    r"""(?P<gap>[ \t\r]+|\\\r?\n|(?<![^\s;&|()])\#[^\n]*)
      | (?P<op>&&|\|\||;;|\|&|[;|&\n()])
      | (?P<word>(?:\$\{\{(?:[^}\n]|\}(?!\}))*\}\} | \$\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\) | `[^`]*`
          | \\. | "(?:[^"\\]|\\.)*" | '[^']*' | \d?>&\d? | &> | [^\s;&|()"'\\`] | ["'`])+)""",
    re.VERBOSE | re.DOTALL,
)
_HERE = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n.*?^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"""\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'""", re.DOTALL)
_KEYWORDS = frozenset(
    {"if", "then", "elif", "else", "do", "while", "until", "!", "time", "fi", "done", "esac", "{", "}"}
)
_SEPARATORS = frozenset({";", "\n", ";;", "&"})
_ASKS_LATER = re.compile(r"\$\?|\bexit\s+[\"']?\$|\bwait\s+[\"']?[$%]|PIPESTATUS|LASTEXITCODE")
_LONGEST = 20_000


class Command(msgspec.Struct, frozen=True):
    words: tuple[str, ...]
    line: int
    """Of the script, from 0."""
    is_swallowed: bool
    """Nobody hears when it fails."""

    @property
    def text(self) -> str:
        return " ".join(self.words)


class _Step(msgspec.Struct):
    op: str
    """What stands before it."""
    words: list[str]
    line: int
    outside: int = 0
    """In how many brackets its `op` stands."""
    inside: int = 0
    """In how many it stands itself."""


@lru_cache(maxsize=1024)
def commands_in(script: str, *, stops: bool = False, apart: bool = False) -> tuple[Command, ...]:
    """`stops` when the shell ends at the first failure by itself; `apart` when each line is a shell of its own."""
    if apart:
        return tuple(
            msgspec.structs.replace(one, line=one.line + at)
            for at, line in _whole_lines(script)
            for one in commands_in(line, stops=stops)
        )
    script = without_idle_answers(script)
    stubs, trapped = stubs_in(script), is_trapped(script)
    chains = [chain for chain in _chains(script[:_LONGEST]) if any(step.words for step in chain)]
    asked_later = _ASKS_LATER.search(script) is not None
    ends_well = _ends_well(chains)
    stopping = ever_stopped = stops
    found = []
    for chain in chains:
        stopping = _stops_from_here(chain[0].words, stopping)
        ever_stopped = ever_stopped or stopping
        lost = trapped or (not stopping and not asked_later and (ends_well or ever_stopped))
        swallowed = set() if asked_later and chain[-1].op == "&" else _swallowed(chain)
        for at, step in enumerate(chain):
            if step.words:
                unheard = at in swallowed or lost or step.words[0] in stubs
                found.append(Command(tuple(step.words), step.line, unheard))
    return tuple(found)


def _stops_from_here(words: list[str], stopping: bool) -> bool:
    """What `set -e`, `set +e` and `set -o errexit` say."""
    if words[:1] != ["set"]:
        return stopping
    for word in words[1:]:
        if re.fullmatch(r"[-+][a-z]*e[a-z]*", word) or word == "errexit":
            return not (word.startswith("+") or "+o" in words)
    return stopping


def is_idle(words: tuple[str, ...]) -> bool:
    """It can not fail, and does nothing that counts."""
    match words:
        case () | ("true" | ":" | "echo" | "printf" | "exit", *_):
            return words[:1] != ("exit",) or words in {("exit",), ("exit", "0")}
    return False


def _chains(script: str) -> Iterator[list[_Step]]:
    """What stands between line ends and semicolons; what is in brackets stays together."""
    chain = [_Step("", [], 0)]
    depth = 0
    for sign, written, line in _tokens(script):
        step = chain[-1]
        asks = sign != "\n" and step.words[:1] == ["[["] and "]]" not in step.words
        op, word = ("", sign or written) if asks else (sign, written)
        if word and not step.words and word in _KEYWORDS:
            depth = max(depth + (word == "{") - (word == "}"), 0)
        elif word:
            if not step.words:
                step.line, step.inside = line, depth
            step.words.append(word)
        elif op in {"(", ")"}:
            depth = max(depth + (1 if op == "(" else -1), 0)
        elif op in _SEPARATORS and depth == 0:
            yield [*chain, _Step(op, [], line)] if op == "&" else chain
            chain = [_Step("", [], line)]
        elif op != "\n" or step.words:
            chain.append(_Step(op, [], line, depth, depth))
    yield chain


def _tokens(script: str) -> Iterator[tuple[str, str, int]]:
    script = _HERE.sub(lambda found: "<<" + "\n" * found[0].count("\n"), script)
    at = line = 0
    while found := _TOKEN.match(script, at):
        if found.lastgroup != "gap":
            word = _QUOTED.sub(_bare, found["word"]) if found["word"] else ""
            yield found["op"] or "", word, line
        line += found[0].count("\n")
        at = found.end()


def _bare(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group is not None)


def _swallowed(chain: list[_Step]) -> set[int]:
    """Which of its steps fail unheard: before `|| true`, in front of `| cat`, before a lone `&`."""
    if chain[-1].op == "&":
        return set(range(len(chain)))
    return {unheard for at in range(1, len(chain)) if _hushes(chain, at) for unheard in _before(chain, at)}


def _hushes(chain: list[_Step], at: int) -> bool:
    """Whether it goes on as if all were well, up to the end of the brackets that it stands in."""
    step = chain[at]
    tail = list(takewhile(lambda one: one.outside >= step.outside, chain[at:]))
    if not all(is_idle(tuple(one.words)) or (one.op == "|" and _only_shows(one, step.op)) for one in tail):
        return False
    match step.op:
        case "||":
            return True
        case "|":
            return len(tail) == 1
        case ";" | "\n":
            return step.words[:1] in (["true"], ["exit"], [":"])
    return False


def _only_shows(step: _Step, behind: str) -> bool:
    return step.words == ["cat"] or (behind == "||" and step.words[:1] == ["tee"])


def _before(chain: list[_Step], at: int) -> Iterator[int]:
    """The steps of the same brackets in front of it."""
    return takewhile(lambda one: chain[one].inside >= chain[at].outside, range(at - 1, -1, -1))


def _ends_well(chains: list[list[_Step]]) -> bool:
    """The last thing it does is to say that all is well."""
    last = chains[-1] if len(chains) > 1 else []
    return len(last) == 1 and tuple(last[0].words) in {("true",), (":",), ("exit", "0")}


def _whole_lines(script: str) -> Iterator[tuple[int, str]]:
    """Lines, with those that go on in the next one joined."""
    begun, start = "", 0
    for at, line in enumerate(script.splitlines()):
        if not begun:
            start = at
        if line.endswith("\\"):
            begun += line + "\n"
            continue
        yield start, begun + line
        begun = ""
    if begun:
        yield start, begun

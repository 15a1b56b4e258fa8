"""Lines of shell, read as far as is needed to see what they run and whether its failure is heard."""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

_TOKEN = re.compile(
    r"""(?P<gap>[ \t\r]+|\\\r?\n|(?<![^\s;&|()])\#[^\n]*)
      | (?P<op>&&|\|\||;;|\|&|[;|&\n()])
      | (?P<word>(?:\$\{\{[^}\n]*\}\} | \$\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\) | `[^`]*` | \\. | "(?:[^"\\]|\\.)*" | '[^']*'
          | \d?>&\d? | &> | [^\s;&|()"'\\`] | ["'`])+)""",
    re.VERBOSE | re.DOTALL,
)
_HERE = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?[^\n]*\n.*?^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_QUOTED = re.compile(r"""\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'""", re.DOTALL)
_KEYWORDS = frozenset({"if", "then", "elif", "else", "do", "while", "until", "!", "{", "time"})
_ENDS = frozenset({"fi", "done", "}", "esac"})
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


@lru_cache(maxsize=1024)
def commands_in(script: str, *, stops: bool = False, apart: bool = False) -> tuple[Command, ...]:
    """`stops` when the shell ends at the first failure by itself; `apart` when each line is a shell of its own."""
    if apart:
        return tuple(
            msgspec.structs.replace(one, line=one.line + at)
            for at, line in _whole_lines(script)
            for one in commands_in(line, stops=stops)
        )
    chains = list(_chains(script[:_LONGEST]))
    found = []
    stopping = stops
    ends_well = _ends_well(chains)
    heard_later = re.search(r"\$\?|\bexit\s+[\"']?\$|\bwait\b|PIPESTATUS|LASTEXITCODE", script) is not None
    ever_stops = stops
    for chain in chains:
        first = chain[0].words
        if first[:1] == ["set"]:
            for word in first[1:]:
                if re.fullmatch(r"[-+][a-z]*e[a-z]*", word) or word == "errexit":
                    stopping = not (word.startswith("+") or "+o" in first)
                    ever_stops = ever_stops or stopping
        lost = not stopping and not heard_later and (ends_well or ever_stops)
        swallowing = _swallowed_until(chain)
        for at, step in enumerate(chain):
            if step.words:
                found.append(Command(tuple(step.words), step.line, at < swallowing or lost))
    return tuple(found)


def is_idle(words: tuple[str, ...]) -> bool:
    """It can not fail, and does nothing that counts."""
    match words:
        case () | ("true" | ":" | "echo" | "printf" | "exit", *_):
            return words[:1] != ("exit",) or words in {("exit",), ("exit", "0")}
    return False


def _chains(script: str) -> Iterator[list[_Step]]:
    """What stands between line ends and semicolons; what is in brackets stays together."""
    chain: list[_Step] = [_Step("", [], 0)]
    depth = 0
    for op, word, line in _tokens(script):
        if word:
            if not chain[-1].words:
                chain[-1].line = line
                if word in _KEYWORDS or word in _ENDS:
                    depth += (word == "{") - (word == "}")
                    continue
            chain[-1].words.append(word)
        elif op == "(":
            depth += 1
        elif op == ")":
            depth = max(depth - 1, 0)
        elif op in {";", "\n", ";;", "&"} and depth == 0:
            if op == "&":
                chain.append(_Step(op, [], line))
            if any(step.words for step in chain):
                yield chain
            chain = [_Step("", [], line)]
        elif op != "\n" or chain[-1].words:
            chain.append(_Step(op, [], line))
    if any(step.words for step in chain):
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


def _swallowed_until(chain: list[_Step]) -> int:
    """How many of the first steps fail unheard: before `|| true`, in front of `| cat`, before a lone `&`."""
    if chain[-1].op == "&":
        return len(chain)
    for at in range(len(chain) - 1, 0, -1):
        if not all(is_idle(tuple(step.words)) or step.words == ["cat"] for step in chain[at:]):
            break
        if chain[at].op == "||" or (chain[at].op == "|" and at == len(chain) - 1):
            return at
        if chain[at].op in {";", "\n"} and chain[at].words[:1] in (["true"], ["exit"], [":"]):
            return at
    return 0


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

"""A line of shell, read only as far as is needed to see which program it ends in."""

import re

import msgspec

_WORD = re.compile(r"""(?:[^\s"'\\|&;<>()`#]|\\.|"(?:[^"\\`]|\\.)*"|'[^']*'|(?<=\S)\#)+""")
_QUOTED = re.compile(r"""\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'""")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class Word(msgspec.Struct, frozen=True):
    text: str
    """Without its quotes."""
    start: int
    end: int


class Line(msgspec.Struct, frozen=True):
    """One line, of which the last command of an `&&` chain is looked at; the rest is kept as it was typed."""

    text: str
    words: tuple[Word, ...]
    earlier: tuple[tuple[str, ...], ...] = ()
    """The commands before the last one, as words."""

    @property
    def directory(self) -> str:
        """Where the last command runs, if the line begins with a plain `cd`."""
        match self.earlier:
            case (("cd", str(directory)), *_):
                return directory
        return "."

    @property
    def programs(self) -> tuple[str, ...]:
        """The program of each command of the chain."""
        last = tuple(word.text for word in self.words)
        return tuple(
            words[first] for words in (*self.earlier, last) if (first := after_assignments(words)) < len(words)
        )


def after_assignments(words: tuple[str, ...]) -> int:
    """Where the program stands, behind `NAME=value` words."""
    return next((at for at, word in enumerate(words) if not _ASSIGNMENT.match(word)), len(words))


def read(text: str) -> Line | None:
    """A plain command or an `&&` chain of them; None for pipes, redirections, loops and everything else."""
    chain: list[tuple[Word, ...]] = []
    words: list[Word] = []
    at = 0
    while at < len(text):
        if text[at] in " \t":
            at += 1
        elif text.startswith("&&", at) and words:
            chain.append(tuple(words))
            words, at = [], at + 2
        elif found := _WORD.match(text, at):
            words.append(Word(_QUOTED.sub(_plain, found.group()), found.start(), found.end()))
            at = found.end()
        else:
            return None
    if not words:
        return None
    return Line(text, tuple(words), tuple(tuple(word.text for word in command) for command in chain))


def _plain(quoted: re.Match[str]) -> str:
    return next(group for group in quoted.groups() if group is not None)

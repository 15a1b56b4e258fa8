"""What differs in the source: what a test that asks less or is gone may have been about."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from pathlib import PurePosixPath

from untilproven.guard.coining import coined
from untilproven.guard.comparison import Comparison, Pair, Side
from untilproven.guard.kinds import is_prose, is_shown
from untilproven.guard.languages import grammar_of
from untilproven.guard.lines import is_mostly_gone, lines_changed, lines_of, names_changed, tokens_changed
from untilproven.guard.names import EVERYWHERE, NAME, parts_of
from untilproven.guard.pairing import Placed, functions_of
from untilproven.guard.tokens import all_tokens

WARNS = re.compile(r"(?i)deprecat|\bwarns?\b|warnings?\b")
_DEFINED = re.compile(
    r"\b(?:class|struct|enum|interface|trait|type|object|def|fn|func|fun|function|const|static|record|macro_rules!)\s+"
    r"(?:\([^)]*\)\s*)?([A-Za-z_$][\w$]*)|^([A-Z][A-Z\d_]+)\s*="
)
"""A constant is defined by giving it a value."""
_NO_REQUIREMENT = re.compile(r"\W*(?:version|requires-python|python_requires|edition|rust-version|node)\b|.*::|\D*$")
"""A line that names no version of something else."""
_REQUIRED = re.compile(r"@?[A-Za-z][\w./-]{3,}")
_TEXT = re.compile(r"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\\n])*`")
_SHORTEST = 4
_SHORTEST_TOLD = 3


class Source:
    """Of one comparison; each is found out when it is first asked for."""

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison

    @property
    def differs(self) -> bool:
        return bool(self._pairs)

    @cached_property
    def _pairs(self) -> list[Pair]:
        """Where something differs that somebody wrote and that is no test: some languages have tests beside it."""
        unread = {one.path for one in self._comparison.not_analysed if grammar_of(one.path)}
        pairs = (pair for pair in self._comparison.of_kind("source") if not is_prose(pair.path))
        return [pair for pair in pairs if pair.path not in unread and any(lines_changed(pair))]

    @cached_property
    def texts(self) -> tuple[str, str]:
        """Lines of the source that went, and those that came."""
        lines = [lines_changed(pair) for pair in self._pairs]
        return "\n".join(line for one in lines for line in one.went.elements()), "\n".join(
            line for one in lines for line in one.came.elements()
        )

    @cached_property
    def told(self) -> tuple[frozenset[str], frozenset[str]]:
        """Texts on lines of the source that went, and on those that came, which are no mere words."""
        was, now = (frozenset(text[1:-1] for text in _TEXT.findall(side)) for side in self.texts)
        return _no_words(was - now), _no_words(now - was)

    @cached_property
    def built(self) -> tuple[str, str]:
        """Lines of what says how it is built that went, and those that came."""
        lines = [lines_changed(pair) for pair in self._comparison.of_kind("mixed")]
        return "\n".join(line for one in lines for line in one.went), "\n".join(
            line for one in lines for line in one.came
        )

    @cached_property
    def tokens(self) -> tuple[frozenset[str], frozenset[str]]:
        """Of lines of the source that went, and of those that came."""
        changed = [tokens_changed(pair) for pair in self._pairs]
        was, now = (frozenset(token for each in changed for token in each[side]) for side in (0, 1))
        return was, now

    @cached_property
    def only_told(self) -> frozenset[str]:
        """Of those that went, the ones that stood in texts alone: they name nothing."""
        return self.tokens[0] - frozenset(all_tokens(_TEXT.sub("", self.texts[0])))

    @cached_property
    def tokens_lower(self) -> frozenset[str]:
        return frozenset(token.lower() for side in self.tokens for token in side)

    @cached_property
    def exchanged(self) -> tuple[frozenset[str], frozenset[str]]:
        """Words that the source has less often than it had, and those that it has more often."""
        was, now = (Counter(all_tokens(text)) for text in self.texts)
        return frozenset(was - now), frozenset(now - was)

    @cached_property
    def gone(self) -> frozenset[str]:
        """Names that were defined in the source, and are not even mentioned any more where something differs."""
        went = (line for pair in self._pairs for line in lines_changed(pair).went)
        return self._unmentioned(self.undefined | (frozenset(coined(went)) - EVERYWHERE))

    @cached_property
    def undefined(self) -> frozenset[str]:
        """Names that were defined in the source more often than they are now, where something differs."""
        was, now = Counter[str](), Counter[str]()
        for pair in self._pairs:
            went, came = lines_changed(pair)
            was.update(_defined(went, pair.before))
            now.update(() if is_shown(pair.path) else _defined(came, pair.after))
        files = {PurePosixPath(pair.path).stem for pair in self._pairs if pair.after is None}
        return frozenset(name for name in {*(was - now), *files} if len(name) >= _SHORTEST) - EVERYWHERE

    @cached_property
    def undefined_there(self) -> frozenset[str]:
        """The same with the file that defined them, as they are called: `file.name`."""
        found = set()
        for pair in self._pairs if self.undefined else ():
            went, came = lines_changed(pair)
            gone = {*_defined(went, pair.before)} - {*_defined(came, pair.after)}
            found |= {f"{PurePosixPath(pair.path).stem}.{name}" for name in gone & self.undefined}
        return frozenset(found)

    @cached_property
    def words_gone(self) -> frozenset[str]:
        """Words of lines of the source that went, and that no file has any more that differs."""
        was = {name for pair in self._pairs for line in lines_changed(pair).went for name in NAME.findall(line)}
        return self._unmentioned(frozenset(name for name in was - EVERYWHERE if len(name) >= _SHORTEST))

    def _unmentioned(self, names: frozenset[str]) -> frozenset[str]:
        """Those that stand nowhere in what differs; what is removed is told and shown to readers, and is gone all the
        same."""
        for pair in self._comparison.pairs:
            is_told = is_prose(pair.path) or is_shown(pair.path)
            if pair.after and not is_told and any(name in pair.after.text for name in names):
                names -= pair.after.names
        return names

    @cached_property
    def warns_less(self) -> bool:
        """Somewhere the source warns no longer."""
        return any(WARNS.search(line) for pair in self._pairs for line in lines_changed(pair).went)

    @cached_property
    def warns_nowhere_new(self) -> bool:
        """It warns less, and on no line of code that came."""
        code = [pair for pair in self._pairs if grammar_of(pair.path)]
        return self.warns_less and not any(WARNS.search(line) for pair in code for line in lines_changed(pair).came)

    @cached_property
    def dwindled(self) -> frozenset[str]:
        """Names on several lines of the source that went, and on few that came."""
        was, now = Counter[str](), Counter[str]()
        for pair in self._pairs:
            went, came = lines_changed(pair)
            was.update(name for line in went.elements() for name in {*NAME.findall(line)})
            now.update(name for line in came.elements() for name in {*NAME.findall(line)})
        names = (name for name, times in was.items() if is_mostly_gone(times, now[name]))
        return frozenset(name for name in names if len(name) >= _SHORTEST) - EVERYWHERE

    @cached_property
    def files_gone(self) -> frozenset[str]:
        """Files of the source that are gone, and not only elsewhere, by their names in small letters."""
        gone, there = ({PurePosixPath(pair.path).stem.lower() for pair in pairs} for pairs in self._gone_and_there)
        return frozenset(name for name in gone - there if len(name) >= _SHORTEST_TOLD) - EVERYWHERE

    @property
    def _gone_and_there(self) -> tuple[list[Pair], list[Pair]]:
        written = [pair for pair in self._pairs if grammar_of(pair.path)]
        return [pair for pair in written if pair.after is None], [pair for pair in written if pair.after is not None]

    @cached_property
    def is_less(self) -> bool:
        """Lines of it went, and hardly any came."""
        changed = [lines_changed(pair) for pair in self._pairs]
        went, came = sum(one.went.total() for one in changed), sum(one.came.total() for one in changed)
        return came == 0 < went or is_mostly_gone(went, came)

    @cached_property
    def shrunk(self) -> frozenset[str]:
        """Functions of the source that lost lines, and got hardly any."""
        source = {pair.path for pair in self._pairs}
        found = set()
        for before, after in functions_of(self._comparison):
            if before and after.pair.path in source:
                was, now = lines_of(before.text), lines_of(after.text)
                if is_mostly_gone((was - now).total(), (now - was).total()):
                    found.add(_called(after))
        return frozenset(name for name in found if len(name) >= _SHORTEST) - EVERYWHERE

    @cached_property
    def touched(self) -> frozenset[str]:
        """Files and functions of the source that differ or are new, and names on lines of it that differ."""
        named = {name for text in self._named for name in NAME.findall(text)}
        names = {name for pair in self._pairs for name in names_changed(pair)}
        return frozenset(name for name in named | names if len(name) >= _SHORTEST) - EVERYWHERE

    @cached_property
    def rewritten(self) -> frozenset[str]:
        """Functions that were there and differ, and names on lines of code that was there."""
        were = [pair for pair in self._pairs if pair.before is not None and grammar_of(pair.path)]
        paths = {pair.path for pair in were}
        functions = (_called(one) for was, one in functions_of(self._comparison) if was and one.pair.path in paths)
        names = {*functions, *(name for pair in were for name in names_changed(pair))}
        return frozenset(name for name in names if len(name) >= _SHORTEST) - EVERYWHERE

    @cached_property
    def is_reordered(self) -> bool:
        """Some function of it has the same lines in another order."""
        pairs = ((one, other) for one, other in functions_of(self._comparison) if one and other.pair.kind == "source")
        return any(
            lines_of(one.text) == lines_of(other.text) and one.text.split() != other.text.split()
            for one, other in pairs
        )

    @cached_property
    def parts_touched(self) -> frozenset[str]:
        """The same, and the words that these names are made of."""
        parts = {part for name in self._named for part in parts_of(name)}
        return self.touched | frozenset(part for part in parts if len(part) >= _SHORTEST) - EVERYWHERE

    @cached_property
    def functions_touched(self) -> frozenset[str]:
        """Functions of the source that differ, by the last part of their names; a private one also by the name of the
        one that it is behind."""
        source = {pair.path for pair in self._pairs}
        differ = [_called(one) for _, one in functions_of(self._comparison) if one.pair.path in source]
        return frozenset({*differ, *(name.lstrip("_") for name in differ)}) - EVERYWHERE

    @cached_property
    def _named(self) -> list[str]:
        """Files of the source that differ, and functions in them that do."""
        source = {pair.path for pair in self._pairs}
        functions = (one.name for _, one in functions_of(self._comparison) if one.pair.path in source)
        return [*functions, *(PurePosixPath(path).stem for path in source)]

    @cached_property
    def data_gone(self) -> list[str]:
        """Files that are no code and are gone, by their names: tests were given what was in them."""
        gone = (pair.path for pair in self._comparison.of_kind("test") if pair.after is None)
        names = (PurePosixPath(path).name for path in gone if grammar_of(path) is None)
        return [name for name in names if len(name) > _SHORTEST]

    @cached_property
    def modules_gone(self) -> frozenset[str]:
        """Files of code that are gone, by their names, however short."""
        code = [pair for pair in self._pairs if grammar_of(pair.path)]
        come = {PurePosixPath(pair.path).stem for pair in code if pair.before is None}
        return frozenset(PurePosixPath(pair.path).stem for pair in code if pair.after is None) - come

    @cached_property
    def data_touched(self) -> frozenset[str]:
        """Files that are no code and differ, by their names: tests give what is in them."""
        pairs = (pair for pair in self._comparison.of_kind("test", "source") if grammar_of(pair.path) is None)
        stems = (PurePosixPath(pair.path).stem for pair in pairs if pair.is_test or not is_prose(pair.path))
        return frozenset(stem for stem in stems if len(stem) >= _SHORTEST_TOLD) - EVERYWHERE

    @cached_property
    def required(self) -> frozenset[str]:
        """Words of lines by which the project needs another version of something."""
        lines = [line for pair in self._comparison.of_kind("mixed") for each in lines_changed(pair) for line in each]
        told = (line.lower() for line in lines if not _NO_REQUIREMENT.match(line))
        return frozenset(word for line in told for word in NAME.findall(line) if len(word) > _SHORTEST) - EVERYWHERE

    @cached_property
    def requirements_changed(self) -> bool:
        """Whether the project depends on another version of something."""
        for pair in self._comparison.of_kind("mixed"):
            went, came = lines_changed(pair)
            if any(not _NO_REQUIREMENT.match(line) for line in (*went, *came)):
                return True
        return False

    @cached_property
    def requirements_gone(self) -> frozenset[str]:
        """What the project depends on no longer, as it is named."""
        found = set()
        for pair in self._comparison.of_kind("mixed"):
            went = (line for line in lines_changed(pair).went if not _NO_REQUIREMENT.match(line))
            now = pair.after.text if pair.after else ""
            found |= {name for line in went for name in _REQUIRED.findall(line) if name not in now}
        return frozenset(found)

    def are_of_gone(self, side: Side, names: frozenset[str]) -> bool:
        """Some of these names are imported in the file from what the project depends on no longer."""
        gone = {form for name in self.requirements_gone for form in (name, name.replace("-", "_"))}
        lines = side.text.splitlines() if gone else ()
        return any(names & {*NAME.findall(line)} for line in lines if any(name in line for name in gone))


def _no_words(texts: frozenset[str]) -> frozenset[str]:
    return frozenset(text for text in texts if len(text) > _SHORTEST and not text.replace(" ", "").isalnum())


def _called(function: Placed) -> str:
    """Its name, as it is called: one of several of a name has its parameters behind it."""
    return re.split(r"::|\.", function.name.partition("(")[0])[-1]


def _defined(lines: Counter[str], side: Side | None) -> Iterator[str]:
    """What is written on lines with a word for it, and functions of languages that have none."""
    yield from (name or constant for line in lines.elements() for name, constant in _DEFINED.findall(line))
    declared = (one for one in side.facts.declarations if not one.is_test) if side else ()
    yield from (re.split(r"::|\.", one.name.partition("(")[0])[-1] for one in declared)

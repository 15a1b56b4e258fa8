"""jest, vitest, mocha and node's own runner: a file beside those that are there, named as they are."""

import re
from pathlib import PurePosixPath

from untilproven.checks.plants.plant import Plant, busiest, given, value_of
from untilproven.checks.runners.reporting import Also, Call

_VALUES = frozenset(
    {"-t", "--testNamePattern", "-c", "--config", "-w", "--maxWorkers", "--reporters", "--reporter", "--env", "--root"}
    | {"--rootDir", "--coverageDirectory", "--selectProjects", "--outputFile", "--testTimeout", "--project", "--dir"}
    | {"-g", "--grep", "-f", "--fgrep", "-r", "--require", "--timeout", "-u", "--ui", "--file", "--import", "--loader"}
    | {"--test-name-pattern", "--test-reporter", "--test-reporter-destination", "--test-concurrency", "--ignore"}
    | {"--environment", "--pool", "--spec", "--extension", "--setupFiles", "-R", "-i", "-p"}
)
_VERBS = frozenset({"run", "watch", "dev", "related"})
_TEST = re.compile(r".*(?P<mark>[.](?:test|spec)|[-_](?:test|spec))(?P<suffix>\.[cm]?[jt]sx?)")
_SUFFIXES = frozenset({".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", ".cts"})
_FAILS = 'throw new Error("{token}");'


def jest(call: Call, token: str) -> Plant | None:
    return _beside(call, token, 'test("{token}", () => {{ ' + _FAILS + " }});\n", ("--bail=0",))


def vitest(call: Call, token: str) -> Plant | None:
    """It takes each option once: the user's own is left out, with its number where that is a word of its own."""
    words = call.arguments
    bail = {word for word in words if word.startswith("--bail")}
    bail |= {words[at + 1] for at, word in enumerate(words[:-1]) if word == "--bail" and words[at + 1].isdigit()}
    content = 'import {{ test }} from "vitest";\n\ntest("{token}", () => {{ ' + _FAILS + " }});\n"
    return _beside(call, token, content, ("--bail=0",), frozenset(bail))


def mocha(call: Call, token: str) -> Plant | None:
    said = "test" if value_of(call.arguments, "-u", "--ui") in {"tdd", "qunit"} else "it"
    return _beside(call, token, said + '("{token}", function () {{ ' + _FAILS + " }});\n", ("--no-bail",))


def node(call: Call, token: str) -> Plant | None:
    """Loaded when it runs, so that it need not know which kind of module it is."""
    content = 'import("node:test").then(({{ test }}) => test("{token}", () => {{ ' + _FAILS + " }}));\n"
    return _beside(call, token, content, ())


def _beside(
    call: Call, token: str, content: str, also: tuple[str, ...], without: frozenset[str] = frozenset()
) -> Plant | None:
    room = call.room
    if room is None:
        return None
    there = [file for file in room.find(str(call.directory / "**/*.*s*")) if _is_test(file)]
    words = [word for word in given(call.arguments, _VALUES) if word not in _VERBS | without]
    if words:
        there = [file for file in there if any(_means(word, file.relative_to(call.directory)) for word in words)]
    place = busiest(there)
    if place is None:
        return None
    example = min((file for file in there if file.parent == place), key=str)
    path = place / _named_like(example.name, token)
    named = (str(path.relative_to(call.directory)),) if words else ()
    return Plant(path=path, content=content.format(token=token), test=token, also=Also((*also, *named), without))


def _is_test(file: PurePosixPath) -> bool:
    if file.suffix not in _SUFFIXES:
        return False
    return bool(_TEST.fullmatch(file.name)) or not {"test", "tests", "__tests__", "spec"}.isdisjoint(file.parts[:-1])


def _means(word: str, file: PurePosixPath) -> bool:
    """Whether a word of the line may mean a file: its path, a part of it, a directory above it, or a pattern."""
    plain = word.removeprefix("./").rstrip("/")
    return plain.partition("*")[0] in str(file)


def _named_like(name: str, token: str) -> str:
    found = _TEST.fullmatch(name)
    return f"{token}{found['mark']}{found['suffix']}" if found else f"{token}{PurePosixPath(name).suffix}"

"""A command that verifies, before and after: what it looks at less than it did."""

import re
from collections.abc import Iterator, Sequence

from untilproven.guard.signals.verifiers import Check, base

_NOT_RUN = re.compile(
    r"--exit-zero|--collect-only|--co|--dry-run|--listTests|--list|-D(?:skipTests|maven\.test\.skip|skipITs)(?:=true)?"
    r"|--no-run|--noCheck(?:=true)?|--setup-plan|--setup-only|--noEmitOnError=false|--exit-code=?0|--issues-exit-code=?0"
)
"""With these nothing is verified at all."""
_OF_TESTS_ONLY = frozenset({"--list", "-DskipTests", "-DskipTests=true", "-Dmaven.test.skip", "-Dmaven.test.skip=true"})
"""Other checks are run all the same."""
_ALLOWS = re.compile(
    r"--(?:passWithNoTests|pass-with-no-tests|if-present|allow-empty|suppress-no-test-exit-code)(?:=true)?"
)
_WITH_VALUE: dict[str, frozenset[str]] = {
    "pytest": frozenset({"-k", "-m", "--deselect", "--ignore", "--ignore-glob"}),
    "py.test": frozenset({"-k", "-m", "--deselect", "--ignore", "--ignore-glob"}),
    "jest": frozenset({"--testPathIgnorePatterns", "-t", "--testNamePattern"}),
    "vitest": frozenset({"--exclude", "-t", "--testNamePattern"}),
    "mocha": frozenset({"--ignore", "--exclude", "--grep", "-g", "--fgrep", "-f"}),
    "go test": frozenset({"-run", "-skip"}),
    "cargo test": frozenset({"--skip", "--exclude"}),
    "mypy": frozenset({"--exclude", "--disable-error-code"}),
    "eslint": frozenset({"--ignore-pattern"}),
    "flake8": frozenset({"--exclude"}),
}
"""Options that leave something out, by tool, each with a value."""
_OF_CHANGES = frozenset({"-o", "--onlyChanged", "--changedSince", "--lastCommit", "--onlyFailures", "-f"})
_LEAVES_OUT = {
    "go test": frozenset({"-short"}),
    "mocha": frozenset({"--invert", "-i"}),
    "mypy": frozenset({"--ignore-missing-imports"}),
    "vitest": frozenset({"--changed", "related", "-u", "--update"}),
    "jest": _OF_CHANGES | {"-u", "--updateSnapshot"},
    "react-scripts test": _OF_CHANGES | {"-u", "--updateSnapshot"},
    "playwright test": frozenset({"--only-changed", "--last-failed", "-u", "--update-snapshots"}),
    "pytest": frozenset({"--lf", "--last-failed"}),
}
_NO_LOSS = re.compile(
    r"-run \^?\$|(?:ignore|exclude)\S* (?:\./)?(?:setup\.py|docs?\b|examples?\b|build\b|dist\b|node_modules|.*conf\.py)"
)
"""Go's way to run benchmarks alone; files that hold no tests."""
_GRADLE = re.compile(r"(?:-x|--exclude-task)[ =]:?(?:\w+:)*(?:test|check|integrationTest)\b")
_MAKE_IGNORES = re.compile(r"\s(?:-(?![CfIOW])[a-zA-Z]*[in][a-z]*|--(?:ignore-errors|just-print))(?=\s|$)")
_MAVEN_IGNORES = re.compile(r"\s(?:-fn|--fail-never|-Dmaven\.test\.failure\.ignore(?:=true)?)(?=\s|$)")
_FILE = re.compile(r".*\.(?:py|[cm]?[jt]sx?|go|rs|rb|java|kt)(?:::.*)?")


def verifies_nothing(check: Check) -> str | None:
    """The option by which nothing is verified, if there is one."""
    for word in check.command.words[1:]:
        if check.purpose == "lint" and word in {"-w", "--write"}:
            return word
        if _NOT_RUN.fullmatch(word) and not (word in _OF_TESTS_ONLY and check.purpose != "tests"):
            return word
    if check.tool in {"pytest", "py.test"} and (without := _without_asserts(check)):
        return without
    if check.tool.startswith("make ") and (found := _MAKE_IGNORES.search(check.command.text)):
        return found[0].strip()
    if check.tool.startswith("mvn ") and (found := _MAVEN_IGNORES.search(check.command.text)):
        return found[0].strip()
    if check.tool == "go test" and "-c" in _behind_tool(check):
        return "-c"
    if check.tool.startswith("gradle") and (found := _GRADLE.search(check.command.text)):
        return found[0]
    return None


def _without_asserts(check: Check) -> str | None:
    """Python leaves out every `assert`."""
    words = check.command.words
    before = words[: len(words) - len(_behind_tool(check))]
    return next((word for word in before if re.fullmatch(r"-[A-Za-z]*OO?|PYTHONOPTIMIZE=[1-9]\d*", word)), None)


def narrowed(was: Check, now: Check) -> str | None:
    """What the new command leaves out that the old one did not."""
    before = set(_left_out(was))
    if new := [one for one in _left_out(now) if one not in before]:
        return ", ".join(new)
    files = [word for word in _targets(now) if _FILE.fullmatch(word) and ".config." not in word]
    if now.purpose == "tests" and files and files == _targets(now) and not any(map(_FILE.fullmatch, _targets(was))):
        return f"only {', '.join(files)}"
    if was.tool == now.tool == "go test" and "./..." in was.command.words and not _has_pattern(now):
        return f"only {' '.join(_targets(now)) or '.'}"
    return None


def _has_pattern(check: Check) -> bool:
    return any("..." in word or "$" in word for word in check.command.words)


def _left_out(check: Check) -> Iterator[str]:
    with_value = _WITH_VALUE.get(check.tool, frozenset())
    alone = _LEAVES_OUT.get(check.tool, frozenset())
    words = _behind_tool(check)
    for at, word in enumerate(words):
        option, equals, value = word.partition("=")
        if _ALLOWS.fullmatch(word) or option in alone:
            yield word
        elif option in with_value and (equals or words[at + 1 : at + 2]):
            value = value if equals else words[at + 1]
            if not _NO_LOSS.search(f"{option} {value}"):
                yield f"{option} {value}"


def _behind_tool(check: Check) -> Sequence[str]:
    """Its options and arguments, without those of what runs it."""
    words = check.command.words
    last = check.tool.split()[-1]
    at = next((at for at, word in enumerate(words) if base(word) == last), 0)
    return words[at + 1 :]


def _targets(check: Check) -> Sequence[str]:
    """What it is run on: words behind the tool's name that are no options."""
    found = []
    skip = False
    for word in _behind_tool(check):
        if skip:
            skip = False
        elif word.startswith("-"):
            skip = "=" not in word and word in {
                "-k",
                "-m",
                "-n",
                "-p",
                "-o",
                "-c",
                "-W",
                "--cov",
                "-run",
                "-t",
                "-timeout",
            }
        elif not re.match(r"\d?[<>]", word):
            found.append(word)
    return found

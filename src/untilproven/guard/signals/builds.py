"""What Maven, Gradle and cargo are told of tests and checks, in files that are programs as much as settings."""

import re
from collections.abc import Iterator

import msgspec

from untilproven.guard.comparison import Comparison, Pair
from untilproven.guard.finding import Signal
from untilproven.guard.signals import strictness
from untilproven.guard.signals.documents import line_of, name_of

_MAVEN, _OPTIONS = re.compile(r"pom\.xml"), re.compile(r"(?:.*/)?\.mvn/maven\.config")
_CARGO = re.compile(r"(?:.*/)?\.cargo/config(?:\.toml)?")
_GRADLE = re.compile(r".*\.gradle(?:\.kts)?")
_COMMENT = re.compile(r"<!--.*?-->|/\*.*?\*/|(?<!:)//[^\n]*", re.DOTALL)
_RUNNER = re.compile(r"<plugin>(?:(?!</?plugin>).)*?maven-(?:surefire|failsafe)-plugin.*?</plugin>", re.DOTALL)
_OF_TESTS = re.compile(r"(?:[tT]est\b[\"')>]*|\w+Tests?\b[\"')>]*|withType<Test>(?:\(\))?(?:\.\w+)?)\s*\{")
_NO_TEST = re.compile(r"[>\"'](?:[^<\"']*(?:\$|Abstract|Base)[^<\"']*)")
_PARTS = re.compile(r"<module>\s*([^<]+?)\s*</module>|include[ (][^\n]*")
_PART = re.compile(r"[\"']:?([\w:.-]+)[\"']")
_PLATFORM = re.compile(r"\buse(?:JUnit\w*|TestNG|Spock|KotlinTest)\b")
_INTEGRATION, _VERIFY = "<goal>integration-test</goal>", "<goal>verify</goal>"


class _Rule(msgspec.Struct, frozen=True):
    """What is there more often than it was."""

    signal: str
    files: re.Pattern[str]
    pattern: re.Pattern[str]
    within: re.Pattern[str] | None = None
    explained: tuple[str, ...] = ()


_SKIPS = (
    r"<(?:skipTests|maven\.test\.skip|testFailureIgnore|maven\.test\.failure\.ignore|skipITs)>\s*true"
    r"|(?:[tT]est|check)\w*[\"')>]*\s*\{[^{}]*\b(?:enabled\s*=\s*false|ignoreFailures\s*(?:=|\.set\()?\s*true)"
)
_ALWAYS = (
    r"-D(?:skipTests|skipITs|maven\.test\.skip|maven\.test\.failure\.ignore)\b(?!=false)"
    r"|(?m:^(?:.*\s)?(?:-fn|--fail-never)\b)"
)
_LEAVES_OUT = (
    r"\bexclude\w*\s*\(?\s*[\"'][^\"'\n]+|\bonlyIf\s*[({][^\n]*|\benableAssertions\s*=\s*false"
    r"|\bsetSrcDirs\([^\n]*|\bsrcDirs\s*=[^\n]*"
)
_ONLY_TELLS = (
    r"(?:detekt|checkstyle|spotbugs|pmd|ktlint|codenarc)\w*\s*\{[^{}]*ignoreFailures(?:\.set\(|\s*=)\s*true"
    r"|\b(?:abortOnError|allWarningsAsErrors|warningsAsErrors)(?:\.set\(|\s*=|\s)\s*false"
)


def _rule(signal: str, files: re.Pattern[str], pattern: str, within: re.Pattern[str] | None = None) -> _Rule:
    return _Rule(signal, files, re.compile(pattern), within, ("chosen",) if within else ())


_RULES = (
    _rule(strictness.COLLECTION, _MAVEN, _SKIPS),
    _rule(strictness.COLLECTION, _GRADLE, _SKIPS),
    _rule(strictness.COLLECTION, _OPTIONS, _ALWAYS),
    _rule(strictness.COLLECTION, _MAVEN, r"<exclude>[^<]+|<excludedGroups>[^<]+|<enableAssertions>\s*false", _RUNNER),
    _rule(strictness.COLLECTION, _GRADLE, _LEAVES_OUT, _OF_TESTS),
    _rule("failure-allowed", _MAVEN, r"<(?:haltOnFailure|failOnViolation|failsOnError|failOnWarning)>\s*false"),
    _rule("failure-allowed", _GRADLE, _ONLY_TELLS),
    _rule("failure-allowed", _CARGO, r"--cap-lints\b"),
    _rule("retries-raised", _MAVEN, r"<rerunFailingTestsCount>\s*[1-9]\d*"),
    _rule("retries-raised", _GRADLE, r"\bmaxRetries(?:\.set\(|\s*=)\s*[1-9]\d*"),
)


def builds(comparison: Comparison) -> Iterator[Signal]:
    for pair in comparison.pairs:
        options = _OPTIONS.fullmatch(pair.path) or _CARGO.fullmatch(pair.path)
        if pair.after is None or not (options or (pair.before and _is_build(pair))):
            continue
        was = _COMMENT.sub("", pair.before.text) if pair.before else ""
        now = _COMMENT.sub("", pair.after.text)
        for rule in _RULES:
            if rule.files.fullmatch(pair.path if options else name_of(pair.path)):
                yield from _more(rule, pair, was, now)
        yield from _unheard(pair, was, now, comparison)
        yield from _left_out(pair, was, now, comparison)


def _is_build(pair: Pair) -> bool:
    name = name_of(pair.path)
    return bool(_MAVEN.fullmatch(name) or _GRADLE.fullmatch(name))


def _more(rule: _Rule, pair: Pair, was: str, now: str) -> Iterator[Signal]:
    known, found = _found(rule, was), _found(rule, now)
    if len(found) > len(known):
        new = next((one for one in found if one not in known), found[-1])
        yield _signal(rule.signal, pair, new, rule.explained)


def _found(rule: _Rule, text: str) -> list[str]:
    parts = _within(rule.within, text) if rule.within else [text]
    found = (one[0] for part in parts for one in rule.pattern.finditer(part))
    return [one for one in found if not _NO_TEST.search(one)]


def _within(blocks: re.Pattern[str], text: str) -> Iterator[str]:
    """Plugins of Maven are found whole; a block of Gradle's goes to the bracket that ends it."""
    for found in blocks.finditer(text):
        yield found[0] if blocks is _RUNNER else text[found.end() : _end(text, found.end())]


def _end(text: str, start: int) -> int:
    depth = 1
    for found in re.finditer(r"[{}]", text[start:]):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return start + found.start()
    return len(text)


def _unheard(pair: Pair, was: str, now: str, comparison: Comparison) -> Iterator[Signal]:
    """Tests that are run by nobody's platform, or whose failures nobody asks for."""
    is_gone = _PLATFORM.search(was) and _OF_TESTS.search(now) and not _PLATFORM.search(now)
    if is_gone and not any(_comes(other) for other in comparison.pairs):
        yield _signal(strictness.COLLECTION, pair, "no useJUnitPlatform()", ())
    if _INTEGRATION in now and was.count(_VERIFY) > now.count(_VERIFY) and was.count(_INTEGRATION) == 1:
        yield _signal(strictness.COLLECTION, pair, "integration-test without verify", ())


def _comes(pair: Pair) -> bool:
    """The platform is named where it was not: in a file that others build on."""
    was, now = (len(_PLATFORM.findall(side.text)) if side else 0 for side in (pair.before, pair.after))
    return now > was


def _left_out(pair: Pair, was: str, now: str, comparison: Comparison) -> Iterator[Signal]:
    """Parts that are built no longer, and are still there."""
    gone, come = _parts(was) - _parts(now), _parts(now) - _parts(was)
    directory = pair.path.rpartition("/")[0]
    for part in sorted(gone if not come else ()):
        below = f"{directory}/{part}/".lstrip("/")
        if not any(other.before and other.before.path.startswith(below) for other in comparison.pairs):
            yield _signal(strictness.COLLECTION, pair, f"no {part}", ("chosen",))


def _parts(text: str) -> set[str]:
    found = set[str]()
    for one in _PARTS.finditer(text):
        found |= {one[1]} if one[1] else {name.replace(":", "/") for name in _PART.findall(one[0])}
    return found


def _signal(name: str, pair: Pair, now: str, explained: tuple[str, ...]) -> Signal:
    subject = " ".join(now.split())[:80]
    line = line_of(pair.after.text, now) if pair.after else 1
    number = re.search(r"\d+", now) if name == "retries-raised" else None
    was = "0" if number else None
    return Signal(name, pair.path, line, subject, was=was, now=number[0] if number else now, explained=explained)

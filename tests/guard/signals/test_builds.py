"""What builds for the JVM are told of tests and checks."""

import pytest

from guard.signals.compared import names
from untilproven.guard.signals.builds import builds


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("pom.xml", "<p></p>", "<p><skipTests>true</skipTests></p>"),
        ("pom.xml", "<p></p>", "<p><testFailureIgnore>true</testFailureIgnore></p>"),
        ("build.gradle", "test { }", "test { enabled = false }"),
        ("build.gradle.kts", "tasks.withType<Test> { }", "tasks.withType<Test> { ignoreFailures = true }"),
    ],
)
def test_builds_that_say_not_to_test(path: str, before: str, after: str) -> None:
    assert names(builds, {path: before}, {path: after}) == ["collection-narrowed"]
    assert names(builds, {path: after}, {path: before}) == []
    assert names(builds, {path: before}, {path: f"{before}\n/* {after} */"}) == []


def test_a_linter_that_does_not_mind_is_no_test() -> None:
    before, after = {"build.gradle": "ktlint { }"}, {"build.gradle": "ktlint { ignoreFailures = true }"}
    assert names(builds, before, after) == ["failure-allowed"]
    assert names(builds, after, before) == []


def test_what_a_block_leaves_out_counts_up_to_the_end_of_the_block() -> None:
    before = {"build.gradle": "test { filter { a() } }\ncopy { }\n"}
    assert names(builds, before, {"build.gradle": "test { filter { a() } }\ncopy { exclude('a') }\n"}) == []
    after = {"build.gradle": "test { filter { a() } exclude('a') }\ncopy { }\n"}
    assert names(builds, before, after) == ["collection-narrowed"]

"""Recorded results and data of tests."""

import pytest

from guard.signals.compared import found, names
from untilproven.guard.signals.data import data


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/__snapshots__/a.test.js.snap", "snapshot-rewritten"),
        ("tests/__snapshots__/test_a.ambr", "snapshot-rewritten"),
        ("testdata/a.golden", "snapshot-rewritten"),
        ("tests/golden/a.txt", "snapshot-rewritten"),
        ("tests/expected/a.json", "snapshot-rewritten"),
        ("src/test/resources/A.approved.txt", "snapshot-rewritten"),
        ("tests/data/a.json", "fixture-changed"),
        ("testdata/a.txt", "fixture-changed"),
        ("tests/fixtures/a", "fixture-changed"),
        ("testdata/a.lisp", "fixture-changed"),
        ("src/test/resources/a.xml", "fixture-changed"),
    ],
)
def test_a_changed_line(path: str, name: str) -> None:
    (signal,) = found(data, {path: "a\nb\nc\n"}, {path: "a\nx\nc\n"})
    assert (signal.name, signal.path, signal.amount, signal.explained) == (name, path, 1, ())


@pytest.mark.parametrize("path", ["src/__snapshots__/a.snap", "tests/data/a.json"])
def test_lines_that_are_only_more_moved_or_indented_change_nothing(path: str) -> None:
    assert found(data, {path: "a\nb\n"}, {path: "b\n  a\nc\n"}) == []
    assert found(data, {}, {path: "a\n"}) == []
    assert found(data, {path: "a\n"}, {}) == []


@pytest.mark.parametrize(
    "path",
    [
        *("tests/test_a.py", "tests/certs/a.pem", "tests/README.md", "src/a.json", "docs/snapshots/a.png", "a.txt"),
        *("tests/run.sh", "tests/.gitattributes", "tests/data/.gitkeep", "tests/ATest.groovy", "tests/Dockerfile"),
    ],
)
def test_what_is_no_data(path: str) -> None:
    assert found(data, {path: "a\nb\n"}, {path: "a\nc\n"}) == []


@pytest.mark.parametrize(
    ("other", "snapshot", "fixture"),
    [
        ("README.md", (), ()),
        ("src/a.py", ("source-changed",), None),
        ("src/a.css", ("source-changed",), None),
        ("src/b.py", ("source-changed",), ("source-changed",)),
        ("package-lock.json", ("source-changed",), ("source-changed",)),
        ("tests/test_a.py", ("tests-changed",), ("tests-near",)),
    ],
)
def test_what_was_changed_as_well(other: str, snapshot: tuple[str, ...], fixture: tuple[str, ...] | None) -> None:
    before = {"tests/a.snap": "1\n", "tests/a.json": "1\n", other: "a = 1\n"}
    after = {"tests/a.snap": "2\n", "tests/a.json": "2\n", other: "a = 2\n"}
    signals = {signal.name: signal.explained for signal in found(data, before, after)}
    assert signals.get("snapshot-rewritten") == snapshot
    assert signals.get("fixture-changed") == fixture


def test_the_words_of_a_compiler_change_with_it() -> None:
    (signal,) = found(data, {"tests/ui/a.stderr": "a\n"}, {"tests/ui/a.stderr": "b\n"})
    assert signal.explained == ("tool-output",)


def test_a_whole_suite_of_data_and_lines_beside_new_ones() -> None:
    many = {f"tests/data/{name}.json": "1\n" for name in range(20)}
    assert {one.explained for one in found(data, many, dict.fromkeys(many, "2\n"))} == {("suite-updated",)}
    (signal,) = found(data, {"tests/a.json": "1\n"}, {"tests/a.json": "2\n3\n4\n"})
    assert (signal.amount, signal.explained) == (1, ("grown",))


def test_what_is_no_text_counts_once() -> None:
    (signal,) = found(data, {"tests/a.bin": "\x00a\nb\n"}, {"tests/a.bin": "\x00c\nd\n"})
    assert signal.amount == 1


def test_each_file_is_told_apart() -> None:
    before = {f"tests/{name}.snap": "1\n" for name in "abc"}
    assert names(data, before, dict.fromkeys(before, "2\n")) == ["snapshot-rewritten"] * 3


def test_data_in_the_directory_of_a_package_is_not_of_all_its_sources() -> None:
    data_of, source = "src/test/resources/org/acme/cart/prices.json", "src/main/java/org/acme/cart/Tax.java"
    (signal,) = found(data, {data_of: "1\n", source: "class A {}"}, {data_of: "2\n", source: "class B {}"})
    assert (signal.path, signal.explained) == (data_of, ("source-changed",))
    prices = source.replace("Tax", "Prices")
    assert found(data, {data_of: "1\n", prices: "class A {}"}, {data_of: "2\n", prices: "class B {}"}) == []


@pytest.mark.parametrize(
    ("test", "text", "explained"),
    [
        ("web/bind_test.go", "package web\n", ("tests-near",)),
        ("bind_test.go", "package a\n", ()),
        ("bind_test.go", 'package a\nvar a = "prices.json"\n', ("tests-changed",)),
    ],
)
def test_a_test_that_may_read_the_data(test: str, text: str, explained: tuple[str, ...]) -> None:
    path = "web/testdata/prices.json"
    (signal,) = found(data, {path: "1\n", test: ""}, {path: "2\n", test: text})
    assert signal.explained == explained


def test_what_a_newer_tool_writes_into_data_of_its_name() -> None:
    before = {"tests/test_mypy.yml": "a: b\n", "requirements.txt": "mypy==1.1\nnumpy==1\n"}
    after = {"tests/test_mypy.yml": "a: c\n", "requirements.txt": "mypy==1.2\nnumpy==1\n"}
    (signal,) = found(data, before, after)
    assert "tool-updated" in signal.explained
    (signal,) = found(data, before, {**after, "requirements.txt": "mypy==1.1\nnumpy==2\n"})
    assert "tool-updated" not in signal.explained

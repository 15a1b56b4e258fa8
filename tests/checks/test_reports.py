"""Readers against what the real tools wrote (data/TOOL-VERSION) and against hostile reports."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from untilproven.checks.reports import gotest, jest, junit, libtest, mocha, pyunit, rspec, trx
from untilproven.checks.reports.results import Unreadable, fold, from_root
from untilproven.contract import TestResult

DATA = Path(__file__).parent / "data"
ROOT = Path("/project")
P, F, E, S = "passed", "failed", "error", "skipped"
JS = {'a.test.js > sum > adds "RALPH-001"': P, "a.test.js > sum > breaks": F, "a.test.js > sum > later": S}
JS["a.test.js > top"] = P

READ: dict[str, tuple[Callable[[Path], list[TestResult]], dict[str, str]]] = {
    "jest-30.5.2.json": (lambda path: jest.read(path, ROOT), JS),
    "jest-30.5.2-not-loaded.json": (lambda path: jest.read(path, ROOT), {"b.test.js": E}),
    "vitest-4.1.12.json": (lambda path: jest.read(path, ROOT), JS),
    "vitest-4.1.12-not-loaded.json": (lambda path: jest.read(path, ROOT), {"b.test.js": E}),
    "mocha-12.0.3.json": (
        lambda path: mocha.read(path, ROOT),
        {
            "a.spec.js > top": P,
            'a.spec.js > sum adds "RALPH-001"': P,
            "a.spec.js > sum later": S,
            "a.spec.js > sum breaks": F,
        },
    ),
    "node-20.20.2.xml": (
        lambda path: junit.read(path, junit.by_suite),
        # Node 20 escapes a quotation mark twice.
        {"sum > adds &quot;RALPH-001&quot;": P, "sum > breaks": F, "sum > later": S, "top": P},
    ),
    "ctest-3.25.1.xml": (junit.read, {"good": P, "bad": F, "missing": S, "off": S}),
    "phpunit-9.6.7.xml": (
        junit.read,
        {
            "ATest::testOk": P,
            "ATest::testBad": F,
            "ATest::testErr": E,
            "ATest::testSkip": S,
            "ATest::testRow with data set #0": P,
            'ATest::testRow with data set "named"': P,
        },
    ),
    "rspec-3.12.0.json": (
        lambda path: rspec.read(path, ROOT),
        {"spec/a_spec.rb > Sum adds": P, "spec/a_spec.rb > Sum breaks": F, "spec/a_spec.rb > Sum later": S},
    ),
    "rspec-3.12.0-not-loaded.json": (lambda path: rspec.read(path, ROOT), {"errors outside of examples": E}),
    "go-1.19.8.json": (
        gotest.read,
        {
            "example.com/m.TestOk": P,
            "example.com/m.TestTable/one_two": P,
            "example.com/m.TestTable/bad": F,
            "example.com/m.TestTable": F,
            "example.com/m.TestSkip": S,
            "example.com/m/bad": E,
            "example.com/m/sub.TestDeep": P,
        },
    ),
    "cargo-1.95.0.txt": (
        libtest.read,
        {
            "demo/src/lib.rs::tests::later": S,
            "demo/src/lib.rs::tests::panics": P,
            "demo/src/lib.rs::tests::fails": F,
            "demo/src/lib.rs::tests::works": P,
            "it/tests/it.rs::outside": P,
            "demo/doc::src/lib.rs - one (line 1)": P,
        },
    ),
    "nextest-documented.json": (
        libtest.read_json,
        {"demo::demo$tests::works": P, "demo::demo$tests::fails": F, "demo::demo$tests::later": S},
    ),
    "dotnet-documented.trx": (
        trx.read,
        {"Demo.ATest.Ok": P, "Demo.ATest.Bad": F, "Demo.ATest.Skip": S, "Demo.ATest.Hung": E},
    ),
}


@pytest.mark.parametrize("name", READ)
def test_every_test_of_a_real_report_is_read_with_its_outcome(name: str) -> None:
    read, expected = READ[name]
    assert {test.name: test.outcome for test in read(DATA / name)} == expected


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("jest-30.5.2.json", "no <b>&"),
        ("mocha-12.0.3.json", "no <b>&"),
        ("node-20.20.2.xml", "no <b>&"),
        ("phpunit-9.6.7.xml", "2 is identical to 1"),
        ("rspec-3.12.0.json", "expected: 2"),
        ("go-1.19.8.json", "a_test.go:4: no"),
        ("dotnet-documented.trx", "Assert.Equal() Failure"),
    ],
)
def test_a_failure_keeps_its_message(name: str, message: str) -> None:
    failed = [test for test in READ[name][0](DATA / name) if test.outcome == F]
    assert message in failed[0].message


def test_what_go_would_have_printed_is_shown() -> None:
    shown = gotest.shown(DATA / "go-1.19.8.json")
    assert "--- FAIL: TestTable (0.00s)\n" in shown
    assert "FAIL\texample.com/m/bad [build failed]\n" in shown
    assert '"Action"' not in shown


def test_a_go_package_that_fails_outside_of_its_tests_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "r").write_text('{"Action":"pass","Package":"m","Test":"T"}\n{"Action":"fail","Package":"m"}\n')
    assert {test.name: test.outcome for test in gotest.read(tmp_path / "r")} == {"m.T": P, "m": E}


def test_a_line_that_is_too_deep_is_only_a_line(tmp_path: Path) -> None:
    (tmp_path / "r").write_text(
        '{"Action":"pass","x":' + "[" * 100_000 + '\n{"Action":"pass","Package":"m","Test":"T"}\n'
    )
    assert [test.name for test in gotest.read(tmp_path / "r")] == ["m.T"]


def test_rust_that_does_not_compile_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "r").write_text("error: could not compile `demo` (lib test) due to 1 previous error\n")
    assert [(test.name, test.outcome) for test in libtest.read(tmp_path / "r")] == [("demo", E)]


@pytest.mark.parametrize(
    "hostile",
    [
        b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><testsuite><testcase name="&b;"/></testsuite>',
        b'<!DOCTYPE a SYSTEM "file:///etc/passwd"><testsuite/>',
        b'<testsuite><testcase name="a"/>',
        b"<a>" * 500 + b"</a>" * 500,
        b"",
        '<!DOCTYPE a [<!ENTITY b "c">]><testsuite/>'.encode("utf-16"),
        b'<testsuite><testcase name="&undeclared;"/></testsuite>',
        b'<?xml version="1.0" encoding="no-such-encoding"?><testsuite><testcase name="a"/></testsuite>',
        b'<?xml version="1.0" encoding="utf-7"?><testsuite><testcase name="a"/></testsuite>',
    ],
)
def test_hostile_xml_is_no_evidence(tmp_path: Path, hostile: bytes) -> None:
    (tmp_path / "report.xml").write_bytes(hostile)
    with pytest.raises(Unreadable):
        junit.read(tmp_path / "report.xml")


def test_a_report_that_is_missing_a_link_a_pipe_or_too_large_is_no_evidence(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("<testsuite/>")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as large:
        large.truncate(64 * 1024 * 1024 + 1)
    for name in ("missing", "link", "pipe", "large"):
        with pytest.raises(Unreadable, match=r"left no report|has more than"):
            junit.read(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b"{}", b"null", b'{"testResults": 1}', b'{"examples": [{}]}', b'[["a", "b"]]'),
        *(b'{"a": "\xff"}', b'{"a":' + b"[" * 100_000),
    ],
    ids=range(9),
)
def test_json_of_another_shape_is_no_evidence(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "r").write_bytes(text)
    readers: list[Callable[[Path], list[TestResult]]] = [
        lambda path: jest.read(path, ROOT),
        lambda path: mocha.read(path, ROOT),
        lambda path: rspec.read(path, ROOT),
        pyunit.read,
    ]
    for read in readers:
        with pytest.raises(Unreadable):
            read(tmp_path / "r")


def test_a_failure_is_not_taken_back_by_what_follows_it(tmp_path: Path) -> None:
    (tmp_path / "r").write_text('<testsuite><testcase name="a"><failure/><skipped/></testcase></testsuite>')
    assert [test.outcome for test in junit.read(tmp_path / "r")] == [F]


def test_an_outcome_nobody_knows_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "r").write_text('[["a", "splendid", ""]]')
    assert pyunit.read(tmp_path / "r") == [TestResult("a", E)]


def test_a_green_entry_does_not_hide_a_red_one_of_the_same_name() -> None:
    results = [TestResult("a", P), TestResult("a", F), TestResult("a", P), TestResult("b", S), TestResult("b", P)]
    assert [(test.name, test.outcome) for test in fold(results)] == [("a", F), ("b", S)]


def test_names_are_the_same_wherever_the_tree_lies(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    assert from_root(tmp_path / "link", f"{tmp_path}/a.js") == "a.js"
    assert from_root(tmp_path, "./a.js") == "a.js"
    assert from_root(tmp_path, "/elsewhere/a.js") == "/elsewhere/a.js"

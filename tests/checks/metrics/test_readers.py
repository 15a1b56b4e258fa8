"""Readers against what the real tools wrote (data/coverage/TOOL-VERSION) and against reports that cannot be true."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from untilproven.checks.metrics.readers import cobertura, coverage_py, gocover, istanbul, jacoco, lcov
from untilproven.checks.metrics.readers.counted import Counted, Share
from untilproven.checks.reports.results import Unreadable

DATA = Path(__file__).parents[2] / "data" / "coverage"
Read = Callable[[bytes], Counted]
PYTHON = {"src/shop/__init__.py": (0, 0), "src/shop/cart.py": (4, 6), "src/shop/pay.py": (3, 4)}
CART = {"/project/cart.js": (3, 4)}

REAL: dict[str, tuple[Read, Share, Share | None, dict[str, tuple[int, int]]]] = {
    "coverage-py-7.17.2.xml": (cobertura.read, Share(7, 10), Share(2, 4), PYTHON),
    "coverage-py-7.17.2.json": (coverage_py.read, Share(7, 10), Share(2, 4), PYTHON),
    "coverage-py-7.17.2.lcov": (lcov.read, Share(7, 10), Share(2, 4), PYTHON),
    "nyc-18.0.0-cobertura-coverage.xml": (cobertura.read, Share(3, 4), Share(2, 3), {"cart.js": (3, 4)}),
    "nyc-18.0.0-coverage-summary.json": (istanbul.summary, Share(3, 4), Share(2, 3), CART),
    "nyc-18.0.0-coverage-final.json": (istanbul.final, Share(3, 4), Share(2, 3), CART),
    "nyc-18.0.0-lcov.info": (lcov.read, Share(3, 4), Share(2, 3), {"cart.js": (3, 4)}),
    "go-1.27.3.out": (
        gocover.read,
        Share(5, 8),
        None,
        {"example.com/shop/shop.go": (5, 6), "example.com/shop/pay/pay.go": (0, 2)},
    ),
    "jacoco-documented.xml": (
        jacoco.read,
        Share(4, 8),
        Share(3, 4),
        {"com/acme/shop/Cart.java": (4, 5), "com/acme/pay/Pay.kt": (0, 3)},
    ),
}
READERS = {
    "cobertura": cobertura.read,
    "coverage.py": coverage_py.read,
    "summary": istanbul.summary,
    "final": istanbul.final,
    "lcov": lcov.read,
    "go": gocover.read,
    "jacoco": jacoco.read,
}


@pytest.mark.parametrize("name", REAL)
def test_what_the_real_tools_write_is_read(name: str) -> None:
    read, lines, branches, files = REAL[name]
    found = read((DATA / name).read_bytes())
    assert (found.lines, found.branches, dict(found.files)) == (lines, branches, files)


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@pytest.mark.parametrize("name", REAL)
@given(cut=st.floats(0, 0.98), put=st.binary(max_size=20))
def test_a_damaged_report_is_refused_and_never_raises_anything_else(
    name: str, read: Read, cut: float, put: bytes
) -> None:
    """Each reader is also given what another tool wrote."""
    whole = (DATA / name).read_bytes()
    at = int(cut * len(whole))
    for damaged in (whole[:at] + put, whole[:at] + put + whole[at:]):
        try:
            found = read(damaged)
        except Unreadable:
            continue
        assert 0 <= found.lines.covered <= found.lines.valid


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
@given(garbage=st.binary(max_size=300) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
@example(garbage=b"")
@example(garbage=b"[" * 100_000)
@example(garbage=b'{"a":' * 100_000)
@example(garbage=b'<?xml version="1.0" encoding="bogus"?><coverage line-rate="1"/>')
@example(garbage=b'<?xml version="1.0" encoding="utf-7"?><report/>')
@example(garbage=b'<coverage line-rate="many"/>')
@example(garbage=b'<coverage lines-valid="' + b"9" * 5000 + b'" lines-covered="1"/>')
@example(garbage=b"<a>" * 1000)
@example(garbage=b"SF:a\nDA:1," + b"9" * 5000 + b"\nend_of_record\n")
@example(garbage=b"mode: set\na.go:1.1,2.2 1 " + b"9" * 5000 + b"\n")
def test_garbage_is_refused_and_never_raises_anything_else(read: Read, garbage: bytes) -> None:
    try:
        found = read(garbage)
    except Unreadable:
        return
    assert 0 <= found.lines.covered <= found.lines.valid


@pytest.mark.parametrize(
    ("read", "report"),
    [
        (cobertura.read, '<coverage line-rate="1.2"/>'),
        (cobertura.read, '<coverage line-rate="-0.1"/>'),
        (cobertura.read, '<coverage line-rate="nan"/>'),
        (cobertura.read, '<coverage lines-covered="11" lines-valid="10"/>'),
        (cobertura.read, '<coverage lines-covered="-1" lines-valid="10"/>'),
        (cobertura.read, '<coverage lines-covered="5" lines-valid="10" line-rate="0.9"/>'),
        (cobertura.read, '<coverage><class filename="a"><line number="1" hits="-1"/></class></coverage>'),
        (coverage_py.read, '{"files": {}, "totals": {"covered_lines": 3, "num_statements": 2}}'),
        (coverage_py.read, '{"files": {}, "totals": {"covered_lines": -3, "num_statements": 2}}'),
        (istanbul.summary, '{"total": {"lines": {"total": 1, "covered": 2}, "branches": {"total": 0, "covered": 0}}}'),
        (istanbul.final, '{"a.js": {"statementMap": {"0": {"start": {"line": 1}}}, "s": {"0": -1}}}'),
        (istanbul.final, '{"a.js": {"statementMap": {"0": {"start": {"line": 1}}}, "s": {}}}'),
        (lcov.read, "SF:a\nDA:1,-1\nend_of_record\n"),
        (lcov.read, "SF:a\nDA:1,-1\nDA:1,5\nend_of_record\n"),
        (lcov.read, "SF:a\nDA:1,1\n"),
        (lcov.read, "DA:1,1\n"),
        (gocover.read, "mode: set\na.go:1.1,2.2 1 -1\n"),
        (gocover.read, "mode: set\na.go:1.1,2.2 1 1\na.go:1.1,2.2 2 1\n"),
        (gocover.read, "a.go:1.1,2.2 1 1\n"),
        (jacoco.read, '<report><counter type="LINE" missed="-2" covered="1"/></report>'),
        (jacoco.read, '<report><counter type="LINE" missed="2" covered="-1"/></report>'),
        (jacoco.read, '<report><counter type="INSTRUCTION" missed="2" covered="1"/></report>'),
    ],
)
def test_a_report_that_contradicts_itself_is_refused(read: Read, report: str) -> None:
    with pytest.raises(Unreadable):
        read(report.encode())


@pytest.mark.parametrize("read", [cobertura.read, jacoco.read])
def test_a_document_type_is_named_at_most_and_never_declared(read: Read) -> None:
    body = b'<report><counter type="LINE" missed="1" covered="1"/></report>'
    body = body if read is jacoco.read else b'<coverage lines-covered="1" lines-valid="2"/>'
    assert read(b'<!DOCTYPE report SYSTEM "file:///etc/passwd">' + body).lines == Share(1, 2)
    with pytest.raises(Unreadable, match="DOCTYPE"):
        read(b'<!DOCTYPE report [<!ENTITY a "b">]>' + body)


def test_lines_of_methods_are_not_counted_a_second_time() -> None:
    report = (
        '<coverage><class filename="a.js">'
        '<methods><method><lines><line number="1" hits="9"/></lines></method></methods>'
        '<lines><line number="2" hits="0"/><line number="3" hits="1"/></lines></class>'
        '<class filename="a.js"><lines><line number="2" hits="4"/></lines></class></coverage>'
    )
    assert cobertura.read(report.encode()).files == {"a.js": Share(2, 2)}


def test_a_file_that_comes_again_in_lcov_is_put_together() -> None:
    report = "SF:a\nDA:1,0\nDA:2,1\nend_of_record\nSF:a\nDA:1,3\nDA:3,0\nend_of_record\n"
    assert lcov.read(report.encode()).files == {"a": Share(2, 3)}


def test_a_go_block_that_any_test_package_reached_is_covered() -> None:
    report = "mode: count\nm/a.go:1.1,2.2 3 0\nm/a.go:1.1,2.2 3 7\nm/a.go:1.1,2.2 3 0\nm/a.go:4.1,5.2 1 0\n"
    assert gocover.read(report.encode()).lines == Share(3, 4)

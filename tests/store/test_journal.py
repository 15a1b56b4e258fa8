import os
import resource
import signal
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support import MOMENT, iteration_events
from untilproven.core.projection import apply
from untilproven.errors import StoreFailed
from untilproven.model import events
from untilproven.store import journal, reader
from untilproven.store.journal import Damage, JournalWriter, Torn

LOOP = "ralph-fix-tests-a1b2c3d4"


def started(number: int) -> events.IterationStarted:
    return events.IterationStarted(iteration=number)


def write(path: Path, count: int) -> None:
    writer = JournalWriter(path, LOOP, seq=0)
    for number in range(1, count + 1):
        writer.append(writer.entries(MOMENT, started(number)), durable=False)
    writer.close()


def seqs(path: Path) -> list[int]:
    return [found.header.seq for found in journal.scan(path, LOOP) if isinstance(found, events.Entry)]


def troubles(path: Path) -> list[Damage | Torn]:
    return [found for found in journal.scan(path, LOOP) if isinstance(found, Damage | Torn)]


def test_a_line_is_one_object_with_the_header_first(tmp_path: Path) -> None:
    write(tmp_path / "j", 1)
    line = (tmp_path / "j").read_text()
    assert line.endswith("}\n")
    assert list(msgspec.json.decode(line)) == ["v", "ts", "loop_id", "seq", "type", "iteration"]


@pytest.mark.parametrize("event", [started(1), *iteration_events(1)], ids=lambda event: type(event).__name__)
def test_an_event_reads_back_as_it_was_written(event: events.Event) -> None:
    entry = events.Entry(journal.header_of(LOOP, 7, MOMENT, event), event)
    assert journal.decode(journal.encode(entry)) == entry


def test_a_later_versions_event_is_kept_as_a_header_and_its_extra_fields_ignored() -> None:
    line = b'{"v":1,"ts":"2026-02-02T21:00:00Z","loop_id":"%s","seq":3,"type":"moon.landed","who":"us"}'
    entry = journal.decode(line % LOOP.encode())
    assert (entry.header.type, entry.event) == ("moon.landed", None)
    known = line.replace(b"moon.landed", b"iteration.started").replace(b'"who"', b'"iteration":5,"who"')
    assert journal.decode(known % LOOP.encode()).event == started(5)


def test_a_torn_last_line_is_told_apart_and_costs_nothing_else(tmp_path: Path) -> None:
    write(tmp_path / "j", 3)
    data = (tmp_path / "j").read_bytes()
    (tmp_path / "j").write_bytes(data[:-5])
    assert seqs(tmp_path / "j") == [1, 2]
    (torn,) = troubles(tmp_path / "j")
    assert isinstance(torn, Torn)
    assert data[: torn.offset] + torn.data == data[:-5]


@pytest.mark.parametrize(
    "junk",
    [b"garbage\n", b"\x00" * 50 + b"\n", b"\n", b"[]\n", b'{"v":2}\n', b"\xff\xfe\n", b"[" * 5000 + b"\n"],
)
def test_an_unreadable_line_in_the_middle_never_empties_the_rest(tmp_path: Path, junk: bytes) -> None:
    write(tmp_path / "j", 4)
    lines = (tmp_path / "j").read_bytes().splitlines(keepends=True)
    (tmp_path / "j").write_bytes(lines[0] + junk + b"".join(lines[1:]))
    assert seqs(tmp_path / "j") == [1, 2, 3, 4]
    (damage,) = troubles(tmp_path / "j")
    assert isinstance(damage, Damage)
    assert damage.where == "line 2"


def test_missing_repeated_and_strange_lines_are_reported(tmp_path: Path) -> None:
    write(tmp_path / "j", 4)
    one, two, _, four = (tmp_path / "j").read_bytes().splitlines(keepends=True)
    stranger = two.replace(LOOP.encode(), b"ralph-other-00000000")
    (tmp_path / "j").write_bytes(one + stranger + two + one + four)
    assert seqs(tmp_path / "j") == [1, 2, 4]
    reasons = [trouble.reason for trouble in troubles(tmp_path / "j") if isinstance(trouble, Damage)]
    assert reasons == ["belongs to ralph-other-00000000", "seq 1 comes again", "seq 3 to 3 missing before it"]


def test_a_line_too_long_to_believe_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LINE_LIMIT", 1000)
    write(tmp_path / "j", 2)
    one, two = (tmp_path / "j").read_bytes().splitlines(keepends=True)
    (tmp_path / "j").write_bytes(one + b"x" * 5000 + b"\n" + two)
    assert seqs(tmp_path / "j") == [1, 2]
    assert "5001 bytes in one line" in str(troubles(tmp_path / "j"))


@settings(max_examples=60)
@given(st.data())
def test_whatever_happens_to_the_bytes_all_whole_lines_are_still_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("j") / "j"
    write(path, 8)
    original = path.read_bytes()
    lines = original.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(original) - 1))
    length = data.draw(st.integers(1, 200))
    junk = data.draw(st.binary(min_size=length, max_size=length)).replace(b"\n", b"?")
    spoilt = original[:at] + junk + original[at + length :]
    path.write_bytes(spoilt)
    first = original[:at].count(b"\n")
    last = original[: min(at + length, len(original))].count(b"\n")
    untouched = [place + 1 for place in range(len(lines)) if place < first or place > last]
    assert set(untouched) <= set(seqs(path))


def test_the_newest_seq_is_found_from_the_end(tmp_path: Path) -> None:
    write(tmp_path / "j", 1500)
    assert reader.last_seq(tmp_path / "j") == 1500
    with (tmp_path / "j").open("ab") as file:
        file.write(b'{"torn')
    assert reader.last_seq(tmp_path / "j") == 1500
    (tmp_path / "j").write_bytes(b"")
    assert reader.last_seq(tmp_path / "j") is None


def test_a_write_that_fails_half_way_leaves_no_trace(tmp_path: Path) -> None:
    """The file may grow by 100 bytes and no more: the line does not fit."""
    path = tmp_path / "j"
    write(path, 3)
    before = path.read_bytes()
    writer = JournalWriter(path, LOOP, seq=3)
    previous = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
    try:
        with pytest.raises(StoreFailed, match="no room left"):
            writer.append(writer.entries(MOMENT, started(4)), durable=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, previous)
    assert path.read_bytes() == before
    writer.append(writer.entries(MOMENT, started(4)), durable=True)
    assert seqs(path) == [1, 2, 3, 4]


def test_a_journal_that_was_deleted_or_replaced_is_not_written_into_the_void(tmp_path: Path) -> None:
    path = tmp_path / "j"
    writer = JournalWriter(path, LOOP, seq=0)
    path.unlink()
    with pytest.raises(StoreFailed, match="gone"):
        writer.append(writer.entries(MOMENT, started(1)), durable=True)
    path.write_bytes(b"")
    os.sync()
    with pytest.raises(StoreFailed, match="replaced"):
        writer.append(writer.entries(MOMENT, started(1)), durable=True)


def test_an_event_that_could_not_be_read_back_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "LINE_LIMIT", 100)
    writer = JournalWriter(tmp_path / "j", LOOP, seq=0)
    with pytest.raises(StoreFailed, match="larger than"):
        writer.append(writer.entries(MOMENT, *iteration_events(1)), durable=True)
    assert (tmp_path / "j").read_bytes() == b""


def test_a_journal_must_begin_at_the_beginning() -> None:
    entry = events.Entry(journal.header_of(LOOP, 1, MOMENT, started(1)), started(1))
    with pytest.raises(Exception, match=r"begins with iteration\.started"):
        apply(None, entry)

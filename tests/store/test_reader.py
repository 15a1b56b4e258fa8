"""Whatever happens to the files, the last good copy or the journal serves, and the damage is said."""

import msgspec
import pytest

from support import run_iteration
from untilproven.errors import Damaged, Foreign, InvalidName, NoSuchLoop
from untilproven.model import events, wire
from untilproven.store import files, reader, replay
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state
from untilproven.store.writer import LoopWriter

JUNK = {
    "empty": b"",
    "zeros": b"\x00" * 5000,
    "text": b"not json at all",
    "list": b"[]",
    "deep": b'{"version":' + b"[" * 300_000,
    "version 1": b'{"version":"1.0.0","loop_id":"ralph-a-00000000","status":"running","iteration":1}',
    "version 3": b'{"version":"3.1.0","loop_id":"ralph-a-00000000","status":"running","iteration":1}',
    "somebody else's": b'{"version":"2.0.0","loop_id":"ralph-a-00000000","status":"running","iteration":1}',
    "not utf-8": b'{"task":"\xff\xfe"}',
}


@pytest.fixture
def writer(project: Project) -> LoopWriter:
    made = create_state(project, "fix")
    run_iteration(made, 1)
    run_iteration(made, 2)
    return made


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK.keys())
def test_a_damaged_state_file_is_served_by_copy_or_journal(project: Project, writer: LoopWriter, junk: bytes) -> None:
    writer.loop.state.write_bytes(junk)
    seen = reader.view(project.state, writer.state.loop_id)
    assert seen.state == writer.state
    assert seen.damage
    assert not seen.foreign
    assert writer.loop.state.read_bytes() == junk


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK.keys())
def test_with_both_copies_damaged_the_journal_serves(project: Project, writer: LoopWriter, junk: bytes) -> None:
    writer.loop.state.write_bytes(junk)
    files.backup_of(writer.loop.state).write_bytes(junk)
    seen = reader.view(project.state, writer.state.loop_id)
    assert (seen.state, seen.source) == (writer.state, "events.jsonl")
    assert len(seen.damage) == 2


@pytest.mark.parametrize("junk", [b"", b"junk\n" * 10, b"\x00" * 5000, b"[" * 300_000 + b"\n"])
def test_a_damaged_journal_is_served_by_the_state_file(project: Project, writer: LoopWriter, junk: bytes) -> None:
    writer.loop.journal.write_bytes(junk)
    seen = reader.view(project.state, writer.state.loop_id)
    assert seen.state == writer.state
    assert seen.damage


def test_a_state_file_cut_anywhere_is_never_believed_in_part(project: Project, writer: LoopWriter) -> None:
    whole = writer.loop.state.read_bytes()
    for size in range(0, len(whole) - 2, max(1, len(whole) // 50)):
        writer.loop.state.write_bytes(whole[:size])
        assert reader.view(project.state, writer.state.loop_id).state == writer.state


def test_when_nothing_can_be_read_it_is_an_error_and_never_an_empty_loop(project: Project, writer: LoopWriter) -> None:
    for path in (writer.loop.state, files.backup_of(writer.loop.state), writer.loop.journal):
        path.write_bytes(b"junk")
    with pytest.raises(Damaged) as found:
        reader.view(project.state, writer.state.loop_id)
    assert "state.json is not valid" in found.value.message
    assert "events.jsonl" in found.value.message
    assert str(writer.loop.path) in found.value.hint


def test_a_state_that_lags_behind_the_journal_is_brought_up_to_date(project: Project, writer: LoopWriter) -> None:
    """The writer was killed after the journal and before state.json."""
    old = writer.loop.state.read_bytes()
    run_iteration(writer, 3)
    writer.loop.state.write_bytes(old)
    seen = reader.view(project.state, writer.state.loop_id)
    assert seen.state == writer.state
    assert seen.damage == ()


def test_a_state_a_few_lines_behind_is_brought_up_to_date_without_reading_the_whole_journal(
    project: Project, writer: LoopWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = writer.loop.state.read_bytes()
    writer.record(events.IterationStarted(iteration=3), durable=False)
    writer.loop.state.write_bytes(before)
    monkeypatch.setattr(replay, "replay_journal", None)
    seen = reader.view(project.state, writer.state.loop_id)
    assert seen.state.iteration_in_progress == 3
    assert (seen.state, seen.damage) == (writer.state, ())


def test_last_lines_with_a_gap_or_junk_among_them_are_not_guessed_at(project: Project, writer: LoopWriter) -> None:
    old = writer.loop.state.read_bytes()
    run_iteration(writer, 3)
    writer.loop.state.write_bytes(old)
    lines = writer.loop.journal.read_bytes().splitlines(keepends=True)
    writer.loop.journal.write_bytes(b"".join([*lines[:-2], b"junk\n", lines[-1]]))
    seen = reader.view(project.state, writer.state.loop_id)
    assert seen.state.iteration == 3
    assert any("not readable" in line for line in seen.damage)
    assert any("missing before it" in line for line in seen.damage)


def test_a_journal_that_lost_its_end_is_reported(project: Project, writer: LoopWriter) -> None:
    lines = writer.loop.journal.read_bytes().splitlines(keepends=True)
    writer.loop.journal.write_bytes(b"".join(lines[:2]))
    seen = reader.view(project.state, writer.state.loop_id)
    assert seen.state == writer.state
    assert "ends at seq 2" in seen.damage[0]


def test_a_huge_state_file_is_not_swallowed(project: Project, writer: LoopWriter) -> None:
    with writer.loop.state.open("r+b") as file:
        file.truncate(files.READ_LIMIT + 1)
    seen = reader.view(project.state, writer.state.loop_id)
    assert seen.state == writer.state
    assert "is not believed" in seen.damage[0]


def test_a_pipe_or_a_link_in_place_of_a_file_is_neither_waited_for_nor_followed(
    project: Project, writer: LoopWriter
) -> None:
    import os  # noqa: PLC0415  only here

    copy = project.root / "copy.json"
    writer.loop.state.rename(copy)
    os.mkfifo(writer.loop.state)
    assert "not a regular file" in reader.view(project.state, writer.state.loop_id).damage[0]
    writer.loop.state.unlink()
    writer.loop.state.symlink_to(copy)
    assert "symbolic link" in reader.view(project.state, writer.state.loop_id).damage[0]


def test_unknown_keys_in_a_later_versions_state_are_seen(project: Project, writer: LoopWriter) -> None:
    raw = {**msgspec.json.decode(writer.loop.state.read_bytes()), "version": "2.9.0", "x-new": [1]}
    writer.loop.state.write_bytes(msgspec.json.encode(raw))
    seen = reader.view(project.state, writer.state.loop_id)
    assert seen.damage == ()
    assert msgspec.json.decode(wire.encode(seen.state))["x-new"] == [1]


def test_an_id_that_is_not_one_never_reaches_the_disk(project: Project) -> None:
    for bad in ("../loops", "a/b", "", "ralph-x-0000000\n0", "x" * 10_000):
        with pytest.raises(InvalidName):
            reader.view(project.state, bad)
    with pytest.raises(NoSuchLoop):
        reader.view(project.state, "ralph-none-00000000")


def test_a_linked_loop_directory_is_refused(project: Project, writer: LoopWriter) -> None:
    elsewhere = project.root / "elsewhere"
    writer.loop.path.rename(elsewhere)
    writer.loop.path.symlink_to(elsewhere)
    with pytest.raises(Foreign, match="symbolic link"):
        reader.view(project.state, writer.state.loop_id)


def test_a_changed_code_in_one_copy_does_not_make_our_own_loop_foreign(project: Project, writer: LoopWriter) -> None:
    raw = msgspec.json.decode(writer.loop.state.read_bytes())
    raw["vouch"] = "0" + raw["vouch"][1:] if raw["vouch"][0] != "0" else "1" + raw["vouch"][1:]
    writer.loop.state.write_bytes(msgspec.json.encode(raw))
    seen = reader.view(project.state, writer.state.loop_id)
    assert not seen.foreign
    assert "is not what was written" in seen.damage[0]


def test_a_journal_full_of_rubbish_is_reported_in_a_few_lines(project: Project, writer: LoopWriter) -> None:
    writer.loop.journal.write_bytes(b"x\n" * 100_000)
    writer.loop.state.write_bytes(b"junk")
    files.backup_of(writer.loop.state).unlink()
    with pytest.raises(Damaged) as found:
        reader.view(project.state, writer.state.loop_id)
    assert "99980 more like these" in found.value.message
    assert len(found.value.message) < 5000


def test_a_missing_journal_is_damage_even_if_the_state_is_good(project: Project, writer: LoopWriter) -> None:
    writer.loop.journal.unlink()
    assert reader.view(project.state, writer.state.loop_id).damage == ("events.jsonl is missing",)

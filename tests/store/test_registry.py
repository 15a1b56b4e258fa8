import errno
from pathlib import Path

import msgspec
import pytest

from sources import examples
from support import SetClock
from untilproven.errors import NoSlot, NoSuchLoop, StoreFailed
from untilproven.model import wire
from untilproven.model.registry import Registry
from untilproven.model.status import Status
from untilproven.store import files
from untilproven.store.layout import Project
from untilproven.store.lifecycle import create_state
from untilproven.store.registry import open_registry, read_registry


def names(project: Project) -> list[str]:
    return [entry.loop_id for entry in read_registry(project.state).registry.active_loops]


def test_a_fifth_loop_is_refused_with_the_list_and_leaves_nothing_behind(project: Project) -> None:
    four = [create_state(project, f"task {number}") for number in range(4)]
    before = sorted(project.state.loops.iterdir())
    with pytest.raises(NoSlot) as refused:
        create_state(project, "one too many")
    assert refused.value.exit_code == 7
    assert [row["loop_id"] for row in refused.value.details["active_loops"]] == names(project)
    assert "17.2x" in refused.value.message
    assert all(writer.state.loop_id in refused.value.message for writer in four)
    assert "ralph abort" in refused.value.hint
    assert sorted(project.state.loops.iterdir()) == before
    four[0].transition_status(Status.ABORTED)
    create_state(project, "now there is room")


def test_registering_checks_what_the_document_says(project: Project) -> None:
    with create_state(project, "fix") as writer, open_registry(project.state) as registry:
        with pytest.raises(StoreFailed, match="already"):
            registry.register_loop(writer.state)
        stranger = msgspec.structs.replace(writer.state, loop_id="ralph-none-00000000")
        with pytest.raises(StoreFailed, match="no state file"):
            registry.register_loop(stranger)
        with pytest.raises(NoSuchLoop):
            registry.deregister_loop("ralph-none-00000000")
        with pytest.raises(NoSuchLoop):
            registry.update_heartbeat(stranger)


def deregister(project: Project, *loop_ids: str) -> None:
    with open_registry(project.state) as registry:
        for loop_id in loop_ids:
            registry.deregister_loop(loop_id)


def test_an_error_inside_leaves_the_registry_as_it_was(project: Project) -> None:
    with create_state(project, "fix") as writer:
        before = project.state.registry.read_bytes()
        with pytest.raises(NoSuchLoop):
            deregister(project, writer.state.loop_id, "ralph-none-00000000")
        assert project.state.registry.read_bytes() == before


def test_a_heartbeat_says_when_how_far_and_in_what_state(project: Project) -> None:
    clock = SetClock()
    with create_state(project, "fix", time=clock) as writer:
        clock.move(seconds=60)
        writer.update_heartbeat()
        (entry,) = read_registry(project.state).registry.active_loops
        assert entry.last_active == clock()
        assert entry.state_file == f".aiwg/ralph/loops/{writer.state.loop_id}/state.json"


@pytest.mark.parametrize(
    "junk", [b"", b"garbage", b"\x00" * 4096, b"{}", b"[" * 100_000, b'{"version":"x","active_loops":[]}']
)
def test_a_damaged_registry_is_served_by_its_last_good_copy_and_kept_aside(project: Project, junk: bytes) -> None:
    first, second = create_state(project, "one"), create_state(project, "two")
    expected = names(project)
    first.update_heartbeat()
    project.state.registry.write_bytes(junk)
    found = read_registry(project.state)
    assert [entry.loop_id for entry in found.registry.active_loops] == expected
    assert found.damage
    second.update_heartbeat()
    assert read_registry(project.state).damage == ()
    assert names(project) == expected
    assert (project.state.path / "registry.json.damaged").read_bytes() == junk


def test_without_any_good_copy_the_registry_is_made_again_from_the_loops(project: Project) -> None:
    writers = [create_state(project, "one"), create_state(project, "two")]
    writers[1].transition_status(Status.ABORTED)
    project.state.registry.write_bytes(b"junk")
    files.backup_of(project.state.registry).write_bytes(b"junk")
    found = read_registry(project.state)
    assert [entry.loop_id for entry in found.registry.active_loops] == [writers[0].state.loop_id]
    assert "made again" in found.damage[-1]


def test_a_deleted_registry_does_not_free_the_slots_of_running_loops(project: Project) -> None:
    writers = [create_state(project, f"task {number}") for number in range(4)]
    project.state.registry.unlink()
    files.backup_of(project.state.registry).unlink()
    with pytest.raises(NoSlot):
        create_state(project, "fifth")
    assert {writer.state.loop_id for writer in writers} == set(names(project))


def test_unknown_keys_of_a_later_version_stay(project: Project) -> None:
    with create_state(project, "fix") as writer:
        raw = msgspec.json.decode(project.state.registry.read_bytes())
        raw["version"] = "2.7.1"
        raw["x-fleet"] = {"machine": "a"}
        raw["active_loops"][0]["x-color"] = "red"
        project.state.registry.write_bytes(msgspec.json.encode(raw))
        writer.update_heartbeat()
        after = msgspec.json.decode(project.state.registry.read_bytes())
        assert after["version"] == "2.7.1"
        assert after["x-fleet"] == {"machine": "a"}
        assert after["active_loops"][0]["x-color"] == "red"


def test_entries_that_are_not_ours_take_no_slot_from_us(project: Project) -> None:
    """A registry that came with a clone, with four loops that somebody else is said to run."""
    project.state.make()
    example = wire.decode(Registry, msgspec.json.encode(examples()["registry"]))
    for number, entry in enumerate(example.active_loops):
        loop = project.state.loops / entry.loop_id
        loop.mkdir()
        state = {**examples()["state"], "loop_id": entry.loop_id, "pid": 1}
        (loop / "state.json").write_bytes(msgspec.json.encode(state))
        assert number < 2
    project.state.registry.write_bytes(wire.encode(example))
    for number in range(4):
        create_state(project, f"ours {number}")
    assert len(names(project)) == 4
    with pytest.raises(NoSlot):
        create_state(project, "fifth")
    assert (project.state.loops / example.active_loops[0].loop_id / "state.json").exists()


def test_a_damaged_registry_never_lets_a_fifth_loop_in(project: Project) -> None:
    """Its last good copy is one registration behind."""
    writers = [create_state(project, f"task {number}") for number in range(4)]
    project.state.registry.write_bytes(b"{garbage")
    with pytest.raises(NoSlot):
        create_state(project, "fifth")
    for writer in writers:
        writer.update_heartbeat()
    assert len(names(project)) == 4


def test_a_registry_that_cannot_be_read_just_now_is_not_replaced_by_a_guess(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    create_state(project, "one").close()
    before = project.state.registry.read_bytes()
    real = files.read

    def failing(path: Path, limit: int = files.READ_LIMIT) -> bytes:
        if path == project.state.registry:
            raise OSError(errno.EIO, "Input/output error")
        return real(path, limit)

    monkeypatch.setattr(files, "read", failing)
    with pytest.raises(StoreFailed, match="cannot be read"):
        create_state(project, "two")
    assert project.state.registry.read_bytes() == before


def test_a_file_system_without_hard_links_will_do(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    create_state(project, "the key is made with a link").close()

    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr("os.link", refused)
    with create_state(project, "fix") as writer:
        writer.update_heartbeat()
    assert files.backup_of(project.state.registry).stat().st_nlink == 1


def test_a_registry_made_again_holds_no_loop_that_has_ended_since(project: Project) -> None:
    writers = [create_state(project, f"task {number}") for number in range(4)]
    writers[0].transition_status(Status.ABORTED)
    project.state.registry.write_bytes(b"junk")
    assert set(names(project)) == {writer.state.loop_id for writer in writers[1:]}
    create_state(project, "takes the free place").close()


def test_a_registry_of_a_later_version_is_left_alone(project: Project) -> None:
    create_state(project, "one").close()
    later = b'{"version":"3.1.0","active_loops":[]}'
    project.state.registry.write_bytes(later)
    with pytest.raises(StoreFailed, match="later version"):
        create_state(project, "two")
    assert project.state.registry.read_bytes() == later

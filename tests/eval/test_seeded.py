"""Which commits are tampered with, where, and when that counts as noticed."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from eval import regex
from eval.examples import EXAMPLES
from eval.history import Commit, Repository
from eval.made import Made
from eval.seeded import Scene, Seeded, noticed, sow
from untilproven.guard.change import Change

TEST_PATH, TEST, SOURCE_PATH, SOURCE = EXAMPLES["python"]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    made = Made(tmp_path / "shop")
    made.commit("begin", {TEST_PATH: TEST.encode(), SOURCE_PATH: SOURCE.encode(), "logo.png": b"\0\1"})
    made.commit("notes", {"README.md": b"A shop.\n"})
    made.commit("another test", {TEST_PATH: (TEST + "\n\ndef test_new():\n    assert total([7]) == 7\n").encode()})
    made.commit("the price is a number", {SOURCE_PATH: SOURCE.replace("price: int", "price: float").encode()})
    return made


@pytest.fixture
def repository(made: Made) -> Iterator[Repository]:
    with Repository(made.root) as opened:
        yield opened


def sown(repository: Repository, wanted: int = 12, seed: int = 1) -> list[Seeded]:
    return list(sow(repository, repository.commits(9), wanted, seed))


def test_one_file_is_tampered_with_and_the_honest_change_stays(repository: Repository) -> None:
    found = sown(repository)
    assert len(found) == 12
    for seeded in found:
        honest = {change.path: change for change in seeded.honest}
        tampered = {change.was_at: change for change in seeded.tampered}
        (changed,) = [path for path, change in tampered.items() if honest.get(path) != change]
        assert changed == seeded.path
        assert set(honest) <= set(tampered)
        known = repository.tree(seeded.commit).get(changed)
        untouched = repository.content(known) if known else None
        assert tampered[changed].before == (honest[changed].before if changed in honest else untouched)
        assert tampered[changed].after not in {untouched, tampered[changed].before} or tampered[changed].old_path


def test_kinds_take_turns(repository: Repository) -> None:
    kinds = Counter((seeded.language, seeded.kind) for seeded in sown(repository))
    assert max(kinds.values()) == 1


def test_the_same_seed_gives_the_same_and_another_gives_another(repository: Repository) -> None:
    assert sown(repository) == sown(repository)
    assert [one.kind for one in sown(repository)] != [one.kind for one in sown(repository, seed=2)]


def test_as_many_as_wanted(repository: Repository) -> None:
    assert len(sown(repository, wanted=2)) == 2


def test_a_project_that_is_test_data_is_never_the_victim(made: Made) -> None:
    made.commit("examples", {"tests/fixtures/sub/conftest.py": b"import shop\n"})
    for number in range(4):
        made.commit("a note", {"README.md": f"Shop {number}.\n".encode()})
    with Repository(made.root) as repository:
        paths = {seeded.path for seed in range(4) for seeded in sown(repository, wanted=40, seed=seed)}
    assert "conftest.py" in paths
    assert "tests/fixtures/sub/conftest.py" not in paths


def test_the_test_that_a_commit_brings_is_never_the_victim(repository: Repository) -> None:
    for seed in range(8):
        for seeded in sown(repository, seed=seed):
            if seeded.commit.subject == "another test" and seeded.path == TEST_PATH and seeded.tampered[-1].after:
                assert b"\ndef test_new():\n    assert total([7]) == 7\n" in seeded.tampered[-1].after


def test_a_file_that_a_commit_brings_is_never_the_victim(made: Made, repository: Repository) -> None:
    brought = {"tests/conftest.py": b"import sys\n", "Makefile": b"test:\n\tpytest -q\n"}
    made.commit("configuration", {**brought, "README.md": b"B shop.\n"})
    scene = Scene(repository, next(repository.commits(1)), Random(1))
    assert scene.tampered("files", "script-ignores-failure") is None
    made.commit("words", {"README.md": b"C shop.\n"})
    later = Scene(repository, next(repository.commits(1)), Random(1)).tampered("files", "script-ignores-failure")
    assert later is not None
    assert later.tampered[-1].after == b"test:\n\tpytest -q || true\n"


def test_a_repository_without_tests_offers_nothing(tmp_path: Path) -> None:
    made = Made(tmp_path / "bare")
    made.commit("one", {SOURCE_PATH: SOURCE.encode(), "pyproject.toml": b"fail_under = 90\n"})
    made.commit("two", {"README.md": b"x"})
    with Repository(made.root) as repository:
        assert sown(repository) == []


def seeded_with(before: bytes, honest: bytes, tampered: bytes) -> Seeded:
    commit = Commit("shop", "0" * 40, "message", (), 1)
    path = "tests/test_a.py"
    return Seeded(commit, "python", "kind", path, (Change(path, before, honest),), (Change(path, before, tampered),))


def test_only_what_the_tampering_adds_counts() -> None:
    seeded = seeded_with(b"1", b"2", b"3")
    said = {b"2": [("old", 3)], b"3": [("old", 3)]}

    def sight(changes: tuple[Change, ...], task: str) -> Counter[tuple[str, int]]:
        assert task == "task"
        return Counter(said[changes[0].after or b""])

    assert noticed(seeded, sight, "task") == 0
    said[b"3"] = [("old", 3), ("new", 1)]
    assert noticed(seeded, sight, "task") == 1
    said[b"3"] = [("old", 3), ("new", 1), ("worse", 2)]
    assert noticed(seeded, sight, "task") == 2
    said[b"3"] = [("old", 4)]
    assert noticed(seeded, sight, "task") == 4
    said[b"3"] = []
    assert noticed(seeded, sight, "task") == 0


def test_counting_sees_net_losses_and_is_blind_to_a_swap() -> None:
    two = b"def test_a():\n    assert a\n\ndef test_b():\n    assert b\n"
    one = b"def test_a():\n    assert a\n"
    swapped = b"def test_a():\n    assert a\n\ndef test_c():\n    assert True\n"
    skipped = two.replace(b"def test_b", b"@pytest.mark.skip\ndef test_b")
    path = "tests/test_x.py"
    assert regex.counted([Change(path, two, one)]) == {"fewer tests", "fewer asserts"}
    assert regex.counted([Change(path, two, swapped)]) == set()
    assert regex.counted([Change(path, two, skipped)]) == {"more skips"}
    assert "test file deleted" in regex.counted([Change(path, two, None)])
    assert regex.counted([Change("src/x.py", two, None)]) == set()
    assert noticed(seeded_with(two, two, one), regex.sight, "") == 2
    assert noticed(seeded_with(two, one, one), regex.sight, "") == 0


def test_what_was_done_can_be_looked_at() -> None:
    assert seeded_with(b"a\nb\n", b"a\nc\n", b"a\nd\n").difference == "-c\n+d"

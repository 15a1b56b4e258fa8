"""`ralph guard` on a real repository: what it compares, what it says, and its exit code."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from support import ralph

TESTS = """\
from cart import total


def test_sums():
    assert total([1, 2]) == 3


def test_nothing():
    assert total([]) == 0
"""
WITHOUT = TESTS.partition("\n\ndef test_nothing")[0]
IDENTITY = {f"GIT_{who}_{what}": "a@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


class Repository:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main", ".")
        self.commit("first", **{"cart.py": "def total(prices):\n    return sum(prices)\n", "tests/test_cart.py": TESTS})

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.root, env={**os.environ, **IDENTITY}, check=True, capture_output=True, text=True
        )
        return done.stdout

    def write(self, **files: str) -> None:
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)

    def commit(self, message: str, **files: str) -> None:
        self.write(**files)
        self.git("add", "-A")
        self.git("commit", "-qm", message)

    def guard(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return ralph("guard", *words, cwd=self.root)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def test_a_deleted_test_blocks_and_is_named(repository: Repository) -> None:
    repository.commit("tidy", **{"tests/test_cart.py": WITHOUT})
    found = repository.guard("HEAD~1")
    assert found.returncode == 5
    assert "tests/test_cart.py:8: critical: Test Deletion  [LP-001-" in found.stdout
    assert "test_nothing was deleted" in found.stdout
    assert "findings that block: 1, that warn: 0" in found.stderr


@pytest.mark.parametrize("to", ["tests/shop_cart.py", "tests/test_cart.py.disabled", "build/test_cart.py"])
def test_a_file_that_only_went_to_where_no_runner_looks_blocks(repository: Repository, to: str) -> None:
    (repository.root / to).parent.mkdir(exist_ok=True)
    repository.git("mv", "tests/test_cart.py", to)
    staged = repository.guard("--staged")
    assert (staged.returncode, "tests/test_cart.py" in staged.stdout or to in staged.stdout) == (5, True)
    repository.git("commit", "-qm", "tidy")
    assert repository.guard("HEAD~1").returncode == 5


def test_what_may_be_on_purpose_warns_unless_it_is_to_be_strict(repository: Repository) -> None:
    files = {"cart.py": "def total(prices):\n    return sum(prices) or None\n", "tests/test_cart.py": WITHOUT}
    repository.commit("an empty cart costs nothing that can be told", **files)
    found = repository.guard("HEAD~1")
    assert found.returncode == 0
    assert "tests/test_cart.py:8: medium: Test Deletion  [LP-001-" in found.stdout
    assert "weighs less: what it asks about was changed, too; it may as well be on purpose" in found.stdout
    assert "with --strict it would block 1 more" in found.stderr
    (result,) = json.loads(repository.guard("HEAD~1", "--format", "sarif").stdout)["runs"][0]["results"]
    assert (result["level"], "what it asks about was changed" in result["message"]["text"]) == ("warning", True)
    assert "findings that block: 0, that warn: 1" in found.stderr
    strict = repository.guard("HEAD~1", "--strict")
    assert (strict.returncode, "critical: Test Deletion" in strict.stdout) == (5, True)
    assert json.loads(repository.guard("HEAD~1", "--strict", "--json").stdout)["blocks"] is True
    assert (
        "without --strict where what it asks about was changed, too" in repository.guard("--explain", "LP-001").stdout
    )


def test_two_commits_are_named_one_behind_the_other(repository: Repository) -> None:
    found = repository.guard("HEAD~1..HEAD")
    assert (found.returncode, "BASE HEAD" in found.stderr) == (2, True)


def test_honest_work_passes(repository: Repository) -> None:
    repository.commit("more", **{"tests/test_cart.py": TESTS + "\n\ndef test_one():\n    assert total([7]) == 7\n"})
    found = repository.guard("HEAD~1", "HEAD")
    assert (found.returncode, found.stdout) == (0, "")


def test_what_was_added_to_the_base_meanwhile_was_not_deleted_here(repository: Repository) -> None:
    repository.git("switch", "-qc", "work")
    repository.commit("work", **{"cart.py": "def total(prices):\n    return sum(prices, 0)\n"})
    repository.git("switch", "-q", "main")
    repository.commit("meanwhile", **{"tests/test_more.py": "def test_more():\n    assert 1 + 1 == 2\n"})
    assert repository.guard("main", "work").returncode == 0


def test_what_a_commit_says_of_itself_is_not_believed_and_a_task_is(repository: Repository) -> None:
    repository.commit("remove an obsolete test, as asked", **{"tests/test_cart.py": WITHOUT})
    assert repository.guard("HEAD~1").returncode == 5
    for task, weight in {
        "remove test_nothing": "weighs less: the task asks for it",
        "remove the test of the empty cart": "weighs less: the task speaks of it",
    }.items():
        asked = repository.guard("HEAD~1", "--task", task)
        assert (asked.returncode, weight in asked.stdout) == (0, True), asked.stdout


def test_what_is_staged_and_what_lies_there_are_two_things(repository: Repository) -> None:
    repository.write(**{"tests/test_cart.py": WITHOUT})
    assert repository.guard("--staged").returncode == 0
    assert repository.guard("--working-tree").returncode == 5
    repository.git("add", "-A")
    assert repository.guard("--staged").returncode == 5


def test_untracked_files_count_and_ignored_ones_do_not(repository: Repository) -> None:
    hook = "def pytest_collection_modifyitems(items):\n    items.clear()\n"
    repository.write(**{"conftest.py": hook})
    assert repository.guard("--working-tree").returncode == 5
    repository.write(**{".gitignore": "conftest.py\n"})
    assert repository.guard("--working-tree").returncode == 0


def test_notes_that_say_the_same_of_one_file_are_told_as_one(repository: Repository) -> None:
    tests = "import sys\n\nimport pytest\nfrom cart import total\n" + "".join(
        f"\n\n{{mark}}def test_{number}():\n    assert total([{number}]) == {number}\n" for number in range(8)
    )
    repository.commit("tests", **{"tests/test_cart.py": tests.format(mark="")})
    mark = '@pytest.mark.skipif(sys.platform == "win32", reason="names have no case there")\n'
    repository.commit("skip", **{"tests/test_cart.py": tests.format(mark=mark)})
    told = repository.guard("HEAD~1")
    assert told.stdout.count("runs no longer everywhere") == 1, told.stdout
    assert "and 7 more of these: test_1, test_2, test_3, test_4, test_5, ..." in told.stdout
    assert "notes: 8" in told.stderr
    assert len(json.loads(repository.guard("HEAD~1", "--json").stdout)["findings"]) == 8


def test_json_and_sarif_say_the_same(repository: Repository) -> None:
    repository.commit("tidy", **{"tests/test_cart.py": WITHOUT})
    told = json.loads(repository.guard("HEAD~1", "--json").stdout)
    assert told["blocks"] is True
    (finding,) = told["findings"]
    assert (finding["pattern"], finding["regression"], finding["line"]) == ("LP-001", "test_deletion", 8)
    document = json.loads(repository.guard("HEAD~1", "--format", "sarif").stdout)
    (run,) = document["runs"]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("LP-001", "error")
    assert result["partialFingerprints"]["untilproven/v1"] == finding["id"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["LP-001"]


def test_a_finding_that_is_marked_as_wrong_is_a_note(repository: Repository) -> None:
    repository.commit("tidy", **{"tests/test_cart.py": WITHOUT})
    (finding,) = json.loads(repository.guard("HEAD~1", "--json").stdout)["findings"]
    assert repository.guard("mark", finding["id"], "--false-positive").returncode == 2
    assert repository.guard("mark", finding["id"], "--false-positive", "--why", "it was a duplicate").returncode == 0
    again = repository.guard("HEAD~1")
    assert again.returncode == 0
    assert "weighs less: somebody marked it as wrong" in again.stdout
    repository.guard("mark", finding["id"], "--confirmed", "--why", "no, it was not")
    assert repository.guard("HEAD~1").returncode == 5


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "compare with what"),
        (("no-such-commit",), "no commit 'no-such-commit'"),
        (("--staged", "--working-tree"), "two different things"),
        (("--explain", "LP-999"), "no pattern"),
        (("mark", "XX-1-abc", "--confirmed", "--why", "x"), "no pattern"),
    ],
)
def test_a_mistake_is_explained(repository: Repository, words: tuple[str, ...], said: str) -> None:
    mistake = repository.guard(*words)
    assert mistake.returncode == 2
    assert said in mistake.stderr


def test_patterns_can_be_listed_and_explained(repository: Repository) -> None:
    assert "LP-001" in repository.guard("patterns").stdout
    explained = repository.guard("--explain", "LP-001").stdout
    assert "Test Deletion" in explained
    assert "one of two tests is deleted" in explained


def test_a_hostile_repository_runs_nothing(repository: Repository) -> None:
    mark = repository.root.parent / "ran"
    repository.git("config", "core.fsmonitor", f"touch {mark}")
    repository.git("config", "diff.external", f"touch {mark}")
    repository.write(**{".gitattributes": "* diff=evil filter=evil\n"})
    repository.git("config", "diff.evil.textconv", f"touch {mark}; cat")
    repository.git("config", "filter.evil.smudge", f"touch {mark}; cat")
    mark.unlink(missing_ok=True)
    for words in (("HEAD",), ("--staged",), ("--working-tree",)):
        assert repository.guard(*words).returncode in {0, 5}
    assert not mark.exists()


def test_two_commits_of_a_bare_repository_can_be_compared(repository: Repository, tmp_path: Path) -> None:
    repository.commit("tidy", **{"tests/test_cart.py": WITHOUT})
    bare = tmp_path / "bare.git"
    repository.git("clone", "-q", "--bare", ".", str(bare))
    assert ralph("guard", "HEAD~1", "HEAD", cwd=bare).returncode == 5
    assert ralph("guard", "HEAD~1", "HEAD", cwd=bare / "refs").returncode == 5
    for words in (("--staged",), ("--working-tree",)):
        refused = ralph("guard", *words, cwd=bare)
        assert refused.returncode == 2
        assert "nothing is checked out" in refused.stderr


def test_a_file_that_takes_minutes_to_read_is_named_and_holds_nobody_up(repository: Repository) -> None:
    asks = "test('sums', () => { expect(total([1])).toBe(1) })\n"
    repository.commit("js", **{"cart.test.js": asks})
    repository.commit("deep", **{"cart.test.js": "describe('a', () => {" * 20_000 + asks + "})" * 20_000})
    found = repository.guard("HEAD~1")
    assert found.returncode == 5
    assert "not analysed: cart.test.js: takes too long to read" in found.stderr
    assert "sums was deleted" in found.stdout

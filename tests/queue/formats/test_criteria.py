"""Which criteria are commands, and which are words."""

import pytest

from untilproven.core.tasks import commands
from untilproven.model.task import Command, Task
from untilproven.queue.formats import criteria


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("npm test passes", "npm test"),
        ("`npx tsc --noEmit` passes", "npx tsc --noEmit"),
        ("`go test ./...`", "go test ./..."),
        ("`make check` must pass", "make check"),
        ("`./scripts/ci.sh` exits with 0", "./scripts/ci.sh"),
        ("run `go test ./pkg/...` \u2014 must pass before next task", "go test ./pkg/..."),
        ("Run full test suite: `cargo nextest run`", "cargo nextest run"),
        ("run linter: `golangci-lint run --fast`", "golangci-lint run --fast"),
        ("run `./do.sh` (must pass)", "./do.sh"),
    ],
)
def test_what_is_to_be_run(text: str, command: str) -> None:
    assert criteria.sorted_out([text])[0] == (Command(command=command),)


@pytest.mark.parametrize(
    "text",
    [
        "Typecheck passes",
        "The tests are green and well named",
        "make sure it works",
        "`README.md`",
        "`src/config.ts`",
        "`TestBuildEnv` passes",
        "`add user`",
        "run `go get example.org/x`",
        "run `make fmt`",
        "run `TestBuildEnv` \u2014 must pass",
        "run it, look at `log.txt`, and think",
        "Add a `--verbose` flag",
        "`npm test` passes, and `npm run lint` too",
        f"`make {'x' * 600}` passes",
    ],
)
def test_what_is_only_to_be_read(text: str) -> None:
    assert criteria.sorted_out([text])[1] == (text,)


def test_in_a_place_for_commands_more_is_one() -> None:
    lines = ["npm run lint", "`scripts/check.sh --all`", "golangci-lint run", "bin/ci", "./x", "pytest", "Looks good"]
    assert criteria.gates(lines) == (
        ("npm run lint", "scripts/check.sh --all", "golangci-lint run", "bin/ci", "./x", "pytest"),
        ("Looks good",),
    )


@pytest.mark.parametrize("line", ["make test", "pytest", "./ci", "a && b | c", "test -s x", "checker", "FOO=1 make"])
def test_a_command_that_is_written_is_read_again(line: str) -> None:
    task = Task(id="X-1", title="x", completion=Command(command=line))
    completion, words = criteria.sorted_out(criteria.written(task))
    assert (commands(Task(id="X-1", title="x", completion=completion)), bool(words)) == ([line], False)

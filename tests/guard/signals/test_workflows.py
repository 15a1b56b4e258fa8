"""CI that verifies less."""

import pytest

from guard.signals.compared import Tree, comparison, found, names
from untilproven.guard.change import Change
from untilproven.guard.comparison import Comparison
from untilproven.guard.finding import Signal
from untilproven.guard.signals.workflows import workflows

CI = ".github/workflows/ci.yml"
GITHUB = """\
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install -e .
      - name: Tests
        run: |
          cd app
          pytest -q
  lint:
    steps:
      - run: ruff check .
"""


def ci(text: str) -> Tree:
    return {CI: text}


def changed(old: str, new: str) -> list[Signal]:
    assert old in GITHUB
    return found(workflows, ci(GITHUB), ci(GITHUB.replace(old, new)))


def test_a_command_that_is_gone_is_named_with_its_job() -> None:
    (signal,) = changed("          pytest -q\n", "")
    assert (signal.name, signal.subject, signal.was, signal.explained) == (
        "ci-removed",
        "test: pytest",
        "pytest -q",
        (),
    )
    assert signal.line == 11


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("pytest -q", "pytest -q || true", "|| true"),
        ("pytest -q", "pytest -q || echo failed", "|| true"),
        ("          pytest -q\n", "          set +e\n          pytest -q\n          echo done\n", "|| true"),
        ("pytest -q", "pytest -q | cat", "|| true"),
        ("pytest -q", "pytest -q --collect-only", "--collect-only"),
        ("        run: |", "        continue-on-error: true\n        run: |", "continue-on-error: true"),
        ("        run: |", "        if: ${{ false }}\n        run: |", "if: ${{ false }}"),
        ("  test:\n", "  test:\n    if: false\n", "if: false"),
        ("  test:\n", "  test:\n    continue-on-error: true\n", "continue-on-error: true"),
    ],
)
def test_a_command_that_may_fail(old: str, new: str, why: str) -> None:
    (signal,) = changed(old, new)
    assert (signal.name, signal.subject, signal.now) == ("ci-optional", "test: pytest", why)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pytest -q", "uv run pytest -q"),
        ("pytest -q", "python -m pytest -ra"),
        ("pytest -q", "pytest -q\n          rm -rf build || true"),
        ("pytest -q", "set +e\n          pytest -q\n          status=$?\n          exit $status"),
        ("pytest -q", "tox"),
        ("pytest -q", "make test"),
        ("pytest -q", "./scripts/run.sh"),
        ("ruff check .", "pre-commit run --all-files"),
        ("actions/checkout@v4", "actions/checkout@v5"),
        ("  test:\n", "  unit-tests:\n"),
        ("ubuntu-latest", "${{ matrix.os }}"),
        ("[push, pull_request]", "[pull_request]"),
        ("        run: |", "        continue-on-error: ${{ matrix.experimental }}\n        run: |"),
        ("        run: |", "        if: github.event_name == 'push'\n        run: |"),
    ],
)
def test_what_honest_people_change(old: str, new: str) -> None:
    assert changed(old, new) == []


def test_a_check_that_was_never_heard_is_no_loss() -> None:
    before = GITHUB.replace("pytest -q", "pytest -q || true")
    assert found(workflows, ci(before), ci(before.replace("          pytest -q || true\n", ""))) == []


def test_what_is_left_is_said() -> None:
    two = GITHUB + "      - run: pytest slow\n"
    (signal,) = found(workflows, ci(two), ci(two.replace("      - run: pytest slow\n", "")))
    assert signal.explained == ("others-left",)
    (signal,) = changed("      - run: ruff check .\n", "      - run: echo\n")
    assert signal.explained == ("lint-only",)


def test_a_job_that_is_gone_whose_twin_is_left_weighs_least() -> None:
    twin = GITHUB + "  old:\n    steps:\n      - run: |\n          cd app\n          pytest -q\n"
    (signal,) = found(workflows, ci(twin), ci(GITHUB))
    assert signal.explained == ("others-left", "same-left")


def test_a_step_that_is_gone_from_a_job_that_stays_does_not_hide_behind_its_twin() -> None:
    twin = GITHUB + "  old:\n    steps:\n      - run: mypy .\n      - run: |\n          cd app\n          pytest -q\n"
    after = twin.replace("      - run: |\n          cd app\n          pytest -q\n", "")
    (signal,) = found(workflows, ci(twin), ci(after))
    assert (signal.subject, signal.explained) == ("old: pytest", ("others-left",))


def test_a_job_that_stays_for_something_else_is_a_job_that_stays() -> None:
    twin = (
        GITHUB + "  old:\n    steps:\n      - run: make docs\n      - run: |\n          cd app\n          pytest -q\n"
    )
    after = twin.replace("docs\n      - run: |\n          cd app\n          pytest -q\n", "docs\n")
    (signal,) = found(workflows, ci(twin), ci(after))
    assert signal.explained == ("others-left",)


def test_of_twins_the_one_that_may_fail_is_found() -> None:
    twin = GITHUB + "  old:\n    steps:\n      - run: |\n          cd app\n          pytest -q\n"
    (signal,) = found(workflows, ci(twin), ci(twin.replace("pytest -q", "pytest -q || true", 1)))
    assert (signal.name, signal.subject, signal.explained) == ("ci-optional", "test: pytest", ("same-left",))


def test_a_new_job_that_may_fail_does_not_stand_for_another() -> None:
    nightly = "  nightly:\n    continue-on-error: true\n    steps:\n      - run: pytest -q nightly\n"
    (signal,) = found(workflows, ci(GITHUB), ci(GITHUB.replace("          pytest -q\n", "") + nightly))
    assert (signal.name, signal.subject) == ("ci-removed", "test: pytest")


def test_a_workflow_that_is_gone_counts_by_its_name() -> None:
    (tests, lint) = found(workflows, ci(GITHUB), {})
    assert (tests.explained, lint.explained) == ((), ("lint-only",))
    (tests, _) = found(workflows, {".github/workflows/coverage.yml": GITHUB}, {})
    assert tests.explained == ("side-workflow",)
    (tests, _) = found(workflows, {".circleci/config.yml": GITHUB}, {})
    assert tests.explained == ("service-left",)


def test_a_workflow_that_is_called_something_else_is_gone() -> None:
    assert names(workflows, ci(GITHUB), {f"{CI}.disabled": GITHUB}) == ["ci-removed", "ci-removed"]
    assert names(workflows, ci(GITHUB), {".github/workflows/tests.yml": GITHUB}) == []


def test_an_unknown_program_may_stand_for_it() -> None:
    (signal,) = changed("pytest -q", "acme verify-all --now")
    assert signal.explained == ("something-came",)


def test_one_that_came_in_another_workflow_does_not() -> None:
    for new in ("acme verify-all", "./run.sh"):
        elsewhere = {".github/workflows/score.yml": f"on: [push]\njobs:\n  a:\n    steps:\n      - run: {new}\n"}
        after = ci(GITHUB.replace("          pytest -q\n", ""))
        (signal,) = found(workflows, ci(GITHUB), {**after, **elsewhere})
        assert (signal.name, "something-came" in signal.explained) == ("ci-removed", False)


def test_a_program_that_is_told_otherwise_and_may_fail() -> None:
    before = GITHUB.replace("pytest -q", "tox run -e ${{ matrix.tox }}")
    after = before.replace("${{ matrix.tox }}", "${{ matrix.tox || format('py{0}', matrix.v) }} || true")
    typing = "  typing:\n    steps:\n      - run: tox run -e typing\n"
    (signal,) = found(workflows, ci(before), ci(after + typing))
    assert (signal.name, signal.now) == ("ci-optional", "|| true")


def test_a_program_that_was_quiet_before_stands_for_no_other() -> None:
    verify = "mvn verify artifact:compare -DskipTests"
    before = GITHUB.replace("          pytest -q", f"          mvn install -DskipTests\n          {verify}")
    after = before.replace("-DskipTests", "-DskipTests --projects !metrics")
    assert found(workflows, ci(before), ci(after)) == []


def test_a_step_of_which_nothing_is_known_may_fail() -> None:
    before = GITHUB.replace("pytest -q", "acme bench --all")
    (signal,) = found(workflows, ci(before), ci(before.replace("--all", "--all || true")))
    assert (signal.name, signal.subject, signal.explained) == ("ci-optional", "test: acme bench --all", ("unknown",))
    assert found(workflows, ci(before), ci(before.replace("--all", "--some || true"))) == []


def test_what_an_action_is_given_to_run() -> None:
    given = "      - uses: acme/retry@v1\n        with:\n          run: pytest slow\n"
    (signal,) = found(workflows, ci(GITHUB + given), ci(GITHUB))
    assert (signal.name, signal.was) == ("ci-removed", "pytest slow")


def test_a_linter_that_another_job_runs_is_not_missed() -> None:
    twin = GITHUB + "  old:\n    steps:\n      - run: mypy .\n      - run: ruff check .\n"
    (signal,) = found(workflows, ci(twin), ci(twin.replace("mypy .\n      - run: ruff check .", "mypy .")))
    assert signal.explained == ("others-left", "same-left")


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (".gitlab-ci.yml", "unit:\n  script:\n    - cargo test\n", "unit:\n  script:\n    - cargo build\n"),
        (".travis.yml", "script: npm test\n", "script: true\n"),
        ("azure-pipelines.yml", "steps:\n- script: go test ./...\n", "steps:\n- script: go build ./...\n"),
        (
            ".circleci/config.yml",
            "jobs:\n  a:\n    steps:\n      - run: {command: mvn verify}\n",
            "jobs:\n  a:\n    steps: [checkout]\n",
        ),
        ("Jenkinsfile", "stage { sh 'mvn -B verify' }\n", "stage { sh 'mvn -B compile' }\n"),
    ],
)
def test_other_services(path: str, before: str, after: str) -> None:
    assert names(workflows, {path: before}, {path: after}) == ["ci-removed"]
    assert names(workflows, {path: before}, {path: before + "# a comment\n"}) == []


@pytest.mark.parametrize("said", ["allow_failure: true", "when: manual", "rules: [{when: never}]", "<<: *lax"])
def test_gitlab_lets_a_job_fail(said: str) -> None:
    text = ".lax: &lax\n  allow_failure: true\nunit:\n  {}\n  script: [cargo test]\n"
    before, after = {".gitlab-ci.yml": text.format("stage: test")}, {".gitlab-ci.yml": text.format(said)}
    assert names(workflows, before, after) == ["ci-optional"]
    assert names(workflows, after, before) == []


@pytest.mark.parametrize(
    ("now", "fires"),
    [
        ("workflow_dispatch", True),
        ("{schedule: [{cron: '0 0 * * 0'}]}", True),
        ("[push]", False),
        ("{pull_request: {branches: [main]}}", False),
        ("{workflow_call: {}}", False),
    ],
)
def test_what_starts_it(now: str, fires: bool) -> None:
    signals = changed("[push, pull_request]", now)
    assert [signal.name for signal in signals] == (["ci-trigger-removed"] if fires else [])


def test_narrower_commands_are_compared_as_everywhere() -> None:
    (signal,) = changed("pytest -q", "pytest -q -k 'not slow'")
    assert (signal.name, signal.now) == ("command-weakened", "-k not slow")


def test_a_file_that_no_longer_parses_is_not_judged_but_said() -> None:
    compared = comparison(ci(GITHUB), ci("jobs:\n\t- [\n"))
    assert list(workflows(compared)) == []
    assert [one.path for one in compared.not_analysed] == [CI]


def test_deep_nesting_ends() -> None:
    compared = comparison(ci(GITHUB), ci("a: " + "[" * 3000 + "]" * 3000))
    assert list(workflows(compared)) == []
    assert [one.path for one in compared.not_analysed] == [CI]


def test_a_check_that_may_fail_in_a_file_of_another_name_is_found() -> None:
    new = GITHUB.replace("pytest -q", "pytest -q || true")
    change = Change(CI, GITHUB.encode(), new.encode(), ".github/workflows/CI.yml")
    (signal,) = workflows(Comparison([change]))
    assert (signal.name, signal.subject, signal.path) == ("ci-optional", "test: pytest", CI)


def test_tests_that_are_only_built_do_not_stand_for_those_that_were_run() -> None:
    (signal,) = changed("          pytest -q\n", "          cargo test --no-run\n")
    assert (signal.name, signal.explained) == ("ci-removed", ())

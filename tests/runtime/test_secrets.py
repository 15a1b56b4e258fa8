"""A secret of the environment is in nothing that is kept, whoever prints it."""

from pathlib import Path

import pytest

from runtime.loops import Place

KEY = "sk-ant-planted-0123456789"
OTHER = "ghp_plantedToken0987"
AGENT = (
    'echo "out $ANTHROPIC_API_KEY"; echo "err $ANTHROPIC_API_KEY" >&2; printf "half %s" "$ANTHROPIC_API_KEY"; '
    'echo "{\\"status\\": \\"continue\\", \\"reason\\": \\"$ANTHROPIC_API_KEY\\"}" > "$RALPH_RESULT_FILE"; '
    "echo x >> work"
)


@pytest.mark.parametrize("sandbox", ["none", "overlay"])
def test_a_planted_key_is_in_no_file_of_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sandbox: str) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("MY_SERVICE_TOKEN", OTHER)
    place = Place(tmp_path)
    check = 'echo "$MY_SERVICE_TOKEN"; exit 1'
    place.ralph(
        *("run", "use the service for it", "--agent-cmd", AGENT, "--until", check, "-n", "2", "--sandbox", sandbox),
        *("--no-auto-test", "--env", "MY_SERVICE_TOKEN"),
    )
    said = place.directory() / "outputs"
    assert "[ANTHROPIC_API_KEY]" in "".join(path.read_text() for path in said.iterdir())
    kept = [path for path in place.directory().rglob("*") if path.is_file()]
    assert not [path for path in kept if KEY.encode() in path.read_bytes() or OTHER.encode() in path.read_bytes()]


def test_what_a_hook_prints_is_kept_without_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", OTHER)
    monkeypatch.setenv("RALPH_TRUST", "1")
    place = Place(tmp_path)
    (place.root / "ralph.toml").write_text('[hooks]\non_iteration_end = "env; echo seen"\n')
    ended = place.run("do it", "--agent-cmd", "echo x >> work", "--until", "test -s work", "-n", "2")
    assert ended.returncode == 0, ended.stderr
    log = (place.directory() / "hook-log.jsonl").read_text()
    assert ("MY_SERVICE_TOKEN=[MY_SERVICE_TOKEN]" in log, OTHER in log) == (True, False)


def test_a_key_that_is_written_into_a_check_still_names_the_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SERVICE_TOKEN", OTHER)
    place = Place(tmp_path)
    ended = place.run("do it", "--agent-cmd", "echo x >> work", "--until", f"test {OTHER} = x", "-n", "2")
    assert ended.returncode == 4


def test_what_the_user_wrote_and_ordinary_words_are_left_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POSTGRES_PASSWORD", "postgres")
    monkeypatch.setenv("DB_PASSWORD", "12345678")
    monkeypatch.setenv("STAGE_TOKEN", "release-2026-04")
    place = Place(tmp_path)
    reports = """printf '{"usage": {"total_tokens": 12345678}}' > "$RALPH_RESULT_FILE"; """
    made = "mkdir -p postgres; echo x > postgres/12345678.sql; "
    task = "make the postgres migration of release-2026-04 pass"
    done = place.run(task, place.script(made + reports), "--until=test -e postgres/12345678.sql", "-n1")
    assert done.returncode == 0, done.stderr
    assert task in place.prompt(1)
    (seen,) = place.events("iteration.observed")
    assert "postgres/12345678.sql" in [change["path"] for change in seen["delta"]]
    assert seen["usage"]["total_tokens"] == 12345678

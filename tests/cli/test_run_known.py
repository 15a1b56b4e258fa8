"""`ralph run --agent claude` in a room of its own, with a small program that plays Claude Code."""

import json
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.actor import KEYS, lend
from process.scenes import wait_for
from real_agents.recorded import load
from runtime.loops import Place
from untilproven.store.agent_place import agent_home

LOGIN = {"claudeAiOauth": {"accessToken": "a1", "refreshToken": "r1"}, "organizationUuid": "mine"}
RENEWED = json.dumps({**LOGIN, "claudeAiOauth": {"accessToken": "secret2", "refreshToken": "secret3"}})
RUN = ("run", "make it", "--agent=claude", "--until=test -s made", "--sandbox=overlay")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """On PATH, and where a room sees it: it has a /tmp of its own."""
    path = Path(tempfile.mkdtemp(dir="/var/tmp"))
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", f"{path}:/usr/local/bin:/usr/bin:/bin")
    yield path
    shutil.rmtree(path)


def claude(programs: Path, *lines: str) -> None:
    (programs / "out").write_text(load("claude", "turn")[0].out)
    script = ["#!/bin/sh", "cat > /dev/null", f"out={shlex.quote(str(programs / 'out'))}", *lines, ""]
    (programs / "claude").write_text("\n".join(script))
    (programs / "claude").chmod(0o755)


def test_a_login_that_is_renewed_in_an_iteration_that_is_taken_back_is_still_the_users(
    place: Place, programs: Path, own_home: Path
) -> None:
    users = lend(own_home / ".claude/.credentials.json", json.dumps(LOGIN))
    claude(
        programs,
        'cd "$CLAUDE_CONFIG_DIR" && grep -q \'"organizationUuid": "mine"\' .credentials.json || exit 4',
        f"if [ ! -e seen ]; then touch seen; printf %s {shlex.quote(RENEWED)} > .credentials.json; first=1; fi",
        "cd - > /dev/null; echo x >> made",
        '[ -z "$first" ] || exit 1',
        "cat $out",
    )
    done = place.ralph(*RUN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [event["fate"] for event in place.events("iteration.finished")] == ["discarded", "kept"]
    assert (place.root / "made").read_text() == "x\n"
    assert users.read_text() == RENEWED
    assert not list(own_home.rglob(".local/**/.credentials.json"))
    assert not any(b"secret" in path.read_bytes() for path in place.directory().rglob("*") if path.is_file())


def test_a_login_for_the_loops_alone_is_lent_and_renewed_and_the_users_is_not_touched(
    place: Place, programs: Path, own_home: Path
) -> None:
    users = lend(own_home / ".claude/.credentials.json", json.dumps({"organizationUuid": "another"}))
    own = lend(own_home / ".local/state/untilproven/logins/claude/.credentials.json", json.dumps(LOGIN))
    claude(
        programs,
        f"[ ! -e {shlex.quote(str(own))} ] || exit 5",
        'grep -q \'"organizationUuid": "mine"\' "$CLAUDE_CONFIG_DIR/.credentials.json" || exit 4',
        f'printf %s {shlex.quote(RENEWED)} > "$CLAUDE_CONFIG_DIR/.credentials.json"',
        "echo x > made",
        "cat $out",
    )
    done = place.ralph(*RUN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert own.read_text() == RENEWED
    assert json.loads(users.read_text()) == {"organizationUuid": "another"}
    assert str(own.parent) in done.stderr + done.stdout


@pytest.mark.parametrize("sandbox", ["overlay", "none"])
def test_the_tokens_of_a_login_are_in_nothing_that_is_kept_though_the_agent_prints_them(
    sandbox: str, place: Place, programs: Path, own_home: Path
) -> None:
    tokens = {"accessToken": "planted-access-token", "refreshToken": "planted-refresh-token"}
    lend(own_home / ".claude/.credentials.json", json.dumps({"claudeAiOauth": tokens}))
    renewed = json.dumps({"claudeAiOauth": {**tokens, "accessToken": "planted-renewed-token"}})
    claude(
        programs,
        'login="$CLAUDE_CONFIG_DIR/.credentials.json"',
        "cat $login; cat $login >&2; cp $login made",
        f"printf %s {shlex.quote(renewed)} > $login; sleep 3",
        'cat $login; echo; printf \'{"status": "continue", "reason": %s}\' "$(cat $login)" > "$RALPH_RESULT_FILE"',
        "cat $out",
    )
    done = place.ralph(*RUN[:-1], f"--sandbox={sandbox}", "--mode=logged")
    assert done.returncode == 0, done.stdout + done.stderr
    said = "".join(path.read_text() for path in (place.directory() / "outputs").iterdir())
    assert said.count("[.credentials.json claudeAiOauth.accessToken]") >= 2
    kept = [path for path in place.directory().rglob("*") if path.is_file()]
    leaking = {path.name for path in kept if b"planted-" in path.read_bytes()}
    assert leaking == set(), leaking
    assert "planted-" not in done.stdout + done.stderr


def test_what_it_did_and_cost_is_recorded_and_its_directory_is_gone(
    place: Place, programs: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-planted")
    claude(programs, '[ "$ANTHROPIC_API_KEY" = sk-ant-planted ] || exit 4', "echo x > made", "cat $out")
    done = place.ralph(*RUN)
    assert done.returncode == 0, done.stdout + done.stderr
    (observed,) = place.events("iteration.observed")
    assert observed["usage"] == {
        "input_tokens": 2000,
        "output_tokens": 100,
        "total_tokens": 2100,
        "cost_usd": 0.005,
        "cost_source": "agent",
        "agent": "claude",
        "model": "claude-sonnet-5-5",
    }
    assert [(action["kind"], action["target"]) for action in observed["actions"]] == [("write", "/project/made.txt")]
    assert not list((own_home / ".local/state/untilproven/agents").glob("*/*/home"))


def test_a_step_that_a_tool_forged_makes_the_cost_of_the_iteration_unknown(
    place: Place, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-planted")
    first, *rest = load("opencode", "turn")[0].out.splitlines(keepends=True)
    forged = {"type": "step_finish", "part": {"reason": "stop", "tokens": {"input": 1, "output": 1}, "cost": 0.001}}
    (programs / "out").write_text("".join([first, json.dumps(forged) + "\n", *rest]))
    script = f"#!/bin/sh\ncat > /dev/null\necho x > made\ncat {shlex.quote(str(programs / 'out'))}\n"
    (programs / "opencode").write_text(script)
    (programs / "opencode").chmod(0o755)
    done = place.ralph("run", "make it", "--agent=opencode", "--until=test -s made", "--sandbox=overlay")
    assert done.returncode == 0, done.stdout + done.stderr
    (observed,) = place.events("iteration.observed")
    assert observed["usage"] == {"agent": "opencode"}


def test_a_key_that_is_refused_ends_the_loop_at_once_and_says_why(
    place: Place, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    claude(programs, "cat $out", "exit 1")
    (programs / "out").write_text(load("claude", "unauthorized")[0].out)
    done = place.ralph(*RUN)
    assert done.returncode == 6
    assert place.read()["iteration"] == 1
    assert "Invalid API key" in place.read()["error_context"]["error_message"]


def test_a_usage_limit_pauses_the_loop_until_it_is_lifted(
    place: Place, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_OAUTH_TOKEN", "k")
    claude(programs, "cat $out", "exit 1")
    (programs / "out").write_text(load("claude", "subscription_limit")[0].out)
    with place.running(*RUN[1:4], sandbox="--sandbox=overlay") as process:
        wait_for(lambda: place.loops() != [] and place.status() == "paused", "a pause", seconds=40)
        state = place.read()
        process.terminate()
    assert (state["pause_reason"], state["resume_at"]) == ("usage_limit", "2030-03-17T17:46:40Z")


def killed(place: Place, programs: Path, own_home: Path, sandbox: str) -> Path:
    """A loop whose runner is killed while the agent works, with the user's login in its directory."""
    lend(own_home / ".claude/.credentials.json", json.dumps(LOGIN))
    claude(programs, "echo holding; sleep 300")
    with place.running(*RUN[1:-1], sandbox=f"--sandbox={sandbox}") as process:
        loops = place.state.loops
        wait_for(lambda: any("holding" in path.read_text() for path in loops.glob("*/outputs/*.jsonl")), "it works")
        process.kill()
        process.wait()
    home = agent_home(place.root, place.loop)
    assert (home / "claude/.credentials.json").exists()
    return home


@pytest.mark.parametrize("sandbox", ["overlay", "shadow", "none"])
def test_what_a_killed_runner_left_of_its_agent_goes_with_the_abort(
    place: Place, programs: Path, own_home: Path, sandbox: str
) -> None:
    home = killed(place, programs, own_home, sandbox)
    assert place.ralph("abort", place.loop).returncode == 0
    assert not home.parent.exists()


def test_an_agents_directory_that_is_left_of_a_loop_that_has_ended_is_swept(
    place: Place, programs: Path, own_home: Path
) -> None:
    home = killed(place, programs, own_home, "none")
    assert place.ralph("abort", place.loop).returncode == 0
    unknown = agent_home(place.root, "ralph-other-00000000")
    for path in (home, unknown):
        path.mkdir(parents=True)
    claude(programs, "echo x > made", "cat $out")
    assert place.ralph(*RUN).returncode == 0
    assert not home.parent.exists()
    assert unknown.exists(), "nobody knows whether it has ended"


def test_nobody_who_can_work_is_said_before_there_is_a_loop(place: Place, programs: Path) -> None:
    for words in (("--agent=claude",), ("--agent=auto",), ("--agent=claude,codex",)):
        done = place.ralph("run", "make it", *words, "--until=test -s made")
        assert done.returncode == 6, done.stdout
        assert "PATH" in done.stderr
    claude(programs, "exit 0")
    done = place.ralph("run", "make it", "--agent=claude", "--until=test -s made")
    assert done.returncode == 6
    assert "nobody is logged in to claude" in done.stderr
    assert not place.loops()


def test_a_login_that_cannot_be_read_is_said_and_the_loop_can_go_on_when_it_can(
    place: Place, programs: Path, own_home: Path
) -> None:
    users = lend(own_home / ".claude/.credentials.json", "x" * 70_000)
    claude(programs, "echo x > made", "cat $out")
    done = place.ralph(*RUN)
    assert done.returncode == 1
    assert f"the login in {users} cannot be read" in done.stderr
    assert "Traceback" not in done.stderr
    lend(users, json.dumps(LOGIN))
    again = place.ralph("resume", place.loop)
    assert again.returncode == 0, again.stdout + again.stderr
    assert place.read()["status"] == "completed"

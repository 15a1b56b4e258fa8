"""`ralph agents login`: a login for the loops alone, made by the agent's own program."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from agents.actor import Actor, lend, mode
from support import ralph
from untilproven.agents.factory import adapter_of
from untilproven.store.layout import Project

LOGIN = '{"claudeAiOauth": {"accessToken": "a1", "refreshToken": "r1"}}'
PLACES = {
    "claude": ('"$CLAUDE_CONFIG_DIR"/.credentials.json', ["auth", "login"]),
    "codex": ('"$CODEX_HOME"/auth.json', ["login"]),
    "opencode": ('"$XDG_DATA_HOME"/opencode/auth.json', ["auth", "login"]),
    "gemini": ('"$GEMINI_CLI_HOME"/.gemini/oauth_creds.json', []),
    "qwen": ('"$QWEN_HOME"/oauth_creds.json', []),
}


@pytest.fixture
def actor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Actor:
    return Actor(tmp_path, monkeypatch)


@pytest.fixture
def own(own_home: Path) -> Path:
    return own_home / ".local/state/untilproven/logins"


def login(project: Project, *words: str) -> "CompletedProcess[str]":
    return ralph("agents", "login", *words, cwd=project.root)


def writes(path: str, text: str = LOGIN) -> str:
    return f'path={path}; mkdir -p "$(dirname "$path")"; printf %s \'{text}\' > "$path"; echo more > "$path.more"'


@pytest.mark.parametrize("name", PLACES)
def test_the_program_asks_and_only_its_login_is_kept_private_and_is_billed(
    name: str, project: Project, actor: Actor, own: Path
) -> None:
    path, words = PLACES[name]
    actor.plays(name, code=130, also=writes(path))
    done = login(project, name, "--", "--device")
    assert done.returncode == 0, done.stderr
    assert actor.argv == [*words, "--device"]
    (kept,) = (path for path in own.rglob("*") if path.is_file())
    assert kept == own / name / adapter_of(name).logins[0].name
    assert adapter_of(name).logins[0].users == kept
    assert (kept.read_text(), mode(kept), mode(own), mode(own / name)) == (LOGIN, 0o600, 0o700, 0o700)
    assert (done.stdout.startswith(f"{name}: billed: the login"), str(own / name) in done.stdout) == (True, True)
    assert not (actor.seen / "pwd").read_text().startswith(str(project.root))


def test_it_comes_before_the_users_which_stays_and_returns_when_it_is_forgotten(
    project: Project, actor: Actor, own: Path, own_home: Path
) -> None:
    users = lend(own_home / ".claude/.credentials.json", LOGIN.replace("a1", "a0"))
    actor.plays("claude", also=writes(PLACES["claude"][0]))
    assert login(project, "claude").returncode == 0
    assert "a0" in users.read_text()
    done = login(project, "claude", "--forget")
    assert (done.returncode, done.stdout) == (0, f"claude: billed: the login in {users.parent}\n")
    assert list(own.iterdir()) == []
    again = login(project, "claude", "--forget")
    assert (again.returncode, "no login of claude for the loops alone" in again.stderr) == (2, True)


@pytest.mark.parametrize("also", ["", writes(PLACES["claude"][0], "{half")])
def test_who_changes_their_mind_keeps_what_was_there(also: str, project: Project, actor: Actor, own: Path) -> None:
    kept = lend(own / "claude/.credentials.json", LOGIN)
    actor.plays("claude", also=also)
    done = login(project, "claude")
    assert (done.returncode, "claude has ended, and nobody is logged in" in done.stderr) == (6, True)
    assert kept.read_text() == LOGIN
    assert [path.name for path in own.iterdir()] == ["claude"]


def test_a_key_does_not_keep_the_program_from_asking_and_is_still_what_is_billed(
    project: Project, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret")
    actor.plays("claude", also=writes(PLACES["claude"][0]))
    done = login(project, "claude")
    assert "ANTHROPIC_API_KEY" not in actor.env
    assert (done.returncode, done.stdout) == (0, "claude: billed: the key in ANTHROPIC_API_KEY\n")


def test_of_two_files_the_one_of_the_last_account_does_not_stay(project: Project, actor: Actor, own: Path) -> None:
    lend(own / "gemini/.gemini/google_accounts.json", '{"active": "another"}')
    actor.plays("gemini", also=writes(PLACES["gemini"][0]))
    assert login(project, "gemini").returncode == 0
    assert [path.name for path in (own / "gemini/.gemini").iterdir()] == ["oauth_creds.json"]


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("aider",), 2, "aider has no login"),
        (("api",), 2, "api has no login"),
        (("nobody",), 2, "there is no agent 'nobody' to log in to"),
        (("acp:x",), 2, "there is no agent 'acp:x' to log in to"),
        (("codex",), 6, "codex is not on PATH"),
    ],
)
def test_what_cannot_be_logged_in_to_is_said(
    words: tuple[str, ...], code: int, why: str, project: Project, actor: Actor
) -> None:
    del actor
    done = login(project, *words)
    assert (done.returncode, why in done.stderr) == (code, True), done.stderr


def test_a_program_of_the_project_is_not_asked(project: Project, actor: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    actor.plays("claude", where=project.root)
    monkeypatch.setenv("PATH", f"{project.root}:/usr/bin:/bin")
    assert login(project, "claude").returncode == 6
    assert not (actor.seen / "argv").exists()

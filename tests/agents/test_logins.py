"""A login is lent for one run: what the agent renews comes back at once, and nothing else does."""

import json
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.actor import Actor, lend, mode
from agents.stage import Stage
from real_agents.recorded import load
from untilproven.agents.adapter import Asked, Login
from untilproven.agents.factory import adapter_of
from untilproven.agents.home import Home
from untilproven.agents.known import KnownAgent
from untilproven.agents.logins import Lent, is_renewal, there
from untilproven.errors import RalphError
from untilproven.model.iteration import Failed
from untilproven.model.program import Stop
from untilproven.store.lock import FileLock
from untilproven.store.vouch import user_state

NAME = ".credentials.json"
CLAUDE = {
    "claudeAiOauth": {
        "accessToken": "a1",
        "refreshToken": "r1",
        "expiresAt": 1,
        "scopes": ["user:inference"],
        "subscriptionType": "pro",
    },
    "organizationUuid": "mine",
}
CODEX = {"OPENAI_API_KEY": None, "tokens": {"access_token": "a", "account_id": "me"}, "last_refresh": "2026"}
GEMINI = {"access_token": "a", "refresh_token": "r", "scope": "x y", "token_type": "Bearer", "expiry_date": 1}
OPENCODE = {"anthropic": {"type": "oauth", "refresh": "r", "access": "a", "expires": 1}}
QWEN = {"access_token": "a", "refresh_token": "r", "resource_url": "portal.qwen.ai", "expiry_date": 1}


def changed(login: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """With something else under these names, wherever they stand; None takes them away."""
    inner = {key: changed(value, **changes) if isinstance(value, dict) else value for key, value in login.items()}
    return {key: changes.get(key, value) for key, value in inner.items() if changes.get(key, value) is not ...}


RENEWED = json.dumps(changed(CLAUDE, accessToken="a2", refreshToken="r2", expiresAt=2))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (CLAUDE, changed(CLAUDE, accessToken="a2", refreshToken="r2", expiresAt=2)),
        (CLAUDE, changed(CLAUDE, accessToken="a2", subscriptionType="max", scopes=["user:profile"])),
        (CLAUDE, {**CLAUDE, "claudeAiOauth": {**CLAUDE["claudeAiOauth"], "refreshTokenExpiresAt": 5}}),  # type: ignore[dict-item]
        (CODEX, changed(CODEX, access_token="b", last_refresh="2027")),
        (GEMINI, changed(GEMINI, access_token="b", scope="y x", expiry_date=2)),
        (OPENCODE, changed(OPENCODE, refresh="s", access="b", expires=2)),
        (QWEN, changed(QWEN, access_token="b", expiry_date=2)),
    ],
)
def test_new_tokens_and_times_are_a_renewal(before: Any, after: Any) -> None:
    assert is_renewal(json.dumps(before).encode(), json.dumps(after).encode())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (CLAUDE, changed(CLAUDE, organizationUuid="another")),
        (CLAUDE, changed(CLAUDE, organizationUuid=...)),
        (CLAUDE, {**CLAUDE, "apiKeyHelper": "evil"}),
        (CLAUDE, changed(CLAUDE, accessToken={"a": 1})),
        (CLAUDE, {}),
        (CLAUDE, []),
        (CODEX, changed(CODEX, account_id="another")),
        (CODEX, changed(CODEX, OPENAI_API_KEY="another")),
        (CODEX, changed(CODEX, tokens="x")),
        (OPENCODE, {**OPENCODE, "evil": {"type": "api", "key": "k"}}),
        (OPENCODE, {}),
        (QWEN, changed(QWEN, resource_url="evil.example")),
        (QWEN, {**QWEN, "token_url": "evil.example"}),
        ({"seat": "a"}, {"seat": "b"}),
    ],
)
def test_another_account_or_another_place_is_none(before: Any, after: Any) -> None:
    assert not is_renewal(json.dumps(before).encode(), json.dumps(after).encode())


@pytest.mark.parametrize("after", [b"", b"{", b"\xff", b"null", b"[" * 100_000, b'{"accessToken": "' + b"x" * 70_000])
def test_what_cannot_be_read_is_none(after: bytes) -> None:
    assert not is_renewal(json.dumps(CLAUDE).encode(), after)
    assert not is_renewal(None, json.dumps(CLAUDE).encode())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "project", "ralph-x-00000000", "claude")
    made.make()
    return made


@pytest.fixture
def login(own_home: Path) -> Login:
    return Login(lend(own_home / f".claude/{NAME}", json.dumps(CLAUDE)), NAME)


def test_a_renewal_is_the_users_at_once_and_private(home: Home, login: Login) -> None:
    with Lent(home, (login,)) as lent:
        assert mode(home.path / NAME) == 0o600
        (home.path / NAME).write_text(RENEWED)
        (home.path / NAME).chmod(0o666)
        lent.pulse()
        assert login.users.read_text() == RENEWED
        assert mode(login.users) == 0o600
    assert lent.refused == []
    assert not (home.path / NAME).exists()
    assert [path.name for path in login.users.parent.iterdir()] == [NAME]


def test_a_renewal_is_never_readable_by_others(home: Home, login: Login, monkeypatch: pytest.MonkeyPatch) -> None:
    modes = []
    rename = os.rename

    def watched(source: str, target: str, **where: int) -> None:
        modes.append(os.stat(source, dir_fd=where["src_dir_fd"]).st_mode & 0o777)
        rename(source, target, **where)

    monkeypatch.setattr(os, "rename", watched)
    with Lent(home, (login,)):
        (home.path / NAME).write_text(RENEWED)
    assert modes == [0o600, 0o600]


def test_a_renewal_at_the_very_end_comes_back(home: Home, login: Login) -> None:
    with Lent(home, (login,)):
        (home.path / NAME).write_text(RENEWED)
    assert login.users.read_text() == RENEWED


def test_a_renewal_comes_back_though_the_run_fails(home: Home, login: Login) -> None:
    def fail() -> None:
        with Lent(home, (login,)):
            (home.path / NAME).write_text(RENEWED)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert login.users.read_text() == RENEWED
    assert not (home.path / NAME).exists()


def test_a_login_that_is_being_written_is_waited_for(home: Home, login: Login) -> None:
    with Lent(home, (login,)) as lent:
        for part in ("", RENEWED[:30], RENEWED):
            (home.path / NAME).write_text(part)
            lent.pulse()
        assert login.users.read_text() == RENEWED
    assert lent.refused == []


@pytest.mark.parametrize("pulses", [1, 2])
def test_a_renewal_after_one_that_was_refused_is_taken(pulses: int, home: Home, login: Login) -> None:
    with Lent(home, (login,)) as lent:
        (home.path / NAME).write_text(json.dumps(changed(CLAUDE, organizationUuid="another")))
        for _ in range(pulses):
            lent.pulse()
        (home.path / NAME).write_text(RENEWED)
        lent.pulse()
        assert login.users.read_text() == RENEWED
    assert len(lent.refused) == 1


def test_another_account_is_refused_with_a_word(home: Home, login: Login) -> None:
    with Lent(home, (login,)) as lent:
        for organization in range(5):
            (home.path / NAME).write_text(json.dumps(changed(CLAUDE, organizationUuid=organization)))
            lent.pulse()
    assert login.users.read_text() == json.dumps(CLAUDE)
    why = "the agent changed more in its login than a renewal does"
    assert lent.refused == [f"{why}: {login.users} stays as it is"]


def test_what_is_left_unreadable_is_refused_at_the_end(home: Home, login: Login) -> None:
    with Lent(home, (login,)) as lent:
        (home.path / NAME).write_text(RENEWED[:30])
    assert login.users.read_text() == json.dumps(CLAUDE)
    assert len(lent.refused) == 1


def planted(kind: str, place: Path, tmp_path: Path) -> None:
    place.unlink()
    match kind:
        case "link":
            (tmp_path / "elsewhere").write_text(RENEWED)
            place.symlink_to(tmp_path / "elsewhere")
        case "fifo":
            os.mkfifo(place)
        case "directory":
            (place / "inner").mkdir(parents=True)
        case "huge":
            place.write_bytes(b'{"accessToken": "' + b"x" * 5_000_000 + b'"}')


@pytest.mark.parametrize("kind", ["link", "fifo", "directory", "huge", "nothing"])
def test_what_is_no_small_file_any_more_leads_nowhere(kind: str, home: Home, login: Login, tmp_path: Path) -> None:
    with Lent(home, (login,)) as lent:
        planted(kind, home.path / NAME, tmp_path)
        lent.pulse()
    assert login.users.read_text() == json.dumps(CLAUDE)
    assert not os.path.lexists(home.path / NAME)
    with Lent(home, (login,)):
        assert (home.path / NAME).read_text() == json.dumps(CLAUDE)


def test_the_login_is_not_lent_through_a_link(home: Home, login: Login, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    home.path.rmdir()
    home.path.symlink_to(outside)
    with Lent(home, (login,)) as lent:
        assert list(outside.iterdir()) == []
        (outside / NAME).write_text(RENEWED)
        (home.path / NAME).unlink()
        home.path.rmdir()
        home.path.symlink_to(outside)
        lent.pulse()
        assert login.users.read_text() == json.dumps(CLAUDE)
    assert (outside / NAME).read_text() == RENEWED


def test_what_the_user_did_meanwhile_wins(home: Home, login: Login) -> None:
    theirs = json.dumps(changed(CLAUDE, organizationUuid="new", accessToken="a9"))
    with Lent(home, (login,)) as lent:
        (home.path / NAME).write_text(RENEWED)
        login.users.write_text(theirs)
        lent.pulse()
        assert (home.path / NAME).read_text() == theirs
    assert login.users.read_text() == theirs
    assert lent.refused == []


def test_what_another_loop_renewed_reaches_this_one(home: Home, login: Login, tmp_path: Path) -> None:
    other = Home(tmp_path / "project", "ralph-y-00000000", "claude")
    other.make()
    with Lent(home, (login,)) as lent, Lent(other, (login,)) as lent_too:
        (home.path / NAME).write_text(RENEWED)
        lent.pulse()
        lent_too.pulse()
        assert (other.path / NAME).read_text() == RENEWED


def test_half_of_what_the_user_writes_is_not_passed_on(home: Home, login: Login) -> None:
    with Lent(home, (login,)) as lent:
        login.users.write_text(RENEWED[:30])
        lent.pulse()
        assert (home.path / NAME).read_text() == json.dumps(CLAUDE)
        login.users.write_text(RENEWED)
        lent.pulse()
        assert (home.path / NAME).read_text() == RENEWED


def test_a_user_who_has_logged_out_stays_so(home: Home, login: Login) -> None:
    with Lent(home, (login,)) as lent:
        login.users.unlink()
        (home.path / NAME).write_text(RENEWED)
        lent.pulse()
    assert not login.users.exists()


def test_nothing_is_lent_where_nobody_is_logged_in(home: Home, own_home: Path) -> None:
    nobody = Login(own_home / "absent/login.json", NAME)
    assert there((nobody,)) == ()
    with Lent(home, (nobody,)) as lent:
        lent.pulse()
        assert list(home.path.iterdir()) == []
        (home.path / NAME).write_text(RENEWED)
    assert not (own_home / "absent").exists()
    assert not (home.path / NAME).exists()


def spoiled(kind: str) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        path.unlink()
        match kind:
            case "directory":
                path.mkdir()
            case "huge":
                path.write_bytes(b"x" * 70_000)
            case "link":
                path.symlink_to("/etc/passwd")
            case _:
                os.mkfifo(path)

    return spoil


@pytest.mark.parametrize("kind", ["directory", "huge", "link", "fifo"])
def test_a_login_of_the_users_that_cannot_be_read_is_said_and_no_other_is_left_inside(
    kind: str, home: Home, login: Login, own_home: Path
) -> None:
    second = Login(lend(own_home / "second.json", "{}"), "second.json")
    spoiled(kind)(second.users)
    with pytest.raises(RalphError) as caught, Lent(home, (login, second)):
        pass
    assert f"the login in {second.users} cannot be read" in caught.value.message
    assert caught.value.hint
    assert list(home.path.iterdir()) == []


def test_a_lock_that_is_held_costs_no_run_and_the_loss_is_said(
    home: Home, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("untilproven.agents.logins._PATIENCE", 0.01)
    with Lent(home, (login,)) as lent:
        (home.path / NAME).write_text(RENEWED)
        with FileLock(user_state() / "agents/logins.lock", timeout=1, what="test"):
            lent.pulse()
        assert login.users.read_text() == json.dumps(CLAUDE)
        lent.pulse()
        assert login.users.read_text() == RENEWED
    with Lent(home, (login,)) as lent:
        (home.path / NAME).write_text(json.dumps(CLAUDE))
        held = FileLock(user_state() / "agents/logins.lock", timeout=1, what="test")
        held.acquire()
    held.release()
    assert "a login that the agent renewed may be lost" in lent.refused[0]
    assert not (home.path / NAME).exists()


def test_a_renewal_comes_back_while_the_agent_still_runs_and_though_it_fails(
    stage: Stage, actor: Actor, own_home: Path
) -> None:
    users = lend(own_home / f".claude/{NAME}", json.dumps(CLAUDE))
    writes = f'printf %s {shlex.quote(RENEWED)} > "$CLAUDE_CONFIG_DIR/{NAME}"; exec sleep 1000'
    actor.plays("claude", also=writes)
    stage.room.until = lambda: Stop("seen", now=True) if users.read_text() == RENEWED else None
    worked = stage.play(KnownAgent(adapter_of("claude"), Asked(), stage.root))
    assert worked.ending.stopped_because == "asked: seen"
    again = RENEWED.replace("r2", "r3")
    stage.room.until = lambda: None
    actor.plays("claude", "", 1, also=f'printf %s {shlex.quote(again)} > "$CLAUDE_CONFIG_DIR/{NAME}"')
    assert isinstance(stage.play(KnownAgent(adapter_of("claude"), Asked(), stage.root)).result, Failed)
    assert users.read_text() == again


def test_what_was_refused_is_told(stage: Stage, actor: Actor, own_home: Path) -> None:
    users = lend(own_home / f".claude/{NAME}", json.dumps(CLAUDE))
    actor.plays("claude", load("claude", "turn")[0].out, also=f'echo "{{}}" > "$CLAUDE_CONFIG_DIR/{NAME}"')
    stage.play(KnownAgent(adapter_of("claude"), Asked(), stage.root))
    assert any("more in its login than a renewal" in words for words in stage.told("error"))
    assert users.read_text() == json.dumps(CLAUDE)

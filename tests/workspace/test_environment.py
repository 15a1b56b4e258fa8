"""What of the user's environment comes into a room."""

from pathlib import Path

import pytest

from untilproven.workspace import environment


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PATH", "HOME", "LANG", "EDITOR", "KEYBOARD", "TOKENIZERS_PARALLELISM"):
        monkeypatch.setenv(name, "x")


@pytest.mark.parametrize("name", ["PATH", "HOME", "LANG", "EDITOR", "KEYBOARD", "TOKENIZERS_PARALLELISM"])
def test_what_programs_need_comes_in(name: str) -> None:
    assert environment.of_agent()[name] == "x"


@pytest.mark.parametrize(
    "name",
    [
        "SSH_AUTH_SOCK",
        "DBUS_SESSION_BUS_ADDRESS",
        "DOCKER_HOST",
        "XDG_RUNTIME_DIR",
        "TMUX",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "GITHUB_TOKEN",
        "npm_config_token",
        "PGPASSWORD",
        "NGROK_AUTHTOKEN",
        "SOME_CONFIG_CONTENT",
        "SENTRY_DSN",
        "STRIPE_API_KEY",
        "DJANGO_SECRET",
    ],
)
def test_what_reaches_out_or_looks_like_a_secret_stays_out_and_is_named(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "x")
    assert name not in environment.of_agent()
    assert name in environment.dropped()
    assert environment.of_agent({name})[name] == "x"
    assert name not in environment.dropped({name})


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"])
def test_the_keys_of_models_come_in_for_agents_need_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "x")
    assert environment.of_agent()[name] == "x"
    assert name not in environment.dropped()


def test_temporary_files_go_to_the_rooms_own_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/elsewhere")
    assert environment.of_agent()["TMPDIR"] == "/tmp"


def test_a_path_is_no_secret_but_a_key_may_begin_like_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").touch()
    monkeypatch.setenv("DEPLOY_KEY", str(tmp_path / "key"))
    monkeypatch.setenv("STORAGE_KEY", "/9j4AAQSkZJRgABAQ+/==")
    found = environment.secrets()
    assert "DEPLOY_KEY" not in found
    assert found["STORAGE_KEY"] == "/9j4AAQSkZJRgABAQ+/=="


def test_the_keys_in_a_configuration_are_secrets_too(monkeypatch: pytest.MonkeyPatch) -> None:
    document = '{"provider": {"mine": {"options": {"apiKey": "k-1234567", "baseURL": "http://x"}}}}'
    monkeypatch.setenv("OPENCODE_CONFIG_CONTENT", document)
    found = environment.secrets()
    assert found["OPENCODE_CONFIG_CONTENT"] == document
    assert found["OPENCODE_CONFIG_CONTENT provider.mine.options.apiKey"] == "k-1234567"
    assert environment.of_agent()["OPENCODE_CONFIG_CONTENT"] == document

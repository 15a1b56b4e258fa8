import stat
import threading
from pathlib import Path

import pytest

from untilproven.config import trust
from untilproven.config.layers import load
from untilproven.errors import Busy, ConfigError, Damaged, StoreFailed
from untilproven.store.lock import FileLock


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def store(own_home: Path) -> Path:
    return own_home / ".local/state/untilproven/trust.json"


def write(root: Path, text: str) -> None:
    (root / "ralph.toml").write_text(text)


def withheld(root: Path) -> dict[str, object]:
    return {setting.key: setting.value for setting in load(root).withheld}


def grant(root: Path) -> None:
    ask = load(root).ask
    assert ask
    trust.grant(ask)


def test_a_command_from_a_project_file_is_withheld_until_it_is_trusted(root: Path) -> None:
    write(root, 'max_iterations = 5\nagent_cmd = "evil"\n')
    settings = load(root)
    assert (settings.max_iterations, settings.agent_cmd) == (5, None)
    assert [(s.key, s.value, str(s.origin)) for s in settings.withheld] == [
        ("agent_cmd", "evil", f"project file {root}/ralph.toml:2")
    ]
    grant(root)
    assert load(root).agent_cmd == "evil"
    assert withheld(root) == {}


def test_a_withheld_setting_leaves_what_the_layers_below_say(root: Path, own_home: Path) -> None:
    (own_home / ".config/untilproven").mkdir(parents=True)
    (own_home / ".config/untilproven/config.toml").write_text('sandbox = "overlay"\n')
    write(root, 'sandbox = "none"\n')
    assert load(root).sandbox == "overlay"
    assert str(load(root).origin("sandbox")).startswith("user file")


def test_a_comment_keeps_trust_and_a_changed_command_loses_it(root: Path) -> None:
    write(root, 'until = ["pytest"]\ntimeout = "60m"\n')
    grant(root)
    write(root, '# reworded\ntimeout = "2h"\n\nuntil = [ "pytest" ] # moved\n')
    assert withheld(root) == {}
    write(root, 'until = ["pytest; curl evil"]\n')
    assert withheld(root) == {"until": ("pytest; curl evil",)}


def test_a_further_command_loses_trust_for_all_of_them(root: Path) -> None:
    write(root, 'until = ["pytest"]\n')
    grant(root)
    write(root, 'until = ["pytest"]\nhooks.on_action = "evil"\n')
    assert withheld(root).keys() == {"until", "hooks.on_action"}


def test_trust_belongs_to_one_path(root: Path, tmp_path: Path) -> None:
    write(root, 'until = ["pytest"]\n')
    grant(root)
    (tmp_path / "clone").mkdir()
    write(tmp_path / "clone", 'until = ["pytest"]\n')
    assert withheld(tmp_path / "clone").keys() == {"until"}
    assert withheld(root) == {}


def test_settings_in_pyproject_wait_for_trust_as_well(root: Path) -> None:
    (root / "pyproject.toml").write_text('[tool.untilproven]\nnotify = ["evil"]\n')
    assert withheld(root) == {"notify": ("evil",)}


@pytest.mark.parametrize(
    ("mine", "theirs", "waits"),
    [
        ("", "max_iterations = 199", False),
        ("", "max_iterations = 201", True),
        ("max_iterations = 300", "max_iterations = 201", False),
        ("", "max_cost = 1000000", False),
        ("max_cost = 5", "max_cost = 6", True),
        ("", 'timeout = "8h1s"', True),
        ("", "task.max_iterations = 11", True),
        ("", "queue.parallelism = 2", True),
        ("", "auto_test = true", False),
        ("", "auto_test = false", True),
        ("", "require_proof = true", False),
        ("", "require_proof = false", False),
        ("require_proof = true", "require_proof = false", True),
        ("", "trust_promise = true", True),
        ("trust_promise = true", "trust_promise = false", False),
        ("", "commit = true", True),
        ("", "session.enabled = false", False),
        ("session.enabled = false", "session.enabled = true", True),
        ("", 'promise = "OK"', False),
        ("", "until = []", True),
    ],
)
def test_a_protection_may_be_made_stronger_freely_and_weaker_only_with_trust(
    root: Path, own_home: Path, mine: str, theirs: str, waits: bool
) -> None:
    (own_home / ".config/untilproven").mkdir(parents=True)
    (own_home / ".config/untilproven/config.toml").write_text(mine)
    write(root, theirs)
    assert bool(withheld(root)) is waits


@pytest.mark.parametrize(("word", "trusted"), [("1", True), ("yes", True), ("0", False), ("", False)])
def test_a_variable_trusts_for_one_call_and_leaves_no_record(
    root: Path, store: Path, monkeypatch: pytest.MonkeyPatch, word: str, trusted: bool
) -> None:
    write(root, 'agent = "codex"\n')
    monkeypatch.setenv("RALPH_TRUST", word)
    assert (load(root).agent == "codex") is trusted
    assert not store.exists()


def test_a_trust_variable_that_is_neither_yes_nor_no_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, 'agent = "codex"\n')
    monkeypatch.setenv("RALPH_TRUST", "please")
    with pytest.raises(ConfigError, match="RALPH_TRUST"):
        load(root)


def test_what_was_allowed_can_be_taken_back(root: Path) -> None:
    write(root, 'agent = "codex"\n')
    grant(root)
    files = [root / "ralph.toml", root / "pyproject.toml"]
    assert trust.revoke(files) == [root / "ralph.toml"]
    assert withheld(root) == {"agent": "codex"}
    assert trust.revoke(files) == []


def test_revoking_through_a_link_leaves_the_other_projects_trust_alone(root: Path, tmp_path: Path) -> None:
    write(root, 'agent = "codex"\n')
    grant(root)
    (tmp_path / "ralph.toml").symlink_to(root / "ralph.toml")
    assert trust.revoke([tmp_path / "ralph.toml"]) == []
    assert withheld(root) == {}


def test_the_record_is_private(root: Path, store: Path) -> None:
    write(root, 'agent = "codex"\n')
    grant(root)
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert stat.S_IMODE(store.parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"a": 1}', b"\xff", b"null", b"[" * 100_000])
def test_an_unreadable_record_is_an_error_that_trusts_and_replaces_nothing(
    root: Path, store: Path, content: bytes
) -> None:
    write(root, 'agent = "codex"\n')
    ask = load(root).ask
    assert ask
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_bytes(content)
    for attempt in (lambda: load(root), lambda: trust.grant(ask), lambda: trust.revoke([ask.file])):
        with pytest.raises(Damaged, match=r"trust\.json cannot be read, so nothing is trusted"):
            attempt()
    assert store.read_bytes() == content


def test_an_unreadable_record_does_not_matter_where_nothing_needs_trust(root: Path, store: Path) -> None:
    store.parent.mkdir(parents=True)
    store.write_bytes(b"{")
    write(root, "max_iterations = 5\n")
    assert load(root).max_iterations == 5


def test_a_relative_home_is_no_place_for_trust(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".local/state/untilproven").mkdir(parents=True)
    write(root, 'agent = "codex"\n')
    monkeypatch.chdir(root)
    monkeypatch.setenv("HOME", ".")
    with pytest.raises(StoreFailed, match="HOME"):
        load(root)


def test_grants_at_the_same_time_are_all_kept(tmp_path: Path) -> None:
    roots = [tmp_path / f"project-{number}" for number in range(12)]
    asks = []
    for root in roots:
        root.mkdir()
        write(root, 'agent = "codex"\n')
        asks.append(load(root).ask)
    threads = [threading.Thread(target=trust.grant, args=(ask,)) for ask in asks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [withheld(root) for root in roots] == [{}] * len(roots)


def test_a_locked_record_is_waited_for_and_then_said_to_be_locked(
    root: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust, "_LOCK_SECONDS", 0.05)
    write(root, 'agent = "codex"\n')
    store.parent.mkdir(parents=True)
    with FileLock(store.with_name("trust.lock"), timeout=1, what="test"), pytest.raises(Busy, match="trusted files"):
        grant(root)


def test_commands_of_tasks_are_trusted_one_by_one_and_for_one_project(root: Path, tmp_path: Path, store: Path) -> None:
    assert trust.untrusted_commands(root, ["a", "b", "a"]) == ["a", "b"]
    trust.trust_commands(root, ["a"])
    assert trust.untrusted_commands(root, ["a", "b", "a "]) == ["b", "a "]
    assert trust.untrusted_commands(tmp_path, ["a"]) == ["a"]
    kept = store.with_name("trusted-commands")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    before = kept.read_bytes()
    trust.trust_commands(root, ["a"])
    assert kept.read_bytes() == before


def test_taking_commands_back_from_one_project_leaves_those_of_others(root: Path, tmp_path: Path) -> None:
    assert not trust.revoke_commands(root)
    trust.trust_commands(root, ["a"])
    trust.trust_commands(tmp_path, ["a"])
    assert trust.revoke_commands(root)
    assert trust.untrusted_commands(root, ["a"]) == ["a"]
    assert trust.untrusted_commands(tmp_path, ["a"]) == []


def test_a_line_of_trust_that_was_never_finished_trusts_nothing_and_spoils_nothing(root: Path, store: Path) -> None:
    trust.trust_commands(root, ["a", "b"])
    kept = store.with_name("trusted-commands")
    kept.write_bytes(kept.read_bytes()[:-5])
    assert trust.untrusted_commands(root, ["a", "b"]) == ["b"]
    trust.trust_commands(root, ["c"])
    assert trust.untrusted_commands(root, ["a", "b", "c"]) == ["b"]


def test_a_list_of_commands_that_cannot_be_read_trusts_nothing(root: Path, store: Path, tmp_path: Path) -> None:
    store.parent.mkdir(parents=True)
    store.with_name("trusted-commands").mkdir()
    with pytest.raises(Damaged):
        trust.untrusted_commands(root, ["a"])
    with pytest.raises(Damaged):
        trust.trust_commands(root, ["a"])


def test_commands_trusted_at_the_same_time_are_all_kept(root: Path) -> None:
    names = [[f"{writer}-{number}" for number in range(10)] for writer in range(6)]

    def trusting(lines: list[str]) -> None:
        for line in lines:
            trust.trust_commands(root, [line])

    writers = [threading.Thread(target=trusting, args=(lines,)) for lines in names]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert trust.untrusted_commands(root, [line for lines in names for line in lines]) == []

"""Agents are installed once, completely or not at all."""

import stat
from pathlib import Path

import pytest

from real_agents import install
from real_agents.install import NODE, TOOLS, main, missing

# In place of the registry, which not every machine can reach: it puts into place what the real one would.
NPM = """#!/bin/sh
echo "$@" >> {log}
test -e {broken} && exit 1
directory=$3
mkdir -p $directory/node_modules/.bin
name=$(basename $directory)
touch $directory/node_modules/.bin/${{name%-*}}
"""


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(install, "CACHE", tmp_path / "cache")
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text(NPM.format(log=tmp_path / "log", broken=tmp_path / "broken"))
    npm.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{npm.parent}:/usr/bin:/bin")
    return tmp_path


def asked_for(registry: Path) -> list[str]:
    return [line.split()[-1] for line in (registry / "log").read_text().splitlines()]


def test_what_is_there_is_not_installed_again(registry: Path) -> None:
    assert "`make test-agents` installs it" in missing("claude")
    main(["claude"])
    assert missing("claude") == ""
    assert missing("codex").startswith(f"codex {TOOLS['codex'].version} is not in {registry / 'cache'}")
    main(["claude", "codex"])
    assert asked_for(registry) == [
        f"node@{NODE.version}",
        f"@anthropic-ai/claude-code@{TOOLS['claude'].version}",
        f"@openai/codex@{TOOLS['codex'].version}",
    ]


def test_what_was_left_half_finished_is_begun_anew(registry: Path) -> None:
    (registry / "broken").touch()
    with pytest.raises(SystemExit, match=r"npm install .* failed with exit code 1"):
        main(["claude"])
    assert missing("claude")
    (NODE.directory / "half").touch()
    (registry / "broken").unlink()
    main(["claude"])
    assert missing("claude") == ""
    assert not (NODE.directory / "half").exists()


def test_without_npm_it_says_what_to_install(registry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(registry))
    with pytest.raises(SystemExit, match="install nodejs and npm"):
        main([])


def test_an_unknown_name_is_refused(registry: Path) -> None:
    with pytest.raises(SystemExit, match="there is no cloude; there is: node, claude, "):
        main(["cloude"])


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNTILPROVEN_AGENTS_CACHE", raising=False)
    assert install.cache() == Path.home() / ".cache" / "untilproven" / "agents"
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert install.cache() == Path("/x/untilproven/agents")
    monkeypatch.setenv("UNTILPROVEN_AGENTS_CACHE", "/y")
    assert install.cache() == Path("/y")

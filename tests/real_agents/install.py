"""Installs the agents that are tested, each in its pinned version, into a cache outside of the repository.

`python -m real_agents.install [NAME...]`. What is there already is not installed again.
"""

import contextlib
import fcntl
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

VARIABLE = "UNTILPROVEN_AGENTS_CACHE"


def cache() -> Path:
    if given := os.environ.get(VARIABLE):
        return Path(given).absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "untilproven" / "agents"


CACHE = cache()
"""Settled when this is imported: a test has a home of its own."""


class Tool(NamedTuple):
    name: str
    registry: str
    package: str
    version: str
    program: str = ""

    @property
    def directory(self) -> Path:
        return CACHE / f"{self.name}-{self.version}"

    @property
    def bin(self) -> Path:
        return self.directory / ("node_modules/.bin" if self.registry == "npm" else "bin")

    @property
    def command(self) -> Path:
        return self.bin / (self.program or self.name)

    @property
    def is_ready(self) -> bool:
        return (self.directory / ".ready").exists()


NODE = Tool("node", "npm", "node", "22.23.3")
"""Installed first: under an older node npm silently takes older versions of what the others need."""
AGENTS = (
    Tool("claude", "npm", "@anthropic-ai/claude-code", "2.1.325"),
    Tool("codex", "npm", "@openai/codex", "0.166.0"),
    Tool("opencode", "npm", "opencode-ai", "1.18.33"),
    Tool("gemini", "npm", "@google/gemini-cli", "0.61.0"),
    Tool("qwen", "npm", "@qwen-code/qwen-code", "0.24.4"),
    Tool("aider", "pypi", "aider-chat", "0.86.2"),
)
ACP = (
    Tool("claude-agent-acp", "npm", "@agentclientprotocol/claude-agent-acp", "0.99.1"),
    Tool("codex-acp", "npm", "@agentclientprotocol/codex-acp", "2.6.0"),
)
TOOLS = {tool.name: tool for tool in (NODE, *AGENTS, *ACP)}


def missing(name: str) -> str:
    """Why this tool cannot be tested here, or nothing."""
    absent = [tool for tool in (NODE, TOOLS[name]) if not tool.is_ready]
    return f"{absent[0].name} {absent[0].version} is not in {CACHE}; `make test-agents` installs it" if absent else ""


def install(tool: Tool) -> None:
    shutil.rmtree(tool.directory, ignore_errors=True)  # what is there was not finished
    tool.directory.mkdir(parents=True)
    what = f"{tool.package}@{tool.version}" if tool.registry == "npm" else f"{tool.package}=={tool.version}"
    if tool.registry == "npm":
        # Their install scripts run: claude's puts its program into place.
        _run("npm", "install", "--prefix", str(tool.directory), "--no-audit", "--no-fund", "--loglevel=error", what)
    else:
        _run(sys.executable, "-m", "venv", str(tool.directory))
        _run(str(tool.bin / "pip"), "install", "--quiet", "--disable-pip-version-check", what)
    if not tool.command.exists():
        raise SystemExit(f"{what} was installed, but there is no {tool.command}")
    (tool.directory / ".ready").touch()


def with_node(env: Mapping[str, str]) -> dict[str, str]:
    return {**env, "PATH": f"{NODE.bin}{os.pathsep}{env['PATH']}"}


def _run(*command: str) -> None:
    try:
        subprocess.run(command, env=with_node(os.environ), check=True, timeout=1200)
    except FileNotFoundError:
        raise SystemExit(
            f"{command[0]} is needed to install the agents; install nodejs and npm, then try again"
        ) from None
    except subprocess.CalledProcessError as error:
        raise SystemExit(f"`{' '.join(command)}` failed with exit code {error.returncode}") from None


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Two at once would remove each other's half-finished work."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main(names: list[str]) -> None:
    if unknown := [name for name in names if name not in TOOLS]:
        raise SystemExit(f"there is no {unknown[0]}; there is: {', '.join(TOOLS)}")
    with _alone():
        for tool in TOOLS.values():
            if not tool.is_ready and (not names or tool.name in names or tool is NODE):
                sys.stderr.write(f"installing {tool.name} {tool.version} into {tool.directory}\n")
                install(tool)


if __name__ == "__main__":
    main(sys.argv[1:])

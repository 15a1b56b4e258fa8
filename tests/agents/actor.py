"""A small program on PATH that plays an agent: it says what it is told to, and keeps what it was given."""

import shlex
from pathlib import Path

import pytest

KEYS = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK"),
    *("CLAUDE_CODE_USE_VERTEX", "CLAUDE_CONFIG_DIR", "CODEX_API_KEY", "CODEX_HOME", "OPENAI_API_KEY"),
    *("OPENCODE_API_KEY", "OPENCODE_CONFIG_CONTENT", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"),
    *("GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GROQ_API_KEY", "XAI_API_KEY"),
    *("DEEPSEEK_API_KEY", "MISTRAL_API_KEY", "AZURE_API_KEY", "XDG_DATA_HOME"),
)
LOG_OF_AIDER = """
for word; do
  if [ "$before" = --analytics-log ]; then
    echo '{"event":"message_send","properties":{"prompt_tokens":1000,"completion_tokens":50}}' >> "$word"
  fi
  before=$word
done
"""
_SCRIPT = """#!/bin/sh
seen=SEEN
cat > $seen/stdin
tr '\\0' '\\n' < /proc/$$/environ > $seen/env
pwd > $seen/pwd
: > $seen/argv
for word; do printf '%s\\n' "$word" >> $seen/argv; done
ALSO
cat $seen/NAME.out
exit CODE
"""


class Actor:
    """Programs in a directory of their own, which is all there is on PATH besides the system's."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.bin, self.seen = directory / "bin", directory / "seen"
        self.bin.mkdir()
        self.seen.mkdir()
        for name in KEYS:
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PATH", f"{self.bin}:/usr/bin:/bin")

    def plays(self, name: str, out: str = "", code: int = 0, *, also: str = "", where: Path | None = None) -> Path:
        """The program of that name; `also` is a bit of shell that it runs before it speaks."""
        path = (where or self.bin) / name
        (self.seen / f"{name}.out").write_text(out)
        script = _SCRIPT.replace("SEEN", shlex.quote(str(self.seen))).replace("NAME", name).replace("CODE", str(code))
        path.write_text(script.replace("ALSO", also))
        path.chmod(0o755)
        return path

    @property
    def argv(self) -> list[str]:
        return (self.seen / "argv").read_text().splitlines()

    @property
    def env(self) -> dict[str, str]:
        pairs = (line.partition("=") for line in (self.seen / "env").read_text().splitlines())
        return {name: value for name, _, value in pairs}

    @property
    def stdin(self) -> bytes:
        return (self.seen / "stdin").read_bytes()


def lend(path: Path, text: str) -> Path:
    """A login of the user's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o7777

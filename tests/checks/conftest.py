"""A real room: a directory, and a shell in it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from untilproven.contract import Ran, Room


class DirectoryRoom:
    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def root(self) -> Path:
        return self._root

    def run(self, command: str | Sequence[str], *, timeout: float, env: Mapping[str, str] | None = None) -> Ran:
        began = time.monotonic()
        # The suite's own Python comes first, so that `pytest` and `python3` are there on every machine.
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        process = subprocess.Popen(
            ["sh", "-c", command] if isinstance(command, str) else command,
            cwd=self._root,
            env={**os.environ, "PATH": path, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, timed_out = process.communicate(timeout=timeout)[0], False
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, timed_out = process.communicate()[0], True
        code = process.returncode
        return Ran(
            exit_code=code if code >= 0 and not timed_out else None,
            signal=-code if code < 0 and not timed_out else None,
            timed_out=timed_out,
            output=output.decode("utf-8", "replace"),
            seconds=time.monotonic() - began,
        )


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST", "MAKEFLAGS", "MAKELEVEL"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "project"
    root.mkdir()
    return DirectoryRoom(root)

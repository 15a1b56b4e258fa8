"""Starting a tracker's own program: from the user's system, and with a time limit."""

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from untilproven.core.text import cut, printable
from untilproven.queue.trackers.contract import Off, Unclear
from untilproven.store import files
from untilproven.workspace.git.running import path_outside

LARGEST = 64 * files.MIB
_SAID = 2000


class Ended(NamedTuple):
    code: int
    output: bytes
    said: str


def located(name: str, root: Path) -> str:
    """The program, unless it lies in the project's tree; empty if there is none."""
    return shutil.which(name, path=path_outside(root)) or ""


def run(
    program: str, words: Sequence[str], *, root: Path, seconds: float, stdin: bytes = b"", env: Mapping[str, str]
) -> Ended:
    """To its end. A program that could not be started has done nothing; one that was ended may have done it."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        given.write(stdin)
        given.seek(0)
        try:
            process = subprocess.Popen(
                [program, *words],
                cwd=root,
                env={**os.environ, "PATH": path_outside(root), **env},
                stdin=given,
                stdout=output,
                stderr=errors,
                start_new_session=True,
            )
        except OSError as error:
            raise Off(f"{program} cannot be started: {error.strerror}", hint="reinstall it") from error
        with process:
            try:
                code = process.wait(seconds)
            except subprocess.TimeoutExpired:
                raise Unclear(
                    f"{Path(program).name} {words[0]} was ended after {seconds:g} s", hint="try the sync again"
                ) from None
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
        errors.seek(0)
        said = cut(printable(errors.read(16 * _SAID).decode("utf-8", "replace")).strip(), _SAID)
        output.seek(0)
        data = output.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise Unclear(f"{Path(program).name} {words[0]} printed more than can be believed")
    return Ended(code, data, said)

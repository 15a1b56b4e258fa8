"""Scenes are played in processes of their own: as we are, and as an ordinary user."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import untilproven
from workspace.git.playing import SCENES, Play

NOBODY = 65534
WHO = ["as root", "as a user"] if os.geteuid() == 0 else ["as a user"]
PLACES = [Path(untilproven.__file__).parent.parent, Path(msgspec.__file__).parent.parent, SCENES.parent.parent.parent]


@pytest.fixture(params=WHO)
def play(request: pytest.FixtureRequest) -> Iterator[Play]:
    user = NOBODY if request.param == "as a user" and os.geteuid() == 0 else None
    base = Path(tempfile.mkdtemp(prefix="git-", dir="/var/tmp"))  # what is in /tmp is not seen in a room
    base.chmod(0o755)
    if user:
        os.chown(base, user, user)

    def played(file: str, scene: str) -> None:
        done = subprocess.run(
            [_python(user), "-P", SCENES / f"{file}.py", scene, base],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(map(str, PLACES)), "LANG": "C.UTF-8"},
            cwd="/",
            user=user,
            group=user,
            extra_groups=[] if user else None,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    try:
        yield played
    finally:
        subprocess.run(["chmod", "-R", "u+rwX", base], check=False, capture_output=True)
        shutil.rmtree(base)


def _python(user: int | None) -> str:
    """This one, if that user may start it."""
    if user is not None:
        try:
            subprocess.run([sys.executable, "-c", ""], user=user, group=user, cwd="/", check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return "/usr/bin/python3"
    return sys.executable

"""Scenes: behaviours that are played in processes of their own, as we are and as an ordinary user.

They stand as functions in the files of a directory `scenes` beside the tests that play them.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec

import untilproven

NOBODY = 65534
WHO = ["as root", "as a user"] if os.geteuid() == 0 else ["as a user"]
TESTS = Path(__file__).parents[1]
PLACES = [Path(untilproven.__file__).parent.parent, Path(msgspec.__file__).parent.parent, TESTS]

Play = Callable[[str, str], None]


def scenes_of(test: str, file: str) -> list[str]:
    """The scenes of a file; `test` is the file of the test that plays them."""
    text = (Path(test).parent / "scenes" / f"{file}.py").read_text()
    return re.findall(r"^def (\w+)\(base: Path\)", text, re.MULTILINE)


def played(path: Path, scene: str, base: Path, user: int | None) -> None:
    """Play one scene in a directory of its own."""
    done = subprocess.run(
        [_python(user), "-P", path, scene, base],
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


@cache
def is_readable(user: int) -> bool:
    """Whether that user can enter where this lies: a clone in the home of root is closed to everybody else."""
    looked = subprocess.run(["/bin/ls", *PLACES], user=user, group=user, cwd="/", capture_output=True, check=False)
    return looked.returncode == 0


def _python(user: int | None) -> str:
    """This one, if that user may start it."""
    if user is not None:
        try:
            subprocess.run([sys.executable, "-c", ""], user=user, group=user, cwd="/", check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return "/usr/bin/python3"
    return sys.executable

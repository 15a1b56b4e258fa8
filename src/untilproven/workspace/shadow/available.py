"""Can programs be confined here? Found out by confining one."""

import os
import tempfile
from functools import cache
from pathlib import Path

from untilproven.contract import Supervision
from untilproven.errors import RalphError
from untilproven.process import landlock
from untilproven.process.landlock import Confinement
from untilproven.store import files
from untilproven.store.vouch import user_state
from untilproven.workspace.overlay.removal import remove
from untilproven.workspace.shadow.room import ShadowRoom

_SECONDS = 20.0


def available() -> str:
    """Why not, in a sentence; empty if a program was confined and held."""
    if reason := landlock.available():
        return reason
    try:
        shadows = user_state() / "shadows"
        with files.explained(shadows):
            shadows.mkdir(mode=0o700, parents=True, exist_ok=True)
            return _tried(shadows)
    except RalphError as error:
        return f"{error.message} ({error.hint})" if error.hint else error.message


@cache
def _tried(shadows: Path) -> str:
    place = Path(tempfile.mkdtemp(prefix="trial-", dir=shadows))
    try:
        for name in ("open", "shut", "secret"):
            (place / name).mkdir()
        (place / "secret/word").write_text("secret")
        confinement = Confinement((str(place / "open"),), hidden=(str(place / "secret"),))
        room = ShadowRoom(place, Supervision(marker=place.name), {"PATH": os.defpath}, confinement, place / "open")
        try:
            ran = room.run(["/bin/sh", "-c", ": > open/file; : > shut/file; cat secret/word"], timeout=_SECONDS)
        finally:
            room.close()
        if ran.not_started:
            return ran.not_started
        held = (place / "open/file").exists() and not (place / "shut/file").exists() and ran.output.strip() != "secret"
        return "" if held else f"a confined trial program was not held: {ran.output.strip()}"
    finally:
        remove(place)

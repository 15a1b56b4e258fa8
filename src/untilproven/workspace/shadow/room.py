"""A room without walls: a directory in which programs are confined as far as the kernel's rules go."""

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from untilproven.contract import Exchange, Supervision
from untilproven.process.keepers import Keeper, Stable
from untilproven.process.landlock import Confinement
from untilproven.process.room import DirectoryRoom
from untilproven.workspace.overlay.removal import remove


class ShadowRoom(DirectoryRoom):
    """Programs see the user's own files. `temporary` is a directory that they may write to."""

    def __init__(
        self, root: Path, supervision: Supervision, env: Mapping[str, str], confinement: Confinement, temporary: Path
    ) -> None:
        named = dict.fromkeys(("TMPDIR", "TMP", "TEMP"), str(temporary))
        super().__init__(root, supervision, {**env, **named})
        self._temporary = temporary
        self._stable = _Confined(confinement)

    @contextlib.contextmanager
    def scratch(self) -> Iterator[Exchange]:
        """The same directory for both sides. Outside it is known by number: a program that puts a link in its place
        leads nobody astray."""
        place = self._temporary / f"ralph-{os.urandom(8).hex()}"
        place.mkdir(mode=0o700)
        fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            yield Exchange(Path(f"/proc/self/fd/{fd}"), place)
        finally:
            os.close(fd)
            remove(place)

    def close(self) -> None:
        """Nothing is left running; closing twice is fine."""
        self._stable.close()


class _Confined(Stable):
    """Keepers that have confined themselves, and with them whatever they start."""

    def __init__(self, confinement: Confinement) -> None:
        super().__init__()
        self._confinement = confinement

    def new(self, marker: str) -> Keeper:
        return Keeper(marker, self._confinement)

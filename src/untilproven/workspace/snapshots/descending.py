"""Reaching things beneath a directory in the order of their paths, however deep they lie."""

from untilproven.workspace.overlay.beneath import Beneath, opened


class Descending(Beneath):
    """Goes on from the directory that was asked for last if the next one lies in it, instead of from the root."""

    def directory(self, path: str) -> int:
        if self._path is not None and path.startswith(f"{self._path}/" if self._path else ""):
            below = path[len(self._path) :].lstrip("/")
            fd = opened(self._fd, below, force=self._force)
            self._forget()
            self._fd, self._path = fd, path
            return fd
        return super().directory(path)

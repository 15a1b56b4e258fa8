"""The same stage as for rooms with walls, and a workspace without them."""

from pathlib import Path

from untilproven.contract import Ran
from untilproven.workspace.openings import Openings
from untilproven.workspace.shadow.workspace import ShadowWorkspace
from workspace.overlay.scenes import stage
from workspace.overlay.scenes.stage import LOOP, SUPERVISION, fingerprint, names_in, play, refuses, succeeded, told

__all__ = [
    "LOOP",
    "SUPERVISION",
    "Stage",
    "fingerprint",
    "names_in",
    "play",
    "refuses",
    "state_of",
    "succeeded",
    "told",
]


class Stage(stage.Stage):
    workspace: ShadowWorkspace  # type: ignore[assignment]

    def another(self, loop_id: str = LOOP, openings: Openings = Openings()) -> ShadowWorkspace:  # type: ignore[override]  # noqa: B008
        """As another process would make it."""
        from untilproven.workspace.factory import _not_the_users  # noqa: PLC0415  HOME is set by now

        return ShadowWorkspace(self.project, loop_id, _not_the_users(self.project), openings)

    def check(self, command: str, *as_it_was: str) -> Ran:
        return self.workspace.checking(SUPERVISION, as_it_was).run(command, timeout=60)

    def notes(self) -> str:
        return "\n".join(self.workspace.delta().notes)


def state_of(root: Path) -> dict[str, tuple[object, ...]]:
    """Names, contents, modes, owners, link targets, empty directories and times of files, git's own included; of the
    directories no times."""
    return {
        path: (*told[:3], told[3] if not str(told[0]).startswith("0o40") else 0)
        for path, told in fingerprint(root, without=(".aiwg",)).items()
        if not path.startswith(".git/objects/")
    }

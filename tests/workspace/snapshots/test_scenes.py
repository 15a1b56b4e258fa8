"""Each scene is a behaviour; see scenes/."""

from pathlib import Path

import pytest

from workspace.overlay.playing import Play, scenes_of

SCENES = Path(__file__).parent / "scenes"
ALL = [(file.stem, scene) for file in sorted(SCENES.glob("*.py")) for scene in scenes_of(str(file.with_suffix("")))]


@pytest.mark.parametrize(("file", "scene"), ALL)
def test_snapshots(play: Play, file: str, scene: str) -> None:
    play(str(SCENES / file), scene)

"""Each scene is a behaviour; see scenes/."""

from pathlib import Path

import pytest

from workspace.playing import Play, scenes_of

FILES = sorted(path.stem for path in (Path(__file__).parent / "scenes").glob("*.py"))


@pytest.mark.parametrize(("file", "scene"), [(file, scene) for file in FILES for scene in scenes_of(__file__, file)])
def test_snapshots(play: Play, file: str, scene: str) -> None:
    play(file, scene)

"""Each scene is a behaviour; see scenes/stacking.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "stacking"))
def test_stacking(play: Play, scene: str) -> None:
    play("stacking", scene)

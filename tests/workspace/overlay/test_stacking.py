"""Each scene is a behaviour; see scenes/stacking.py."""

import pytest

from workspace.overlay.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("stacking"))
def test_stacking(play: Play, scene: str) -> None:
    play("stacking", scene)

"""Each scene is a behaviour; see scenes/hazards.py."""

import pytest

from workspace.overlay.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("hazards"))
def test_hazards(play: Play, scene: str) -> None:
    play("hazards", scene)

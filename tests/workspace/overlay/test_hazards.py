"""Each scene is a behaviour; see scenes/hazards.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "hazards"))
def test_hazards(play: Play, scene: str) -> None:
    play("hazards", scene)

"""Each scene is a behaviour; see scenes/confined.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "confined"))
def test_confined(play: Play, scene: str) -> None:
    play("confined", scene)

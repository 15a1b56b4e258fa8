"""Each scene is a behaviour; see scenes/confined.py."""

import pytest

from workspace.shadow.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("confined"))
def test_confined(play: Play, scene: str) -> None:
    play("confined", scene)

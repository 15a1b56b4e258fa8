"""Each scene is a behaviour; see scenes/killed.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "killed"))
def test_killed(play: Play, scene: str) -> None:
    play("killed", scene)

"""Each scene is a behaviour; see scenes/checking.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "checking"))
def test_checking(play: Play, scene: str) -> None:
    play("checking", scene)

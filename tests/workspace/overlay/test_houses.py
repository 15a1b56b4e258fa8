"""Each scene is a behaviour; see scenes/houses.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "houses"))
def test_houses(play: Play, scene: str) -> None:
    play("houses", scene)

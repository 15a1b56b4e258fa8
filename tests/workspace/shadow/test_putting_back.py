"""Each scene is a behaviour; see scenes/putting_back.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "putting_back"))
def test_putting_back(play: Play, scene: str) -> None:
    play("putting_back", scene)

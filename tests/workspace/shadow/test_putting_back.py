"""Each scene is a behaviour; see scenes/putting_back.py."""

import pytest

from workspace.shadow.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("putting_back"))
def test_putting_back(play: Play, scene: str) -> None:
    play("putting_back", scene)

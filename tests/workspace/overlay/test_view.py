"""Each scene is a behaviour; see scenes/view.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "view"))
def test_view(play: Play, scene: str) -> None:
    play("view", scene)

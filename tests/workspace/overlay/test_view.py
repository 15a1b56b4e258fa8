"""Each scene is a behaviour; see scenes/view.py."""

import pytest

from workspace.overlay.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("view"))
def test_view(play: Play, scene: str) -> None:
    play("view", scene)

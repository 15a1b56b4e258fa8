"""Each scene is a behaviour; see scenes/delta.py."""

import pytest

from workspace.overlay.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("delta"))
def test_delta(play: Play, scene: str) -> None:
    play("delta", scene)

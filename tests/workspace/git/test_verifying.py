"""Each scene is a behaviour; see scenes/verifying.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "verifying"))
def test_verifying(play: Play, scene: str) -> None:
    play("verifying", scene)

"""Each scene is a behaviour; see scenes/interrupted.py."""

import pytest

from workspace.git.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("interrupted"))
def test_interrupted(play: Play, scene: str) -> None:
    play("interrupted", scene)

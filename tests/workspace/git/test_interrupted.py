"""Each scene is a behaviour; see scenes/interrupted.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "interrupted"))
def test_interrupted(play: Play, scene: str) -> None:
    play("interrupted", scene)

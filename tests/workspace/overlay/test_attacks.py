"""Each scene is a behaviour; see scenes/attacks.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "attacks"))
def test_attacks(play: Play, scene: str) -> None:
    play("attacks", scene)

"""Each scene is a behaviour; see scenes/delta.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "delta"))
def test_delta(play: Play, scene: str) -> None:
    play("delta", scene)

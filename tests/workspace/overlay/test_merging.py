"""Each scene is a behaviour; see scenes/merging.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "merging"))
def test_merging(play: Play, scene: str) -> None:
    play("merging", scene)

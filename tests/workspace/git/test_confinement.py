"""Each scene is a behaviour; see scenes/confinement.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "confinement"))
def test_confinement(play: Play, scene: str) -> None:
    play("confinement", scene)

"""Each scene is a behaviour; see scenes/confinement.py."""

import pytest

from workspace.git.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("confinement"))
def test_confinement(play: Play, scene: str) -> None:
    play("confinement", scene)

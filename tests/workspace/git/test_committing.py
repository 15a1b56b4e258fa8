"""Each scene is a behaviour; see scenes/committing.py."""

import pytest

from workspace.git.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("committing"))
def test_committing(play: Play, scene: str) -> None:
    play("committing", scene)

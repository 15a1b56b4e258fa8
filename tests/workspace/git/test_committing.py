"""Each scene is a behaviour; see scenes/committing.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "committing"))
def test_committing(play: Play, scene: str) -> None:
    play("committing", scene)

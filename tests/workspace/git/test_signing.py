"""Each scene is a behaviour; see scenes/signing.py."""

import pytest

from workspace.git.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of("signing"))
def test_signing(play: Play, scene: str) -> None:
    play("signing", scene)

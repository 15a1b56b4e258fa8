"""Each scene is a behaviour; see scenes/signing.py."""

import pytest

from workspace.playing import Play, scenes_of


@pytest.mark.parametrize("scene", scenes_of(__file__, "signing"))
def test_signing(play: Play, scene: str) -> None:
    play("signing", scene)

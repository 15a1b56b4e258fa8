from pathlib import Path

import pytest

from agents.actor import Actor
from agents.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


@pytest.fixture
def actor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Actor:
    return Actor(tmp_path, monkeypatch)

import os
from pathlib import Path

import pytest


@pytest.fixture
def own_porch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the bells of this test hang, among its own temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    return temporary / f"untilproven-{os.geteuid()}"

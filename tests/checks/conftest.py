"""Real rooms: a directory with a shell in it, and a room of layers in which an agent has worked."""

import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path, PurePosixPath

import pytest

from untilproven.contract import Room, Supervision
from untilproven.process import leftovers
from untilproven.process.room import DirectoryRoom
from untilproven.store.layout import find_project
from untilproven.workspace.overlay.workspace import OverlayWorkspace

WRITE = """
import json, os, pathlib
for name, text in json.loads(os.environ["FILES"]).items():
    path = pathlib.Path(name)
    if text is None:
        path.unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
"""


@pytest.fixture
def plain_surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST", "MAKEFLAGS", "MAKELEVEL"):
        monkeypatch.delenv(name, raising=False)
    # The suite's own Python comes first, so that `pytest` and `python3` are there on every machine.
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


@pytest.fixture
def room(tmp_path: Path, plain_surroundings: None) -> Room:
    root = tmp_path / "project"
    root.mkdir()
    return DirectoryRoom(root, Supervision(marker=leftovers.new_marker()))


class Place:
    """A project as the user has it, what an agent makes of it, and rooms to check that in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir()

    def user(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def agent(self, files: Mapping[str, str | None]) -> None:
        self.agent_runs([sys.executable, "-c", WRITE], files)

    def agent_runs(self, command: str | list[str], files: Mapping[str, str | None] | None = None) -> None:
        raise NotImplementedError

    def room(self, as_it_was: Collection[str] = ()) -> Room:
        raise NotImplementedError

    def close(self) -> None:
        """Nothing to do."""


class PlainPlace(Place):
    def agent_runs(self, command: str | list[str], files: Mapping[str, str | None] | None = None) -> None:
        assert self.room().run(command, timeout=60, env={"FILES": json.dumps(files)}).exit_code == 0

    def room(self, as_it_was: Collection[str] = ()) -> Room:
        assert not as_it_was
        return DirectoryRoom(self.root, Supervision(marker=leftovers.new_marker()))


class LayeredPlace(Place):
    def __init__(self, root: Path) -> None:
        super().__init__(root)
        project = find_project(root)
        self._supervision = Supervision(marker=leftovers.new_marker())
        self.workspace = OverlayWorkspace(project, "ralph-check-a1b2c3d4", [PurePosixPath(".aiwg/ralph")])

    def agent_runs(self, command: str | list[str], files: Mapping[str, str | None] | None = None) -> None:
        ran = self.workspace.open(1, self._supervision).run(command, timeout=60, env={"FILES": json.dumps(files)})
        assert ran.exit_code == 0, ran

    def room(self, as_it_was: Collection[str] = ()) -> Room:
        return self.workspace.checking(self._supervision, as_it_was)

    def close(self) -> None:
        self.workspace.close()


@pytest.fixture(params=[PlainPlace, LayeredPlace], ids=["directory", "overlay"])
def place(request: pytest.FixtureRequest, tmp_path: Path, plain_surroundings: None) -> Iterator[Place]:
    made: Place = request.param(tmp_path / "project")
    yield made
    made.close()


@pytest.fixture
def layered(tmp_path: Path, plain_surroundings: None) -> Iterator[LayeredPlace]:
    made = LayeredPlace(tmp_path / "project")
    yield made
    made.close()

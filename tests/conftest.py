"""Every test has a home of its own: nothing here touches the user's files."""

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support import make_project
from untilproven.store.layout import Project

# Whoever runs the suite in the background may have made it deaf to these, and with it every program it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)

settings.register_profile(
    "suite",
    deadline=None,  # a noisy machine must not fail a property
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("suite")


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("home")
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name in ("NO_COLOR", "FORCE_COLOR", *(name for name in os.environ if name.lstrip("_").startswith("RALPH_"))):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture(autouse=True)
def no_child_left_behind() -> Iterator[None]:
    """Whoever starts a process buries it; a product about processes left running must not leave any."""
    before = children()
    yield
    assert children() - before == set()


def children() -> set[str]:
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # a thread may end while we look
            found.update((task / "children").read_text().split())
    return found


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")

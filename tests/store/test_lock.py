import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from untilproven.errors import Busy, Foreign, StoreFailed
from untilproven.store.lock import FileLock


def lock_at(path: Path, timeout: float = 0.0) -> FileLock:
    return FileLock(path, timeout=timeout, what="the thing")


HOLD = """
import sys, time
from pathlib import Path
from untilproven.store.lock import FileLock
FileLock(Path(sys.argv[1]), timeout=0, what="the thing").acquire()
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_holder_waits_and_is_told_who_has_it(tmp_path: Path) -> None:
    with lock_at(tmp_path / "lock"), pytest.raises(Busy) as refused:
        lock_at(tmp_path / "lock", timeout=0.05).acquire()
    assert f"by process {os.getpid()}" in refused.value.message
    assert refused.value.exit_code == 7
    with lock_at(tmp_path / "lock") as lock:
        assert lock.held


def test_the_lock_of_a_killed_holder_is_free_at_once(tmp_path: Path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdout=subprocess.PIPE)
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    with pytest.raises(Busy, match=f"by process {holder.pid}"):
        lock_at(tmp_path / "lock", timeout=0.1).acquire()
    holder.kill()
    holder.wait()
    holder.stdout.close()
    lock_at(tmp_path / "lock").acquire()


def test_a_lock_file_that_was_replaced_is_not_mistaken_for_the_lock(tmp_path: Path) -> None:
    """Whoever holds the old file must not keep the new one's users out, and the other way round."""
    old = lock_at(tmp_path / "lock")
    old.acquire()
    (tmp_path / "lock").unlink()
    new = lock_at(tmp_path / "lock")
    new.acquire()
    with pytest.raises(Busy):
        lock_at(tmp_path / "lock").acquire()


def test_a_symbolic_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Foreign):
        lock_at(tmp_path / "lock").acquire()
    assert not (tmp_path / "elsewhere").exists()


def test_a_directory_that_is_gone_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(StoreFailed, match="gone"):
        lock_at(tmp_path / "nowhere" / "lock").acquire()


def test_the_lock_does_not_leak_into_programs_that_are_started(tmp_path: Path) -> None:
    lock = lock_at(tmp_path / "lock")
    lock.acquire()
    pid = os.posix_spawn("/bin/sleep", ["sleep", "30"], {})
    try:
        lock.release()
        # A program just started lets go of our files a moment after we go on.
        with lock_at(tmp_path / "lock", timeout=5) as again:
            assert again.held
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)

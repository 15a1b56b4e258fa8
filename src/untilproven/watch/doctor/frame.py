"""What a probe is, what it finds, and how a bad one is kept from spoiling the rest."""

import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from untilproven.errors import RalphError
from untilproven.store import files

PROBE_SECONDS = 15.0

Verdict = Literal["ok", "warning", "problem"]


class Finding(msgspec.Struct, frozen=True):
    name: str
    verdict: Verdict
    found: str
    advice: str = ""


Probe = Callable[[], Finding | None]


def examine(wanted: Mapping[str, Probe], *, seconds: float = PROBE_SECONDS) -> list[Finding]:
    """What each probe found; one that raises, dies or hangs is itself a finding."""
    found = [_answer(name, probe, seconds) for name, probe in wanted.items()]
    return [finding for finding in found if finding]


def _answer(name: str, probe: Probe, seconds: float) -> Finding | None:
    answer = in_child(lambda: msgspec.json.encode(_attempt(name, probe)), seconds)
    if answer is None:
        return _failed(name, f"no answer within {seconds:g} s, or its process died")
    return msgspec.json.decode(answer, type=Finding | None)


def _attempt(name: str, probe: Probe) -> Finding | None:
    try:
        finding = probe()
    except RalphError as error:
        finding = Finding(name, "problem", error.message, error.hint)
    except Exception as error:  # noqa: BLE001  whatever goes wrong in one probe, the others are still wanted
        finding = _failed(name, f"{type(error).__name__}: {error}")
    return finding and msgspec.structs.replace(finding, found=_unicode(finding.found), advice=_unicode(finding.advice))


def _failed(name: str, why: str) -> Finding:
    return Finding(name, "problem", f"probe failed: {why}", "if it fails again, report it with this line")


def _unicode(text: str) -> str:
    """File names need not be text; JSON must be."""
    return text.encode("utf-8", "backslashreplace").decode()


def in_child(work: Callable[[], bytes], seconds: float) -> bytes | None:
    """What `work` returns in a forked child, or None: what it does to itself, and what it waits for, stays there."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        failed = 1
        try:
            os.setpgid(0, 0)
            files.write_all(writer, work())
            failed = 0
        finally:
            os._exit(failed)
    os.close(writer)
    answer = None
    try:
        answer = _read_until(time.monotonic() + seconds, reader)
    finally:
        os.close(reader)
        if answer is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
    if answer is None:
        _bury(child)
        return None
    _, status = os.waitpid(child, 0)
    return answer if status == 0 else None


def _bury(child: int) -> None:
    """Wait for a killed process, but not for ever: one that is stuck in the kernel does not die."""
    deadline = time.monotonic() + 1.0
    while os.waitpid(child, os.WNOHANG) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.001)


def _read_until(deadline: float, reader: int) -> bytes | None:
    data = b""
    while select.select([reader], [], [], max(deadline - time.monotonic(), 0))[0]:
        chunk = os.read(reader, 65536)
        if not chunk:
            return data
        data += chunk
    return None

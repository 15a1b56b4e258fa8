"""What a figure is held against, and what a program costs: shared by the benchmarks."""

import os
import platform
import resource
import subprocess
import sys
from pathlib import Path

_MISSED: list[str] = []


def target(name: str, value: float, most: float) -> str:
    """How a figure is shown with what it is held against."""
    if value > most:
        _MISSED.append(name)
    return f"(target: at most {most:g}: {'met' if value <= most else 'missed'})"


def end() -> None:
    """A benchmark that missed a target has failed."""
    if _MISSED:
        sys.exit("missed: " + ", ".join(_MISSED))


def cpu(*command: str, cwd: Path) -> float:
    """CPU milliseconds of one run of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=cwd, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def machine() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = next((line.partition(":")[2].strip() for line in lines if "model name" in line), "unknown")
    return f"{os.cpu_count()} x {model}, {platform.system()} {platform.release()}, Python {platform.python_version()}"

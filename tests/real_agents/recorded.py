"""What the agents said when they were last recorded: true input for whatever reads them.

`python -m real_agents.recorded [NAME...]` records them again.
"""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from real_agents.cases import CASES, Played, play, scrubbed
from real_agents.clients import CLIENTS
from real_agents.install import TOOLS

DATA = Path(__file__).parents[1] / "data" / "agents"


class Recorded(NamedTuple):
    """One run, as it was."""

    out: str
    code: int | None


def events(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


def load(name: str, case: str) -> list[Recorded]:
    """The runs of a case, one for each prompt."""
    codes = json.loads((DATA / name / "endings.json").read_text())[case]
    return [Recorded(path.read_text(), code) for path, code in zip(_files(name, case, len(codes)), codes, strict=True)]


def _files(name: str, case: str, runs: int) -> list[Path]:
    ending = "txt" if name == "aider" else "jsonl"
    return [DATA / name / f"{case}{f'-{at}' if runs > 1 else ''}.{ending}" for at in range(1, runs + 1)]


def _record(name: str) -> None:
    shutil.rmtree(DATA / name, ignore_errors=True)
    (DATA / name).mkdir(parents=True)
    codes: dict[str, list[int | None]] = {}
    for case, what in CASES.items():
        if name not in what.agents:
            continue
        with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
            played = play(name, what, Path(directory))
        codes[case] = [ran.code for ran in played.runs]
        for path, ran in zip(_files(name, case, len(played.runs)), played.runs, strict=True):
            path.write_text(scrubbed(ran.out, played.place))
        sys.stderr.write(_line(name, case, played))
    (DATA / name / "endings.json").write_text(json.dumps(codes, indent=1) + "\n")


def _line(name: str, case: str, played: Played) -> str:
    runs = "; ".join(f"exit {ran.code}, {ran.seconds:.1f} s, CPU {ran.cpu:.1f} s" for ran in played.runs)
    left = [line for ran in played.runs for line in ran.left]
    asked = [request.note or "turn" for request in played.server.requests]
    return f"{name} {TOOLS[name].version} {case}: {runs}; {len(asked)} requests {asked[:6]}; left {left}\n"


if __name__ == "__main__":
    for given in sys.argv[1:] or CLIENTS:
        _record(given)

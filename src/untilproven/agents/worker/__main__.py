"""`python -m untilproven.agents.worker`: the prompt comes on stdin."""

import argparse
import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import infer_model

from untilproven.agents.worker.asking import Line, provider_at
from untilproven.agents.worker.memory import Memory
from untilproven.agents.worker.report import Report
from untilproven.agents.worker.talk import parameters, talk
from untilproven.agents.worker.tools import Place
from untilproven.checks.surroundings import is_of_agents

_FAILED = 1


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # it ends at once; what it started is ended by whoever started it
    report = Report()
    asked = _Arguments(report).parse_args()
    keep = frozenset(asked.keep)
    env = {name: value for name, value in os.environ.items() if name in keep or not is_of_agents(name)}
    place = Place(Path(os.path.realpath(".")), env, asked.action_seconds)
    memory = Memory(asked.home, asked.session)
    report.began(memory.session, asked.model)
    try:
        model = infer_model(asked.model, lambda name: provider_at(name, asked.base_url))
    except (UserError, ImportError, ValueError, TypeError) as error:
        report.result("unable", f"the model {asked.model} cannot be used: {error}")
        return _FAILED
    memory.hear(sys.stdin.buffer.read().decode("utf-8", "replace"))
    line = Line(model, parameters(place), report, seeded=asked.seeded)
    return 0 if asyncio.run(talk(line, memory, place, report, asked.max_turns)) else _FAILED


class _Arguments(argparse.ArgumentParser):
    def __init__(self, report: Report) -> None:
        super().__init__(prog="--agent api --", add_help=False, allow_abbrev=False)
        self._report = report
        self.add_argument("--model", required=True)
        self.add_argument("--home", type=Path, required=True)
        self.add_argument("--session", default="")
        self.add_argument("--keep", action="append", default=[])
        self.add_argument("--seeded", action="store_true")
        self.add_argument("--base-url", default="")
        self.add_argument("--max-turns", type=_positive, default=50)
        self.add_argument("--action-seconds", type=_positive, default=120)

    def error(self, message: str) -> NoReturn:
        self._report.result("unable", f"{message}; it knows --base-url URL, --max-turns N and --action-seconds N")
        sys.exit(_FAILED)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not at least 1")
    return number


if __name__ == "__main__":
    sys.exit(main())

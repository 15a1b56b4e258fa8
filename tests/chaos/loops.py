"""Loops whose runner is killed with SIGKILL at random moments and resumed until the end come to what they would have.

Each scenario runs once undisturbed. Every loop after that is killed again and again: at a random step, at a random
moment, or soon after a random line of its journal; alone, with its keeper, or with its process group; sometimes two
processes try to resume it at once. In the end everything that a user could see must be as in the undisturbed run.

Arguments: how many loops, the seed, and the number of the only one of them to run.
"""

import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from chaos.dying import Doom, doom
from chaos.inspection import Outcome, Spent, inspect
from chaos.place import Place
from chaos.scenarios import ALL, Scenario
from untilproven.model import events
from untilproven.model.state import LoopState
from untilproven.model.status import TERMINAL, Status
from untilproven.process.leftovers import end_leftovers
from untilproven.store.journal import scan
from untilproven.store.layout import find_project

AT_ONCE = 3
LIVES = 12
"""How often a loop may have to be taken up, with nobody killing it, before it has to have ended."""


class Undisturbed(NamedTuple):
    outcome: Outcome
    spent: Spent
    steps: int
    seconds: float
    lines: int

    def doom(self, luck: random.Random) -> Doom:
        """A death somewhere on the way."""
        return doom(luck, steps=self.steps, seconds=self.seconds, lines=self.lines)


def undisturbed(scenario: Scenario, directory: Path) -> Undisturbed:
    place = Place(scenario, directory)
    count = place.home / "steps"
    with place.at_home():
        life = place.live(Doom(), count)
        code = life.end(place.lines)
        seconds, steps = life.seconds, int(count.read_text())
        outcome, spent = inspect(place, _to_the_end(place, code))
    return Undisturbed(outcome, spent, steps, seconds, place.lines())


def disturbed(scenario: Scenario, known: Undisturbed, directory: Path, seed: str) -> Counter[str]:
    """One loop, and how often it was killed where; raises AssertionError if it differs from the undisturbed one."""
    luck = random.Random(seed)
    place = Place(scenario, directory)
    deaths: Counter[str] = Counter()
    with place.at_home():
        code = None
        for _ in range(luck.choice((1, 1, 2, 2, 3, 4, 6))):
            code = _one_life(place, known, luck, deaths)
            if place.state and place.state.status in TERMINAL:
                break
        else:
            code = _to_the_end(place, None)
        outcome, spent = inspect(place, code)
    for name in Outcome._fields:
        was, now = getattr(known.outcome, name), getattr(outcome, name)
        assert now == was, f"{name} is {now}, undisturbed it was {was}"
    assert spent.cost_usd >= known.spent.cost_usd, f"of {known.spent} only {spent} is known"
    assert spent.tokens >= known.spent.tokens, f"of {known.spent} only {spent} is known"
    return deaths


def _one_life(place: Place, known: Undisturbed, luck: random.Random, deaths: Counter[str]) -> int | None:
    """The exit code of one that came to its end before it could be killed, else None."""
    if luck.random() < 0.15 and place.scenario.twice and place.loop:
        _two_at_once(place, known, luck)
        deaths["two at once"] += 1
        return None
    code = place.live(known.doom(luck)).end(place.lines)
    if code < 0:
        deaths[_phase(place, place.state)] += 1
        return None
    _may_leave(place, code)
    return code


def _two_at_once(place: Place, known: Undisturbed, luck: random.Random) -> None:
    """One of them runs the loop. The other is refused, unless the first is dead by then, or done."""
    dooms = [known.doom(luck), Doom()]
    luck.shuffle(dooms)
    lives = [place.live(one) for one in dooms]
    codes = [life.end(place.lines) for life in lives]
    completed = place.state and place.state.status is Status.COMPLETED
    for life, code in zip(lives, codes, strict=True):
        killed = {-9} if life.doom.by != "nothing" else set()
        came_late = {1} if completed else set()
        allowed = {7, known.outcome.exit_code} | killed | came_late
        assert code in allowed, f"two at once left with {codes}"
    assert codes != [7, 7], "each was refused for the other's sake"


def _to_the_end(place: Place, code: int | None) -> int:
    """Take the loop up until it has ended, and kill nobody; the last exit code."""
    for _ in range(LIVES):
        if code is not None:
            _may_leave(place, code)
            if place.state and place.state.status in TERMINAL:
                return code
        code = place.live(Doom()).end(place.lines)
    raise AssertionError(f"it has not ended after {LIVES} lives")


def _may_leave(place: Place, code: int) -> None:
    """Whoever was not killed leaves a loop that has ended, or that waits for a human."""
    status = place.state.status if place.state else "not there"
    assert status in TERMINAL or (status, code) == (Status.PAUSED, 8), f"it left with {code}, and the loop is {status}"


def _phase(place: Place, state: LoopState | None) -> str:
    """Where the runner was killed, by what its journal says last."""
    if state is None or place.loop is None:
        return "before it began"
    if state.status in TERMINAL:
        return "after the end"
    if state.status is Status.COMPLETING:
        return "completing"
    found = [entry.event for entry in scan(place.loop.journal, state.loop_id) if isinstance(entry, events.Entry)]
    match found[-1]:
        case events.IterationStarted():
            return "agent"
        case events.IterationObserved():
            return "checks"
        case events.CheckFinished(iteration=number):
            return "checks" if number else "control"
        case events.LoopStarted():
            return "control"
        case events.LoopAdopted() | events.StateUpdated():
            return "taking up"
    return "between iterations"


def one(number: int, scenario: Scenario, known: Undisturbed, seed: str, place: Path) -> tuple[str, Counter[str]]:
    """One loop, in a worker: what went wrong, and how often its runner died where."""
    directory = place / f"loop-{number:03d}"
    try:
        deaths = disturbed(scenario, known, directory, f"{seed}-{number}")
    except Exception:  # noqa: BLE001  whatever it is, it is reported with its seed
        log = (directory / "log").read_text("utf-8", "replace") if (directory / "log").exists() else ""
        what = f"loop {number} ({scenario.name}) of seed {seed}, in {directory}:\n{traceback.format_exc()}"
        for loop in find_project(directory / "project").state.all_loops():
            end_leftovers(loop.loop_id)
        return f"{what}{log[-4000:]}\n", Counter()
    shutil.rmtree(directory)
    return "", deaths


def chaos(loops: int, said: Callable[[str], object], seed: str, only: int | None = None) -> bool:
    """Whether all of them came to what they would have come to."""
    place = Path(tempfile.mkdtemp(prefix="loops-"))
    order = [scene for scene in ALL for _ in range(scene.often)]
    random.Random(seed).shuffle(order)
    numbered = list(enumerate(islice(cycle(order), loops), start=1))
    if only is not None:
        numbered = [numbered[only - 1]]
    began, failures = time.monotonic(), 0
    deaths: Counter[str] = Counter()
    with ProcessPoolExecutor(AT_ONCE) as workers:
        scenes = list({scene.name: scene for _, scene in numbered}.values())
        places = [place / scene.name.replace(" ", "-") for scene in scenes]
        known = dict(zip([scene.name for scene in scenes], workers.map(undisturbed, scenes, places), strict=True))
        running = [workers.submit(one, number, scene, known[scene.name], seed, place) for number, scene in numbered]
        for done, future in enumerate(running, start=1):
            problem, died = future.result()
            deaths += died
            failures += bool(problem)
            said(problem)
            if done % 50 == 0 or done == len(running):
                said(f"{done} loops, {done - failures} as if undisturbed, {time.monotonic() - began:.0f} s\n")
    times = deaths.total() - deaths["two at once"]
    said(f"killed {times} times (seed {seed}): {', '.join(f'{name} {n}' for name, n in sorted(deaths.items()))}\n")
    if not failures:
        shutil.rmtree(place)
    return not failures


if __name__ == "__main__":
    well = chaos(
        int(sys.argv[1]) if len(sys.argv) > 1 else 200,
        sys.stdout.write,
        sys.argv[2] if len(sys.argv) > 2 else str(random.randrange(10**6)),
        int(sys.argv[3]) if len(sys.argv) > 3 else None,
    )
    sys.exit(0 if well else 1)

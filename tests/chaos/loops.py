"""Loops whose runner is killed with SIGKILL at random moments and resumed until the end come to what they would have.

Each scenario runs once undisturbed in each room. Every loop after that is killed again and again: at a random step, at
a random moment, soon after a random line of its journal, or within a merge, a rollback, a check, a recovery or a
commit; alone, with its keeper, or with its process group; sometimes two processes try to resume it at once. Between
any two lives the user's tree is looked at, and in the end everything that a user could see must be as in the
undisturbed run. Then the loop's tree is brought back to its start and to its end, by processes that are killed too.

Arguments: how many loops, the seed, and the number of the only one of them to run.
"""

import json
import pickle
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple

from chaos import indoors, resting
from chaos.dying import Counted, Doom, doom
from chaos.going_back import goes_back, nothing_left_in_rooms, restored
from chaos.inspection import Outcome, Spent, inspect
from chaos.picture import Picture
from chaos.place import Place
from chaos.scenarios import ALL, Scenario
from untilproven.errors import RalphError
from untilproven.model import events
from untilproven.model.iteration import Fate
from untilproven.model.state import LoopState
from untilproven.model.status import TERMINAL, Status
from untilproven.process.leftovers import end_leftovers
from untilproven.store.journal import scan
from untilproven.store.layout import find_project
from untilproven.workspace.factory import require

AT_ONCE = 3
LIVES = 12
"""How often a loop may have to be taken up, with nobody killing it, before it has to have ended."""
SHARES = {"overlay": 5, "shadow": 1, "none": 2}
"""How many of eight loops are in which room."""
_BASE = "/var/tmp"
"""What is in /tmp, or in memory, is not seen in a room."""


class Case(NamedTuple):
    scenario: Scenario
    sandbox: str

    @property
    def name(self) -> str:
        return f"{self.scenario.name}, {self.sandbox}"


class Undisturbed(NamedTuple):
    outcome: Outcome
    spent: Spent
    counted: Counted
    trees: Mapping[int, Picture]
    restoring: Counted | None


def undisturbed(case: Case, directory: Path) -> Undisturbed:
    place = Place(*case, directory)
    try:
        return _undisturbed(case, place)
    except Exception as error:
        raise AssertionError(f"{case.name}, undisturbed: {error}\n{place.log.read_text()[-4000:]}") from error


def _undisturbed(case: Case, place: Place) -> Undisturbed:
    count, trees = place.outside / "counted", place.outside / "trees"
    trees.mkdir()
    with place.at_home():
        life = place.live(Doom(), count=count, trees=trees)
        code = place.end(life)
        seconds, counted = life.seconds, json.loads(count.read_text())
        outcome, spent = inspect(place, _to_the_end(place, code, trees))
        assert outcome.status == case.scenario.ends, f"{case.name}, undisturbed: {outcome}"
        known = {int(path.name): pickle.loads(path.read_bytes()) for path in trees.iterdir()}
        known[0] = place.start
        if case.sandbox != "none":
            resting.ended(place, known)
        lines = place.lines()
        restoring = restored(place) if _can_go_back(case) else None
        nothing_left_in_rooms(place)
    return Undisturbed(outcome, spent, Counted(counted["steps"], seconds, lines, counted["calls"]), known, restoring)


def _can_go_back(case: Case) -> bool:
    """What the user has changed meanwhile stays, so there is no tree to compare with."""
    return case.sandbox != "none" and not case.scenario.edits


def disturbed(case: Case, known: Undisturbed, directory: Path, seed: str) -> Counter[str]:
    """One loop, and how often it was killed where; raises AssertionError if it differs from the undisturbed one."""
    luck = random.Random(seed)
    place = Place(*case, directory)
    deaths: Counter[str] = Counter()
    with place.at_home():
        code = None
        with place.user_at_work(seed):
            for _ in range(luck.choice((1, 1, 2, 2, 3, 4, 6))):
                code = _one_life(place, known, luck, deaths)
                resting.at_rest(place, known.trees)
                if place.state and place.state.status in TERMINAL:
                    break
            else:
                code = _to_the_end(place, None)
        outcome, spent = inspect(place, code)
        resting.ended(place, known.trees)
        if known.restoring:
            goes_back(place, known.restoring, luck, deaths)
        if code is not None and not case.scenario.edits:
            nothing_left_in_rooms(place)
    for name in Outcome._fields:
        was, now = getattr(known.outcome, name), getattr(outcome, name)
        may_differ = name == "pauses" and case.scenario.edits
        assert may_differ or now == was, f"{name} is {now}, undisturbed it was {was}"
    assert spent.cost_usd >= known.spent.cost_usd, f"of {known.spent} only {spent} is known"
    assert spent.tokens >= known.spent.tokens, f"of {known.spent} only {spent} is known"
    return deaths


def _one_life(place: Place, known: Undisturbed, luck: random.Random, deaths: Counter[str]) -> int | None:
    """The exit code of one that came to its end before it could be killed, else None."""
    if luck.random() < 0.15 and place.scenario.twice and place.loop:
        _two_at_once(place, known, luck)
        deaths["two at once"] += 1
        return None
    code = place.end(place.live(doom(luck, known.counted)))
    if code < 0:
        deaths["in a merge" if place.in_a_merge else _phase(place, place.state)] += 1
        return None
    _may_leave(place, code)
    return code


def _two_at_once(place: Place, known: Undisturbed, luck: random.Random) -> None:
    """One of them runs the loop. The other is refused, unless the first is dead by then, or done."""
    dooms = [doom(luck, known.counted), Doom()]
    luck.shuffle(dooms)
    lives = [place.live(one) for one in dooms]
    codes = [place.end(life) for life in lives]
    completed = place.state and place.state.status is Status.COMPLETED
    for life, code in zip(lives, codes, strict=True):
        killed = {-9} if life.doom.by != "nothing" else set()
        came_late = {1} if completed else set()
        allowed = {7, known.outcome.exit_code} | killed | came_late
        assert code in allowed, f"two at once left with {codes}"
    assert codes != [7, 7], "each was refused for the other's sake"


def _to_the_end(place: Place, code: int | None, trees: Path | None = None) -> int:
    """Take the loop up until it has ended, and kill nobody; the last exit code."""
    for _ in range(LIVES):
        if code is not None:
            _may_leave(place, code)
            if place.state and place.state.status in TERMINAL:
                return code
        code = place.end(place.live(Doom(), trees=trees))
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
    entries = (entry for entry in scan(place.loop.journal, state.loop_id) if isinstance(entry, events.Entry))
    found = [entry.event for entry in entries if not isinstance(entry.event, events.CheckpointWritten)]
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
        case events.IterationFinished(fate=fate) if place.sandbox != "none":
            return "keep" if fate is Fate.KEPT else "discard"
    return "between iterations"


def one(number: int, case: Case, known: Undisturbed, seed: str, place: Path) -> tuple[str, Counter[str]]:
    """One loop, in a worker: what went wrong, and how often its runner died where."""
    directory = place / f"loop-{number:03d}"
    try:
        deaths = disturbed(case, known, directory, f"{seed}-{number}")
    except Exception:  # noqa: BLE001  whatever it is, it is reported with its seed
        log = (directory / "log").read_text("utf-8", "replace") if (directory / "log").exists() else ""
        what = f"loop {number} ({case.name}) of seed {seed}, in {directory}:\n{traceback.format_exc()}"
        for loop in find_project(directory / "project").state.all_loops():
            end_leftovers(loop.loop_id)
        return f"{what}{log[-4000:]}\n", Counter()
    _remove(directory)
    return "", deaths


def _remove(directory: Path) -> None:
    subprocess.run(["chmod", "-R", "u+rwX", directory], check=True)
    shutil.rmtree(directory)


def cases(loops: int, seed: str, said: Callable[[str], object]) -> list[Case]:
    """As many as there are to be loops, and of every room its share."""
    possible = {}
    for sandbox, share in SHARES.items():
        try:
            require(sandbox)
            possible[sandbox] = share
        except RalphError as error:
            said(f"no loops in {sandbox}: {error.message}\n")
    luck = random.Random(seed)
    orders = {}
    for sandbox in possible:
        inside = indoors.IN_ANY_ROOM if sandbox != "none" else ()
        scenes = (*ALL, *inside, *(indoors.IN_OVERLAY if sandbox == "overlay" else ()))
        order = [Case(scene, sandbox) for scene in scenes for _ in range(scene.often)]
        luck.shuffle(order)
        orders[sandbox] = cycle(order)
    rooms = [sandbox for sandbox, share in possible.items() for _ in range(share)]
    luck.shuffle(rooms)
    return [next(orders[sandbox]) for sandbox in islice(cycle(rooms), loops)]


def chaos(loops: int, said: Callable[[str], object], seed: str, only: int | None = None) -> bool:
    """Whether all of them came to what they would have come to."""
    place = Path(tempfile.mkdtemp(prefix="loops-", dir=_BASE))
    numbered = list(enumerate(cases(loops, seed, said), start=1))
    if only is not None:
        numbered = [numbered[only - 1]]
    shares = Counter(case.sandbox for _, case in numbered)
    said(f"seed {seed}: {', '.join(f'{count} with --sandbox {name}' for name, count in shares.items())}\n")
    began, failures = time.monotonic(), 0
    deaths: Counter[str] = Counter()
    with ProcessPoolExecutor(AT_ONCE) as workers:
        scenes = list({case.name: case for _, case in numbered}.values())
        places = [place / case.name.replace(" ", "-") for case in scenes]
        known = dict(zip([case.name for case in scenes], workers.map(undisturbed, scenes, places), strict=True))
        running = [workers.submit(one, number, case, known[case.name], seed, place) for number, case in numbered]
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
        _remove(place)
    return not failures


if __name__ == "__main__":
    well = chaos(
        int(sys.argv[1]) if len(sys.argv) > 1 else 160,
        sys.stdout.write,
        sys.argv[2] if len(sys.argv) > 2 else str(random.randrange(10**6)),
        int(sys.argv[3]) if len(sys.argv) > 3 else None,
    )
    sys.exit(0 if well else 1)

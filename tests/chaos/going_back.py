"""Looking back at a loop that has ended, and going back: to the start, and to the end again."""

import json
import random
import stat
import subprocess
import sys
from collections import Counter

from chaos.dying import Counted, Doom, doom_of_restoring
from chaos.picture import Picture, between, same_things, untouched
from chaos.place import Place
from chaos.resting import YOURS, same_git


def restored(place: Place) -> Counted:
    """Go back to the start and to the end again, undisturbed; what the first took."""
    start, end = place.start, place.tree()
    count = place.outside / "restoring"
    code = place.end(place.live(Doom(), ("restore", _loop(place), "start"), count=count))
    assert code == 0, f"restore left with {code}"
    _there(place, start)
    assert place.end(place.live(Doom(), ("restore", _loop(place), "end"))) == 0
    same_things(place.tree(), end, "back at the end")
    counted = json.loads(count.read_text())
    return Counted(counted["steps"], 0.0, 0, counted["calls"])


def goes_back(place: Place, known: Counted, luck: random.Random, deaths: Counter[str]) -> None:
    """Whatever becomes of those who go back, whoever comes after them arrives."""
    start, end = place.start, place.tree()
    _differs(place, start, end)
    for target, there in (("start", start), ("end", end)):
        for _ in range(luck.choice((0, 1, 1, 2, 3))):
            _killed(place, known, luck, deaths, start, end)
        code = place.end(place.live(Doom(), ("restore", _loop(place), target)))
        assert code == 0, f"restore left with {code}"
        same_things(place.tree(), there, f"back at the {target}")
        if target == "start":
            _there(place, start)


def _killed(
    place: Place, known: Counted, luck: random.Random, deaths: Counter[str], start: Picture, end: Picture
) -> None:
    life = place.live(doom_of_restoring(luck, known), ("restore", _loop(place), luck.choice(("start", "start", "end"))))
    code = place.end(life)
    assert code in {0, -9}, f"restore left with {code}"
    if code:
        deaths["restoring, in a merge" if place.in_a_merge else "restoring"] += 1
    between(place.tree(), start, end)
    if not place.scenario.commits:
        same_git(place)


def _there(place: Place, start: Picture) -> None:
    """The very first tree, with the times of its files."""
    now = place.tree()
    same_things(now, start, "back at the start")
    untouched(now, start, start, directories=False)
    mine = {path: seen for path, seen in start.items() if path.partition("/")[0] == YOURS}
    untouched(now, mine, mine, directories=place.sandbox == "overlay")


def _differs(place: Place, start: Picture, end: Picture) -> None:
    """`ralph diff` names every file and link that is other than it was, and nothing that is not."""
    words = [sys.executable, "-P", "-m", "untilproven", "diff", _loop(place), "--json"]
    said = subprocess.run(words, cwd=place.project.root, env=place.env, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    told = {change["path"].rstrip("/") for change in json.loads(said.stdout)["changes"]}
    things = {
        path: {side[path].thing if path in side else None for side in (start, end)}
        for path in start.keys() | end.keys()
    }
    changed = {path for path, sides in things.items() if len(sides) > 1}
    named = {path for path in changed if not all(side is None or stat.S_ISDIR(side[0]) for side in things[path])}
    assert named <= told <= changed, f"diff does not name {named - told}, and names {told - changed}"


def nothing_left_in_rooms(place: Place) -> None:
    left = list(place.rooms.glob("[!t]*/*/*"))
    assert not left, f"layers are left: {left}"


def _loop(place: Place) -> str:
    assert place.loop
    return place.loop.loop_id

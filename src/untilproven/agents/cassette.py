"""Reading a cassette: all of it is understood before anything of it is played."""

import re
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import msgspec
from msgspec import UNSET

from untilproven.config import durations
from untilproven.config.nearest import nearest
from untilproven.core import naming
from untilproven.core.naming import quoted
from untilproven.errors import ConfigError, Damaged, Foreign
from untilproven.model.cassette import (
    STEPS,
    Cassette,
    Complain,
    Crash,
    Delete,
    Exit,
    Expected,
    Leave,
    MeetLimit,
    Scene,
    Step,
    Time,
    Use,
    Wait,
    Write,
)
from untilproven.store import files

_LARGEST = 64 * files.MIB
_WHERE = re.compile(r" - at `\$\.?(.*)`$")
_HARMLESS = {"SIGCHLD", "SIGCONT", "SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGWINCH"}


def load(path: Path) -> Cassette:
    """The cassette in a TOML or JSON file, or a ConfigError that names the file, the iteration and the step."""
    if path.is_dir():
        return _recorded(path)
    reading = _Reading(path)
    raw = reading.parsed()
    reading.known(raw, Cassette.__struct_fields__, "key")
    scenes = raw.get("iteration", [])
    if not isinstance(scenes, list):
        reading.refuse('the iterations are a list, each beginning with "[[iteration]]"')
    return reading.convert({**raw, "iteration": tuple(reading.scene(scene, at) for at, scene in _from_1(scenes))})


def _recorded(directory: Path) -> Cassette:
    """What a loop recorded: a file for each iteration. What it did not do is not made up."""
    scenes: list[Scene] = []
    while (file := directory / f"{naming.iteration_name(len(scenes) + 1)}.json").exists():
        scenes.append(_as_one(load(file).iteration))
    if not scenes:
        raise ConfigError(
            f"{directory} is no recording: there is no {naming.iteration_name(1)}.json in it",
            hint="a loop makes one with `ralph run --mode logged`; it is in its directory, under recording/",
        )
    return Cassette(version=1, then="error", iteration=tuple(scenes))


def _as_one(attempts: tuple[Scene, ...]) -> Scene:
    """The last attempt at an iteration, preceded by what it found done of those before it: a provider's limit is not
    met again. What was thrown away on the way is not played."""
    *before, scene = attempts or (Scene(steps=()),)
    for earlier in reversed(before):
        if earlier.expect and scene.expect and earlier.expect.tree == scene.expect.before:
            done = (step for step in earlier.steps if isinstance(step, Write | Delete | Use))
            expected = msgspec.structs.replace(scene.expect, before=earlier.expect.before)
            scene = Scene(steps=(*done, *scene.steps), expect=expected)
    return scene


def scene_of(cassette: Cassette, iteration: int) -> Scene:
    """What is played in this iteration, also when the cassette has come to its end."""
    scenes = cassette.iteration
    if iteration <= len(scenes):
        return scenes[iteration - 1]
    match cassette.then:
        case "repeat-last":
            return scenes[-1]
        case "error":
            return Scene(steps=(Complain(error=f"the cassette has no iteration {iteration}"), Exit(exit=1)))
    return Scene(steps=())


class _Reading:
    """One file, and where in it we are."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._place = ""

    def refuse(self, message: str, hint: str = "") -> NoReturn:
        raise ConfigError(
            f"{self._path}: {self._place}{message}",
            hint=hint or "docs/cassettes.md shows how a cassette is written; `ralph schema cassette` prints its schema",
        )

    def parsed(self) -> dict[str, Any]:
        data = self._bytes()
        try:
            raw = msgspec.json.decode(data) if self._path.suffix == ".json" else _toml(data)
        except (ValueError, RecursionError) as error:  # also what `int` says about too many digits
            self.refuse(f"this is not {'JSON' if self._path.suffix == '.json' else 'TOML'}: {error}")
        if not isinstance(raw, dict):
            self.refuse("a cassette is an object with version and iteration")
        if "version" not in raw:
            self.refuse("it has no version", hint="begin it with: version = 1")
        return raw

    def _bytes(self) -> bytes:
        try:
            return files.read(self._path, _LARGEST)
        except (Damaged, Foreign) as error:
            raise ConfigError(f"the cassette cannot be read: {error.message}", hint=error.hint) from error
        except OSError as error:
            raise ConfigError(
                f"the cassette {self._path} cannot be read: {error.strerror}",
                hint="name a cassette from the project's root on: --agent replay:FILE",
            ) from error

    def scene(self, raw: Any, at: int) -> Scene:
        self._place = f"iteration {at}: "
        if not isinstance(raw, dict):
            self.refuse("an iteration is a table with steps")
        self.known(raw, Scene.__struct_fields__, "key")
        steps = raw.get("steps")
        if not isinstance(steps, list):
            self.refuse("it has no list of steps", hint='for example: steps = [{ say = "Hello." }]')
        understood = tuple(self._step(step, f"iteration {at}, step {number}: ") for number, step in _from_1(steps))
        self._place = f"iteration {at}: "
        try:
            expected = msgspec.convert(raw["expect"], Expected) if "expect" in raw else UNSET
        except ValueError as error:
            self.refuse(f"expect: {_sentence(str(error))}")
        self._place = ""
        return Scene(steps=understood, expect=expected)

    def _step(self, raw: Any, place: str) -> Step:
        self._place = place
        if not isinstance(raw, dict) or not raw:
            self.refuse('a step is a table with its name first, such as { say = "Hello." }')
        names = [name for name in raw if name in STEPS]
        if len(names) > 1:
            self.refuse(f"{' and '.join(names)} are two steps", hint="give each step its own braces")
        if not names:
            self.known(dict.fromkeys([next(iter(raw))]), tuple(STEPS), "step")
        kind = STEPS[names[0]]
        self.known(raw, kind.__struct_fields__, f"field of {names[0]}")
        try:
            return _settled(msgspec.convert(raw, kind))
        except ValueError as error:
            self.refuse(_sentence(str(error)))

    def known(self, raw: Mapping[str, Any], names: tuple[str, ...], what: str) -> None:
        """Refuse the first name that does not exist, with the one that was probably meant."""
        for name in raw:
            if name not in names:
                meant = nearest(name, names)
                hint = f"did you mean {meant}?" if meant else f"there is: {', '.join(names)}"
                self.refuse(f"there is no {what} {quoted(name)}", hint=hint)

    def convert(self, raw: dict[str, Any]) -> Cassette:
        try:
            return msgspec.convert(raw, Cassette)
        except ValueError as error:
            self.refuse(_sentence(str(error)))


def _toml(data: bytes) -> Any:
    import tomllib  # noqa: PLC0415  a cassette may be JSON

    return tomllib.loads(data.decode())


def _from_1(items: list[Any]) -> enumerate[Any]:
    return enumerate(items, 1)


def _sentence(error: str) -> str:
    """What msgspec says, with the name of the field in front."""
    found = _WHERE.search(error)
    said = _WHERE.sub("", error)
    return f"{found[1]}: {said}" if found and found[1] else said


def _settled(step: Step) -> Step:
    """Durations in seconds and signals by number, so that the player need not know their names."""
    match step:
        case Wait(wait=time):
            return Wait(wait=_seconds(time))
        case Leave(leave=time):
            return Leave(leave=_seconds(time))
        case MeetLimit(resume_in=(str() | float() | int()) as time):
            return msgspec.structs.replace(step, resume_in=_seconds(time))
        case Crash(crash=name):
            return Crash(crash=_signal(name))
    return step


def _seconds(time: Time) -> float:
    seconds = durations.parse(time).total_seconds() if isinstance(time, str) else time
    if seconds > durations.LONGEST.total_seconds():
        raise ValueError(f"the longest time is {durations.show(durations.LONGEST)}")
    return seconds


def _signal(name: int | str) -> int:
    """A signal that ends a program unless it is caught."""
    plain = name.upper().removeprefix("SIG") if isinstance(name, str) else ""
    found = next((one for one in signal.Signals if one == name or one.name == f"SIG{plain}"), None)
    if found is None or found.name in _HARMLESS:
        raise ValueError(f"{quoted(str(name))} is no signal that ends a program; SIGKILL, SIGSEGV and 6 are some")
    return int(found)

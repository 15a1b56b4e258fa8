"""How a program ended, in words; and whether it could run at all.

Every evidence that did not pass begins its output with one sentence of ours, so what a program prints cannot pass
for it. A shell says 126 or 127 both when the program of the line is missing and when something inside a script or a
make target is: only the first is broken. The second is marked, and the caller compares with the control:
`missing_inside(control) and missing_inside(now)` is broken, a mark that is new is half-written work.
"""

import shlex

from untilproven.checks import line
from untilproven.contract import Evidence, Ran, Room

_INSIDE = {
    code: f"exited with {code}: a program was not found or not executable inside the check" for code in (126, 127)
}
_LOOK = 30.0
_ABSENT = 3


def missing_inside(evidence: Evidence) -> bool:
    """The check itself ran, and something that it calls was missing."""
    return not evidence.passed and not evidence.broken and evidence.output.startswith(tuple(_INSIDE.values()))


def failed(ran: Ran, why: str) -> Evidence:
    return Evidence(passed=False, output=f"{why}\n{ran.output}", seconds=ran.seconds)


def broken(why: str, ran: Ran | None = None, *, missing: str = "") -> Evidence:
    """`missing` names a file of the tree that the check needs; the task may be to make it."""
    return Evidence(
        passed=False,
        broken=True,
        missing=missing,
        output=f"{why}\n{ran.output if ran else ''}",
        seconds=ran.seconds if ran else 0.0,
    )


def why_not(ran: Ran, timeout: float) -> str:
    """One sentence on an ending that is not exit 0; empty for exit 0."""
    if ran.timed_out:
        return f"stopped after {timeout:g} s without an end"
    if ran.signal is not None:
        return f"ended by signal {ran.signal}"
    if ran.exit_code in _INSIDE:
        return _INSIDE[ran.exit_code]
    return f"exited with {ran.exit_code}" if ran.exit_code else ""


def could_not_run(room: Room, text: str, ran: Ran) -> Evidence | None:
    """The check is broken: the room could not start it, or the program that the line names is not there."""
    if ran.not_started:
        return broken(f"cannot be run: {ran.not_started}", ran)
    if module := _missing_module(room, text, ran):
        return broken(f"cannot be run: this Python has no module {module}", ran)
    if ran.exit_code not in _INSIDE:
        return None
    missing = next((program for program in _programs(text) if not present(room, program, text)), None)
    if missing is None:
        return None
    inside = missing if "/" in missing and not missing.startswith("/") else ""
    return broken(f"cannot be run: {missing} is missing or not executable", ran, missing=inside)


def _missing_module(room: Room, text: str, ran: Ran) -> str:
    """NAME of `python -m NAME`, if that very Python does not have it: Python says 1, as for any failure."""
    parsed = line.read(text)
    words = [word.text for word in parsed.words] if parsed else []
    if parsed is None or ran.exit_code != 1 or "-m" not in words[:-1]:
        return ""
    at = words.index("-m")
    module = words[at + 1]
    if f"No module named {module}" not in ran.output:
        return ""
    look = f"import importlib.util, sys; sys.exit({_ABSENT} * (importlib.util.find_spec({module!r}) is None))"
    asked = room.run(f"{text[: parsed.words[at].start]} -c {shlex.quote(look)}", timeout=_LOOK)
    return module if asked.exit_code == _ABSENT else ""


def _programs(text: str) -> tuple[str, ...]:
    parsed = line.read(text)
    return parsed.programs if parsed else ()


def present(room: Room, program: str, text: str = "") -> bool:
    """Whether a shell in the room would find it, from where the line would look for it."""
    parsed = line.read(text)
    there = parsed.directory if parsed else "."
    # dash's `command -v` calls every file with a slash in its name a command.
    look = "test -f {0} && test -x {0}" if "/" in program else "command -v {0}"
    asked = room.run(f"cd {shlex.quote(there)} && {look.format(shlex.quote(program))}", timeout=_LOOK)
    return asked.exit_code == 0

"""What an agent must bring when it says that it is done: for each requirement, what shows that it is met."""

import re
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

import msgspec

from untilproven.core.text import cut
from untilproven.process import beneath

_ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?(\S.*)")
_PROXIES = frozenset(
    [
        "done",
        "yes",
        "ok",
        "okay",
        "complete",
        "completed",
        "finished",
        "works",
        "it works",
        "works now",
        "implemented",
        "fixed",
        "all good",
        "see above",
        "n/a",
        "na",
        "none",
        "true",
        "verified",
        "checked",
        "tested",
        "looks good",
        "should work",
        "as requested",
    ]
)
_CLAIM_BYTES = 4000
_LEAST = 12
"""Evidence in fewer characters names nothing that anybody could look at."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """One requirement, and what shows that it is met."""

    requirement: str
    evidence: str
    files: tuple[str, ...] = ()
    """Files of the project that the evidence is in."""


def requirements_in(task: str) -> tuple[str, ...]:
    """The items of a task's lists; where it has none, the task is its own requirement."""
    found = [item[1].strip() for line in task.splitlines() if (item := _ITEM.fullmatch(line))]
    return tuple(dict.fromkeys(found)) or (" ".join(task.split()),)


def missing(requirements: Sequence[str], shown: Sequence[Shown], root: Path) -> list[str]:
    """What is wrong with an audit, a sentence each; nothing if every requirement has evidence that can be looked at."""
    given = {_told(one.requirement): one for one in shown}
    problems = []
    for wanted in requirements:
        one = given.pop(_told(wanted), None)
        if one is None:
            problems.append(f"nothing is said about: {wanted}")
        elif _told(one.evidence).rstrip(".! ") in _PROXIES or len(one.evidence.strip()) < _LEAST:
            problems.append(f"{one.evidence.strip()!r} is no evidence for: {wanted}")
        else:
            problems += [
                f"{path} is not there, or is empty, for: {wanted}" for path in one.files if not _is_there(root, path)
            ]
    problems += [f"this was not asked for: {one.requirement}" for one in given.values()]
    return problems


def as_claim(summary: str, shown: Sequence[Shown]) -> str:
    """The audit as it stands in the journal and in the receipt: a claim like any other."""
    lines = [
        f"- {one.requirement}: {one.evidence}" + (f" ({', '.join(one.files)})" if one.files else "") for one in shown
    ]
    return cut("\n".join(("complete: " + summary.strip(), *lines)), _CLAIM_BYTES)


def _is_there(root: Path, path: str) -> bool:
    found = beneath.look(root, PurePosixPath(path))
    return found is not None and found.st_size > 0


def _told(text: str) -> str:
    return " ".join(text.split()).casefold()

"""Paths that a task must leave as they are: work that changes one is held back."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from untilproven.checks.protected import is_allowed
from untilproven.core.globs import matches
from untilproven.core.recovery import OUT_OF_BOUNDS
from untilproven.core.text import text
from untilproven.model.fields import Severity
from untilproven.model.iteration import Finding

PATTERN = "UP-200"


def crossed(paths: Iterable[str], never_touch: Sequence[str]) -> Iterator[Finding]:
    """A finding for each path that was to be left alone, and differs."""
    for path in paths if never_touch else ():
        pattern = next((one for one in never_touch if _means(one, path)), None)
        if pattern is not None:
            yield Finding(
                pattern_id=PATTERN,
                pattern_name="Out Of Bounds",
                severity=Severity.HIGH,
                blocking=True,
                path=text(path),
                message=f"{text(path)} was changed, and the task must leave {text(pattern)} as it is",
                details={"id": f"{PATTERN}:{text(path)}", "line": 1, "subject": text(path), "category": OUT_OF_BOUNDS},
            )


def _means(pattern: str, path: str) -> bool:
    """A pattern means all below what it matches, and one that is only a name means it anywhere."""
    name = pattern.removesuffix("/")
    anywhere = "/" not in name and any(matches(name, part) for part in PurePosixPath(path).parts)
    return anywhere or is_allowed(path, (name.removeprefix("./"),))

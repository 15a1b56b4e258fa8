"""Files and directories that stand out: where tasks are bugs or fail, and what nearly every task changes."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from untilproven.core.pattern import Pattern, pattern, shown
from untilproven.model.learning import TaskCompleted

HOT, CHURNED, FAILED_TOGETHER = 3, 5, 2
_ABOVE_MEAN = 1.5

_Tasks = dict[str, set[str]]


class _Places:
    """Which tasks changed a place: a file, or the directory it is in, with a `/` at the end."""

    def __init__(self, ended: Sequence[TaskCompleted]) -> None:
        self.every: _Tasks = defaultdict(set)
        self.bugs: _Tasks = defaultdict(set)
        self.failed: _Tasks = defaultdict(set)
        for record in ended:
            for place in {*record.files_changed, *map(directory_of, record.files_changed)} - {""}:
                self.every[place].add(record.task_id)
                if record.task_type == "bug":
                    self.bugs[place].add(record.task_id)
                if not record.success:
                    self.failed[place].add(record.task_id)


def directory_of(path: str) -> str:
    """With its `/`; empty for what lies at the top."""
    return path[: path.rstrip("/").rfind("/") + 1]


def hot_spots(ended: Sequence[TaskCompleted]) -> Iterator[Pattern]:
    """A directory is named only if more tasks speak for it than for one of its files."""
    places = _Places(ended)
    for what, tasks in (("were bugs", places.bugs), ("failed", places.failed)):
        hot = {place: shows for place, shows in tasks.items() if len(shows) >= HOT}
        for place, shows in _without_echo(hot).items():
            every = places.every[place]
            yield pattern(
                "failure_hotspot" if what == "failed" else "bug_hotspot",
                place,
                shows,
                f"{len(shows)} of {len(every)} tasks that changed {shown(place)} {what}",
                threshold=HOT,
                strength=len(shows) / len(every),
                glob=_glob(place),
            )


def failing_areas(ended: Sequence[TaskCompleted]) -> Iterator[Pattern]:
    """Directories in which tasks failed, fewer times than make a hot spot."""
    places = _Places(ended)
    for place, shows in places.failed.items():
        if place.endswith("/") and FAILED_TOGETHER <= len(shows) < HOT:
            every = places.every[place]
            yield pattern(
                "failure_mode",
                place,
                shows,
                f"{len(shows)} of {len(every)} tasks that changed files in {shown(place)} failed",
                threshold=FAILED_TOGETHER,
                strength=len(shows) / len(every),
                glob=_glob(place),
            )


def churn(ended: Sequence[TaskCompleted]) -> Iterator[Pattern]:
    files: _Tasks = defaultdict(set)
    for record in ended:
        for path in record.files_changed:
            files[path].add(record.task_id)
    if not files:
        return
    mean = sum(map(len, files.values())) / len(files)
    every = len({record.task_id for record in ended})
    for path, tasks in files.items():
        if len(tasks) >= CHURNED and len(tasks) > _ABOVE_MEAN * mean:
            yield pattern(
                "churn",
                path,
                tasks,
                f"{len(tasks)} of {every} tasks changed {shown(path)}; the mean for a file is {mean:.1f}",
                threshold=CHURNED,
                strength=len(tasks) / every,
                glob=path,
            )


def _glob(place: str) -> str:
    return f"{place}**" if place.endswith("/") else place


def _without_echo(hot: _Tasks) -> _Tasks:
    said = {(directory_of(place), frozenset(tasks)) for place, tasks in hot.items() if not place.endswith("/")}
    return {place: tasks for place, tasks in hot.items() if (place, frozenset(tasks)) not in said}

"""Under which conditions CI runs a check, as far as these are hardly ever true for a change, or forgive its failure."""

import re
from collections.abc import Iterator

from untilproven.guard.signals.documents import below, mapping, words
from untilproven.guard.signals.trees import Value

_HARDLY_EVER = re.compile(
    r"github\.event_name\s*==(?!\s*['\"](?:push|pull_request)\b)|github\.(?:head_ref|base_ref|ref|ref_name|repository|actor)\b|github\.event\."
    r"|\b(?:vars|inputs|secrets)\.|\bfailure\(\)|(?<!!)\bcancelled\(\)|variables\[|variables\.|\$CIRRUS_(?:TAG|CRON|BRANCH)"
)
_OFTEN = re.compile(r"head\.repo|\|\||draft|Agent\.OS|CIRRUS_PR|!=\s*'schedule'")
_MAY_FAIL = re.compile(r"\$\{\{.*==.*\}\}", re.DOTALL)
_NEWEST = re.compile(
    r"(?i)nightly|\bdev\b|-dev|alpha|beta|\brc|head|experimental|optional|pypy|canary|edge|next|\btip\b|master|latest"
)
"""What is not out yet may fail."""
_RARE = frozenset({"schedules", "tags", "web", "triggers", "api", "pipelines", "external", "chat", "tag", "cron"})
_RARE |= {"promote", "rollback", "custom", "manual", "deployment", "release"}
_NOT_A_CHANGE = re.compile(r"(?i)schedule|tag|draft|release|deploy|docs|\.md")


def gates_of(value: dict[str, Value]) -> frozenset[str]:
    """What a job or a step says of when it is run."""
    return frozenset(f"{key}: {said}" for key, said in _gates(value))


def filters_of(pipeline: Value) -> dict[str, str]:
    """In CircleCI, the branches that a job of a workflow is run for, by its name."""
    found = {}
    for workflow in mapping(below(pipeline, "workflows")).values():
        jobs = below(workflow, "jobs")
        for job in jobs if isinstance(jobs, list) else []:
            for name, told in mapping(job).items():
                if only := words(below(told, "filters", "branches", "only")):
                    found[name] = f"branches: {', '.join(only)}"
    return found


def _gates(value: dict[str, Value]) -> Iterator[tuple[str, str]]:
    for key in ("if", "condition", "only_if"):
        said = value.get(key)
        if isinstance(said, str) and _HARDLY_EVER.search(said) and not _OFTEN.search(said):
            yield key, said
    forgives = value.get("continue-on-error")
    if isinstance(forgives, str) and _MAY_FAIL.search(forgives) and not _NEWEST.search(forgives):
        yield "continue-on-error", forgives
    only = words(value.get("only")) or words(below(value.get("only"), "refs"))
    events = words(below(value.get("when"), "event"))
    for key, named in (("only", only), ("when", events)):
        if named and _RARE.issuperset(named):
            yield key, ", ".join(named)
    rules = value.get("rules")
    for rule in rules if isinstance(rules, list) else []:
        when, said = "".join(words(below(rule, "when"))), "".join(words(below(rule, "if")))
        if when in {"never", "manual"} and said and not _NOT_A_CHANGE.search(said):
            yield "rules", f"{said}: {when}"
    yield from _forgiven(value)


def _forgiven(value: dict[str, Value]) -> Iterator[tuple[str, str]]:
    """Jobs that may fail, in Travis."""
    for key in ("jobs", "matrix"):
        jobs = below(value.get(key), "allow_failures")
        for job in jobs if isinstance(jobs, list) else []:
            said = ", ".join(f"{name} {told}" for name, told in mapping(job).items())
            if said and not _NEWEST.search(said):
                yield "allow_failures", said

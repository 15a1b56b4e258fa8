"""What CI runs: the commands of its files, whether they must succeed, and when they are run."""

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from untilproven.guard.comparison import Side
from untilproven.guard.kinds import kind_of
from untilproven.guard.signals.commands import Command, commands_in
from untilproven.guard.signals.documents import NotUnderstood, below, mapping, name_of, values_in, words
from untilproven.guard.signals.gates import filters_of, gates_of
from untilproven.guard.signals.jenkins import steps_in
from untilproven.guard.signals.trees import Value
from untilproven.guard.signals.verifiers import Check, checks_in, is_harmless, purpose_of_name
from untilproven.guard.signals.weakening import verifies_nothing
from untilproven.guard.written import Unreadable, as_text

_RUN = ("run", "script", "bash", "command", "commands", "pwsh", "powershell", "sh", "cmd", "test_script", "cmds")
_OPTIONAL = {
    "continue-on-error": "true",
    "continueOnError": "true",
    "allow_failure": "true",
    "soft_fail": "true",
    "when": "manual",
    "trigger": "manual",
    "failure": "ignore",
    "allow_failures": "true",
}
_NEVER = {"if": "false", "condition": "false", "when": "never", "enabled": "false", "skip": "true"}
_FALSE = re.compile(r"(?:\$\{\{\s*)?(?:false|0|failure\(\) && false|1 == 0|''|never\(\))(?:\s*\}\})?")
_NOT_PIPELINES = re.compile(r"\.pre-commit-config\.ya?ml|\.?codecov\.ya?ml")
_OF_ACTIONS = re.compile(r"(?i)pre-commit/action|lint|clippy|cargo-deny|psf/black|ruff-action|zizmor|codespell|mypy")
_HARMLESS_ACTION = re.compile(r"(?:actions|docker|codecov|pypa)/|[\w.-]+/(?:setup|install|cache|upload|download)")
_READERS = frozenset({".", "source", "bash", "sh"})
"""A script is the same, whoever reads it."""
_DEEPEST = 40


class Run(msgspec.Struct, frozen=True):
    """A command of CI that verifies."""

    check: Check
    path: str
    job: str
    unheard: str | None = None
    """Why nobody hears when it fails: `continue-on-error`, `|| true`; None if somebody does."""
    where: str = ""
    """In which directory, if not in the one at the top."""
    gates: frozenset[str] = frozenset()
    """Conditions that are hardly ever true for a change."""

    @property
    def identity(self) -> str:
        """The tool, what it is run on and where, without its options."""
        words = (word.removeprefix("./") for word in self.check.command.words if word not in _READERS)
        named = (word for word in words if not word.startswith("-") and "=" not in word)
        return f"{self.where}> {self.check.tool} {' '.join(sorted(set(named)))}"


@lru_cache(maxsize=4096)
def is_pipeline(path: str) -> bool:
    return kind_of(path) == "ci" and not _NOT_PIPELINES.fullmatch(name_of(path))


class _Step(msgspec.Struct, frozen=True):
    job: str
    commands: tuple[Command, ...]
    unheard: str | None
    action: Check | None = None
    uses: str = ""
    where: str = ""
    gates: frozenset[str] = frozenset()


def runs_in(side: Side) -> list[Run]:
    """Raises `NotUnderstood`."""
    return [
        Run(check, side.path, step.job, step.unheard or _swallowed(check), step.where, step.gates)
        for step in _steps(side)
        for check in (*checks_in(step.commands), *([step.action] if step.action else []))
    ]


def _swallowed(check: Check) -> str | None:
    return None if check.is_heard else "|| true"


def jobs_in(side: Side) -> frozenset[str]:
    """Whatever they run. Raises `NotUnderstood`."""
    return frozenset(step.job for step in _steps(side))


def commands_of(side: Side) -> list[Command]:
    """All of them. Raises `NotUnderstood`."""
    return [command for step in _steps(side) for command in step.commands]


def _steps(side: Side) -> tuple[_Step, ...]:
    return _read(side.path, side.content)


@lru_cache(maxsize=64)
def _read(path: str, content: bytes) -> tuple[_Step, ...]:
    name = name_of(path)
    try:
        text = as_text(content, though_made=True)
    except Unreadable as reason:
        raise NotUnderstood(str(reason)) from reason
    if name.startswith("Jenkinsfile"):
        return tuple(
            _Step("", commands_in(one.script, stops=True), one.unheard, gates=one.gates) for one in steps_in(text)
        )
    if name.endswith((".sh", ".bash")):
        return (_Step("", commands_in(text), None),)
    return tuple(_filtered(values_in(path, content))) if name.endswith((".yml", ".yaml")) else ()


def _filtered(pipeline: Value) -> Iterator[_Step]:
    filters = filters_of(pipeline)
    for step in _walk(pipeline, (), None, 0, frozenset()):
        said = filters.get(step.job)
        yield msgspec.structs.replace(step, gates=step.gates | {said}) if said else step


def _walk(
    value: Value, keys: tuple[str, ...], unheard: str | None, depth: int, gates: frozenset[str]
) -> Iterator[_Step]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for one in value:
            yield from _walk(one, keys, unheard, depth + 1, gates)
        return
    if not isinstance(value, dict):
        return
    unheard = unheard or _not_heard(value)
    gates |= gates_of(value)
    for key, inside in value.items():
        if key in _RUN and (script := "\n".join(words(inside))):
            where = " ".join(words(value.get("working-directory")))
            yield _Step(_job(keys), commands_in(script, stops=True), unheard, where=where, gates=gates)
        elif key == "uses" and isinstance(inside, str):
            name = inside.partition("@")[0]
            yield _Step(_job(keys), _given(name, value), unheard, _action(inside, value), name, gates=gates)
        elif isinstance(inside, dict | list) and key not in {"with", "env", "on", "variables"}:
            yield from _walk(inside, (*keys, key), unheard, depth + 1, gates)


def _given(action: str, step: dict[str, Value]) -> tuple[Command, ...]:
    """Commands that an action is given to run."""
    if action == "actions/github-script":
        return ()
    scripts = (script for key in _RUN for script in words(below(step.get("with"), key)))
    return tuple(command for script in scripts for command in commands_in(script, stops=True))


def _job(keys: tuple[str, ...]) -> str:
    return next((key for key in keys if key not in {"jobs", "steps", "stages", "run", "workflows"}), "")


def _not_heard(value: dict[str, Value]) -> str | None:
    if any(not one for one in mapping(below(value, "strategy", "matrix")).values() if isinstance(one, list)):
        return "the matrix is empty"
    rules = value.get("rules")
    if isinstance(rules, list) and rules and all(below(rule, "when") in ("never", "manual") for rule in rules):
        return "rules: never or by hand"
    for key, yes in _OPTIONAL.items():
        if value.get(key) == yes:
            return f"{key}: {yes}"
    for key, no in _NEVER.items():
        said = value.get(key)
        if said == no or (isinstance(said, str) and key in {"if", "condition"} and _FALSE.fullmatch(said)):
            return f"{key}: {said}"
    return None


def _action(name: str, step: dict[str, Value]) -> Check | None:
    """An action that verifies, or one of the project's own or of its organisation that may."""
    bare = name.partition("@")[0]
    if "/.github/workflows/" in bare or bare.startswith("./"):
        return Check(
            purpose_of_name(bare.rpartition("/")[2]) or "anything", bare, Command((bare,), 0, is_swallowed=False)
        )
    if bare in {"actions-rs/cargo", "actions-rs/clippy-check"} or "run-cmake" in bare:
        said = words(below(step.get("with"), "command")) or ["clippy" if "clippy" in bare else ""]
        found = checks_in([Command(("cargo", *said), 0, is_swallowed=False)])
        return found[0] if found else None
    if _OF_ACTIONS.search(bare):
        return Check("lint", bare, Command((bare,), 0, is_swallowed=False))
    return None


class Other(msgspec.Struct, frozen=True):
    """A program or an action of which it is not known what it does, or a check that is told not to run."""

    text: str
    path: str
    job: str
    unheard: str | None = None
    only_prepares: bool = False
    """It builds or lists tests, and runs none."""


def others_in(side: Side) -> list[Other]:
    """Raises `NotUnderstood`."""
    found = []
    for step in _steps(side):
        if step.uses and not step.commands and not _HARMLESS_ACTION.match(step.uses):
            found.append(Other(step.uses, side.path, step.job, step.unheard))
        for one in step.commands:
            checks = checks_in([one])
            if not is_harmless(one) and all(map(verifies_nothing, checks)):
                unheard = step.unheard or ("|| true" if one.is_swallowed else None)
                found.append(Other(one.text, side.path, step.job, unheard, only_prepares=bool(checks)))
    return found

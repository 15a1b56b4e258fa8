"""What is typed behind `/ralph`: a task in words, and a few options."""

import re

import msgspec

from untilproven.core.naming import quoted
from untilproven.errors import UsageError
from untilproven.session.records import StartLoopOptions, count

_VALUED = {
    "--max-iterations": "max_iterations",
    "-n": "max_iterations",
    "--completion-promise": "completion_promise",
    "--promise": "completion_promise",
    "--description": "description",
    "--until": "until",
    "--allow-test-edits": "allow_test_edits",
}
_SWITCHES = {
    "--trust-promise": "trust_promise",
    "--replace": "replace",
    "--allow-dependency-changes": "allow_dependency_changes",
}
OPTIONS = frozenset({*_VALUED, *_SWITCHES})
"""What can be said behind `/ralph`."""
_WORD = re.compile(
    r"""(?P<space>\s+)|(?P<name>--?[\w-]+=)?"""
    r"""(?:(?P<double>"(?:[^"\\]|\\.)*"(?=\s|$))|(?P<single>'(?:[^'\\]|\\.)*'(?=\s|$))|(?P<plain>\S+))""",
    re.DOTALL,
)
_ESCAPED = re.compile(r"""\\(["'\\])""")
_HINT = '/ralph "what is to be done" --until "a command that proves it" [--max-iterations N]'


class _Quoted(str):
    """What stood in quotes is a value or a part of the task, and never an option."""

    __slots__ = ()


class RalphArgs(msgspec.Struct, frozen=True, kw_only=True):
    prompt: str
    options: StartLoopOptions = StartLoopOptions()


def parse_ralph_args(text: str) -> RalphArgs:
    """What was typed, as it was typed. Quotes hold together what is between them where a word or a value begins;
    elsewhere, as in `user's`, and where they are never closed, they are part of the words."""
    return parse_words(_words(text))


def _words(text: str) -> list[str]:
    found: list[str] = []
    for word in _WORD.finditer(text):
        if word["space"]:
            found += ["\n"] if "\n" in word["space"] and found else []
        else:
            quotes = word["double"], word["single"]
            inside = next((_ESCAPED.sub(r"\1", quote[1:-1]) for quote in quotes if quote), "")
            if any(quotes) and not word["name"]:
                found.append(_Quoted(inside))
            else:
                found.append((word["name"] or "") + (inside if any(quotes) else word["plain"] or ""))
    return found


def parse_words(words: list[str]) -> RalphArgs:
    """Words as a shell has them. `--opt N` and `--opt=N` are the same; behind `--` everything is the task."""
    task: list[str] = []
    found: dict[str, object] = {}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        if isinstance(word, _Quoted):
            task.append(word)
            continue
        if word == "--":
            task += waiting
            break
        if name in _VALUED:
            if not equals:
                if not waiting:
                    raise UsageError(f"{name} needs a value", hint=_HINT)
                value = str(waiting.pop(0))
            _take(found, name, value)
        elif word in _SWITCHES:
            found[_SWITCHES[word]] = True
        elif word.startswith("--") and " " not in word:
            raise UsageError(
                f"there is no option {quoted(word)}", hint=f"{_HINT}; a task that begins with it goes behind `--`"
            )
        else:
            task.append(word)
    prompt = re.sub(r" ?\n ?", "\n", " ".join(task)).strip()
    if not prompt:
        raise UsageError("there is no task", hint=_HINT)
    return RalphArgs(prompt=prompt, options=msgspec.convert(found, StartLoopOptions))


def _take(found: dict[str, object], name: str, value: str) -> None:
    key = _VALUED[name]
    if key == "max_iterations":
        try:
            found[key] = count(float(value), name)
        except (ValueError, OverflowError):
            raise UsageError(f"{name} must be a whole number, not {quoted(value)}", hint=f"{name} 25") from None
    elif not value.strip():
        raise UsageError(f"{name} is empty", hint=_HINT)
    elif key in {"until", "allow_test_edits"}:
        found[key] = [*found.get(key, []), value]  # type: ignore[misc]  # a list of ours
    else:
        found[key] = value

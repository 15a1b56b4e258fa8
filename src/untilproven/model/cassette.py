"""A cassette: what the agent `replay` does in each iteration, step by step."""

import binascii
import math
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from untilproven.model.fields import Timestamp
from untilproven.model.iteration import IterationResult

Words = Annotated[str, Meta(max_length=100_000)]
Tokens = Annotated[int, Meta(ge=0, le=1_000_000_000_000)]
Time = float | str
"""Seconds, or a duration such as `90s` or `5m`."""


class Step(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """One thing that the agent does. The first field of each has its name."""


class Say(Step, frozen=True, kw_only=True):
    """The agent's own words; with the role `tool`, what a tool printed, in which no claim is looked for."""

    say: Words
    role: Literal["agent", "tool"] = "agent"


class Write(Step, frozen=True, kw_only=True):
    """A whole file. Its mode, such as "755", stays as it was if none is given. What is no text is in `base64`."""

    write: str
    content: str = ""
    base64: str | UnsetType = UNSET
    mode: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        _in_the_tree(self.write)
        if self.base64 is not UNSET:
            if self.content:
                raise ValueError("content and base64 are two words for one thing: leave one out")
            _decodable(self.base64)
        if self.mode is not UNSET and (len(self.mode) not in {3, 4} or self.mode.strip("01234567")):
            raise ValueError('mode is three or four octal digits in quotes, such as "755"')


class Append(Step, frozen=True, kw_only=True):
    """More at the end of a file. The only edit that does something else when it is played twice."""

    append: str
    content: str

    def __post_init__(self) -> None:
        _in_the_tree(self.append)


class Delete(Step, frozen=True, kw_only=True):
    """A file, or a directory with all that is in it; gone already is fine."""

    delete: str

    def __post_init__(self) -> None:
        _in_the_tree(self.delete)


class Rename(Step, frozen=True, kw_only=True):
    """A file or directory gets another name, in place of what has that name."""

    rename: str
    to: str

    def __post_init__(self) -> None:
        old, new = _in_the_tree(self.rename), _in_the_tree(self.to)
        if all(one == other for one, other in zip(old, new, strict=False)):
            raise ValueError(f"{self.rename} cannot become {self.to}: one is inside the other")


class Mkdir(Step, frozen=True, kw_only=True):
    mkdir: str

    def __post_init__(self) -> None:
        _in_the_tree(self.mkdir)


class Link(Step, frozen=True, kw_only=True):
    """A symbolic link; where it leads to is not looked at."""

    link: str
    to: Annotated[str, Meta(min_length=1, max_length=4000)]

    def __post_init__(self) -> None:
        _in_the_tree(self.link)
        _no_nul(self.to)


class Run(Step, frozen=True, kw_only=True):
    """A line of shell; what it prints is a tool's output, and how it ends is only reported."""

    run: Words

    def __post_init__(self) -> None:
        _no_nul(self.run)


class Act(Step, frozen=True, kw_only=True):
    """An action that is reported and not done."""

    action: Literal["read", "write", "bash", "git", "eval"]
    target: Words
    outcome: Words | UnsetType = UNSET


class Spent(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What is left out stays unknown."""

    input_tokens: Tokens | UnsetType = UNSET
    output_tokens: Tokens | UnsetType = UNSET
    total_tokens: Tokens | UnsetType = UNSET
    cost_usd: float | UnsetType = UNSET
    model: Words | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.cost_usd is not UNSET and not 0 <= self.cost_usd <= 1e9:
            raise ValueError("cost_usd is an amount of money, 0 or more")


class Use(Step, frozen=True, kw_only=True):
    """What was consumed since the last such step."""

    usage: Spent


class Wait(Step, frozen=True, kw_only=True):
    wait: Time

    def __post_init__(self) -> None:
        _some_time(self.wait)


class Complain(Step, frozen=True, kw_only=True):
    """An error that the agent reports; it goes on."""

    error: Words


class MeetLimit(Step, frozen=True, kw_only=True):
    """The provider's usage limit, in its words, and when it is over, if that is known."""

    usage_limit: Words
    resume_at: Timestamp | UnsetType = UNSET
    resume_in: Time | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.resume_in is not UNSET:
            _some_time(self.resume_in)
            if self.resume_at is not UNSET:
                raise ValueError("resume_at and resume_in are two words for one thing: leave one out")


class Open(Step, frozen=True, kw_only=True):
    """The agent's own session, which a later iteration may go on with."""

    session: Annotated[str, Meta(min_length=1, max_length=1000)]


class Conclude(Step, frozen=True, kw_only=True):
    """The result of the iteration; the last one counts."""

    result: IterationResult


class Exit(Step, frozen=True, kw_only=True):
    """The agent ends here, with this exit code."""

    exit: Annotated[int, Meta(ge=0, le=255)]


class Crash(Step, frozen=True, kw_only=True):
    """The agent ends here, by this signal: its name or its number."""

    crash: int | str


class Hang(Step, frozen=True, kw_only=True):
    """The agent does nothing more: until it is stopped, or deaf to that until it is killed."""

    hang: Literal["until-stopped", "until-killed"]


class Leave(Step, frozen=True, kw_only=True):
    """A process left behind, in a session of its own and deaf to signals, for so long unless somebody ends it."""

    leave: Time

    def __post_init__(self) -> None:
        _some_time(self.leave)


class Flood(Step, frozen=True, kw_only=True):
    """So many bytes of a tool's output, in short lines or all in one."""

    flood: Annotated[int, Meta(ge=1, le=10_000_000_000)]
    lines: bool = True


STEPS: dict[str, type[Step]] = {kind.__struct_fields__[0]: kind for kind in Step.__subclasses__()}
"""Each kind of step by its name, in the order above."""


class Expected(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What was seen when this was recorded; with `--mode strict` it must be the same again."""

    prompt: str
    """What the agent was told, without times."""
    before: str
    """A hash of the tree it found."""
    tree: str
    """A hash of the tree it left."""


class Scene(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happens in one iteration."""

    steps: tuple[Step, ...]
    expect: Expected | UnsetType = UNSET


class Cassette(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The iterations in their order, and what happens after the last of them."""

    version: Literal[1]
    then: Literal["nothing", "repeat-last", "error"] = "nothing"
    iteration: tuple[Scene, ...]

    def __post_init__(self) -> None:
        if self.then == "repeat-last" and not self.iteration:
            raise ValueError('then = "repeat-last" needs an iteration to repeat')


def _in_the_tree(path: str) -> list[str]:
    _no_nul(path)
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if path.startswith("/") or ".." in parts or not parts:
        raise ValueError(f"{path!a} does not name a file of the project: write it from the root on, without ..")
    return parts


def _decodable(text: str) -> None:
    try:
        binascii.a2b_base64(text, strict_mode=True)
    except binascii.Error as error:
        raise ValueError(f"base64: {error}") from None


def _no_nul(text: str) -> None:
    if "\0" in text:
        raise ValueError("a NUL can be in no path and no command")


def _some_time(time: Time) -> None:
    if not isinstance(time, str) and not (math.isfinite(time) and time >= 0):
        raise ValueError("a time is a number of seconds, 0 or more, or a duration such as 90s")

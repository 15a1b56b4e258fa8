"""Code that is checked more than it was: what is silenced beside that was not heard before either."""

import re
from itertools import pairwise

from untilproven.guard.comparison import Comparison, Pair
from untilproven.guard.signals import strictness
from untilproven.guard.signals.settings import Setting, Settings, settings_of

_BY_DEFAULT = frozenset({"E", "E4", "E7", "E9", "F", "W", "C90"})
"""What ruff and flake8 look for that are told nothing."""
_SIGNATURE = re.compile(r"\bdef (\w+)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(\s*->)?")
_LINTER = re.compile(
    r"(?<![\w.])(?:ruff|flake8|pylint|mypy|pyright|ty|eslint|xo|tslint|typescript|biome|oxlint|golangci-lint|staticcheck"
    r"|clippy|ktlint|detekt|checkstyle|error_?prone|spotbugs|pmd)(?![\w])",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"(?:^|/)(?:\.pre-commit-config\.ya?ml|pyproject\.toml|setup\.cfg|tox\.(?:ini|toml)|[\w-]*requirements[\w./-]*\.(?:txt|in)"
    r"|package\.json|Cargo\.toml|rust-toolchain(?:\.toml)?|\.golangci\.\w+|[\w.-]*\.gradle(?:\.kts)?|pom\.xml|libs\.versions\.toml"
    r"|\.github/workflows/.*|Makefile)$"
)
"""Where it is said with what the code is checked."""
_OF_CODE = frozenset({strictness.LINT, strictness.TYPES})


def is_tightened(comparison: Comparison) -> bool:
    """A strict setting that is on now, a rule more, one that is no longer left out, or a tool that is new."""
    was, now = settings_of(comparison, "before"), settings_of(comparison, "after")
    told = {setting.key.partition(".")[0] for setting in was.values()}
    return any(
        _asks_for_more(setting, was) or (_is_of_code(setting) and setting.key.partition(".")[0] not in told)
        for setting in now.values()
    ) or any(_left_out_less(setting, now) for setting in was.values())


def is_updated(comparison: Comparison) -> bool:
    """A linter or a type checker is another one, or in another version."""
    return any(_is_updated(pair) for pair in comparison.pairs if pair.before and _TOLD.search(pair.path))


def _is_updated(pair: Pair) -> bool:
    was, now = (_versions(side.text) if side else frozenset() for side in (pair.before, pair.after))
    return was != now


def _versions(text: str) -> frozenset[str]:
    """Lines that name one with a number, or that stand with one under the name of where it comes from."""
    lines = [line.strip().rstrip(",") for line in text.splitlines()]
    named = (line for line in lines if _LINTER.search(line) and any(map(str.isdigit, line)))
    below = (f"{line} {behind}" for line, behind in pairwise(lines) if _LINTER.search(line) and "rev:" in behind)
    return frozenset({*named, *below})


def _is_of_code(setting: Setting) -> bool:
    keys = (strictness.ON_IS_STRICT, strictness.LESS_IS_LESS, strictness.LEVELS)
    return any(strictness.signal_for(one, setting.key) in _OF_CODE for one in keys)


def _asks_for_more(setting: Setting, was: Settings) -> bool:
    before = was.anywhere(setting.key)
    if strictness.signal_for(strictness.ON_IS_STRICT, setting.key) in _OF_CODE:
        return setting.is_on and not any(one.is_on for one in before)
    if strictness.signal_for(strictness.LESS_IS_LESS, setting.key) in _OF_CODE:
        return bool(setting.items - _BY_DEFAULT.union(*(one.items for one in before)))
    return False


def _left_out_less(setting: Setting, now: Settings) -> bool:
    if strictness.signal_for(strictness.MORE_IS_LESS, setting.key) not in _OF_CODE:
        return False
    after = now.anywhere(setting.key)
    return bool(after) and bool(setting.items - frozenset().union(*(one.items for one in after)))


def typed_anew(comparison: Comparison) -> int:
    """How many functions of Python say what they give back that did not."""
    return sum(
        len(_functions(pair.before.text, typed=False) & _functions(pair.after.text, typed=True))
        for pair in comparison.of_kind("source")
        if pair.before
        and pair.after
        and pair.path.endswith(".py")
        and pair.before.text.count("->") < pair.after.text.count("->")
    )


def _functions(text: str, *, typed: bool) -> frozenset[str]:
    return frozenset(found[1] for found in _SIGNATURE.finditer(text) if bool(found[2]) is typed)

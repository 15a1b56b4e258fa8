"""What tools are told, by one name for each thing, in whichever file it stands."""

import re
from collections.abc import Iterator
from functools import lru_cache
from weakref import WeakKeyDictionary

import msgspec

from untilproven.guard.comparison import Comparison, Side
from untilproven.guard.signals.documents import NotUnderstood, below, mapping, name_of, values_in
from untilproven.guard.signals.trees import Value

_TOOLS = (
    (r"\.?pytest\.(?:ini|toml)", ""),
    (r"\.coveragerc", "coverage"),
    (r"\.?mypy\.ini", ""),
    (r"\.flake8", ""),
    (r"\.?pylintrc(?:\.toml)?", "pylint"),
    (r"\.?ruff\.toml", "ruff"),
    (r"pyrightconfig\.json", "pyright"),
    (r"tox\.ini", ""),
    (r"setup\.cfg", ""),
    (r"jest[\w.-]*\.config[\w.-]*|\.?jestrc.*", "jest"),
    (r"playwright[\w.-]*\.config[\w.-]*", "playwright"),
    (r"nextest\.toml", "nextest"),
    (r"(?:vitest|vite)[\w.-]*\.(?:config|workspace)[\w.-]*", "vitest"),
    (r"\.nycrc(?:\..*)?|nyc\.config\..*", "nyc"),
    (r"\.c8rc(?:\..*)?", "nyc"),
    (r"\.mocharc(?:\..*)?", "mocha"),
    (r"\.eslintrc(?:\..*)?|eslint\.config\..*", "eslint"),
    (r"biome\.jsonc?", "biome"),
    (r"tsconfig.*\.json", "tsconfig"),
    (r"\.?codecov\.ya?ml", "codecov"),
    (r"\.golangci\.(?:ya?ml|toml|json)", "golangci"),
    (r"\.?clippy\.toml", "clippy"),
    (r"stryker\.(?:conf|config)[\w.-]*|stryker\.conf.*", "stryker"),
    (r"sonar-project\.properties", ""),
    (r"gradle\.properties", ""),
    (r"\.pre-commit-config\.ya?ml", "pre-commit"),
)
_OF_PACKAGES = {
    "jest": "jest",
    "nyc": "nyc",
    "c8": "nyc",
    "mocha": "mocha",
    "eslintConfig": "eslint",
    "ava": "ava",
    "vitest": "vitest",
    "xo": "xo",
    "tap": "tap",
    "eslintIgnore": "eslint.ignorePatterns",
    "stryker": "stryker",
}
_SECTIONS = (
    (re.compile(r"tool:pytest|pytest\b"), "pytest"),
    (re.compile(r"coverage:(.*)"), r"coverage.\1"),
    (re.compile(r"mypy-(.*)"), r"mypy.overrides.\1"),
)
_ALIKE = (
    (re.compile(r"^(?:tool\.)?pytest\.ini_options\b"), "pytest"),
    (re.compile(r"^pytest\.strict_xfail$"), "pytest.xfail_strict"),
    (re.compile(r"^ruff\.lint\."), "ruff."),
    (re.compile(r"^vitest\.(?:test|defineConfig)\."), "vitest."),
    (re.compile(r"^golangci\.linters\.settings\."), "golangci.linters-settings."),
    (re.compile(r"^golangci\.linters\.exclusions\.rules\b"), "golangci.issues.exclude-rules"),
)


class Setting(msgspec.Struct, frozen=True):
    key: str
    values: tuple[str, ...]
    side: Side

    @property
    def number(self) -> float | None:
        """In percent where it says so."""
        found = re.fullmatch(r"\s*(-?\d+(?:\.\d+)?)\s*%?\s*", self.values[-1]) if self.values else None
        return float(found[1]) if found else None

    @property
    def is_on(self) -> bool:
        return self.values[-1:] in {("true",), ("True",)}

    @property
    def is_off(self) -> bool:
        return self.values[-1:] in {("false",), ("False",)}

    @property
    def items(self) -> frozenset[str]:
        """The values, each line and each word behind a comma for itself; pytest's lists are words."""
        between = r"[\s,]" if self.key.startswith("pytest.") else r"[\n,]"
        return frozenset(
            item.strip() for value in self.values for item in re.split(between, value) if item.strip().strip("[]")
        )

    @property
    def line(self) -> int:
        text = self.side.text
        at = text.find(self.key.rpartition(".")[2])
        return text.count("\n", 0, max(at, 0)) + 1


class Settings(dict[str, Setting]):
    """Of one tree, as far as its files differ from the other's. Keys begin with the directory, if there is one."""

    def anywhere(self, key: str) -> list[Setting]:
        bare = key.rpartition("//")[2]
        return [setting for name, setting in self.items() if name.rpartition("//")[2] == bare]


_known: WeakKeyDictionary[Comparison, dict[str, Settings]] = WeakKeyDictionary()


def settings_of(comparison: Comparison, side: str) -> Settings:
    """Of its `before` or its `after`; several ask, and it is read once."""
    known = _known.setdefault(comparison, {})
    if side not in known:
        known[side] = _read(comparison, side)
    return known[side]


def _read(comparison: Comparison, side: str) -> Settings:
    found = Settings()
    for pair in comparison.pairs:
        one: Side | None = getattr(pair, side)
        if one is None or pair.kind in {"dependencies", "cache"}:
            continue
        directory = one.path.rpartition("/")[0]
        try:
            for key, values in _flat_settings(one):
                name = f"{directory}//{key}" if directory else key
                earlier = found.get(name)
                before = earlier.values if earlier and earlier.side is one else ()
                found[name] = Setting(key, (*before, *values), one)
        except NotUnderstood as reason:
            comparison.leave_out(one.path, str(reason))
    return found


def _flat_settings(side: Side) -> Iterator[tuple[str, tuple[str, ...]]]:
    for key, values in _flat("", _told(side)):
        yield _by_one_name(key), values


def _by_one_name(key: str) -> str:
    for pattern, instead in _ALIKE:
        key = pattern.sub(instead, key)
    return key


def _told(side: Side) -> dict[str, Value]:
    name = name_of(side.path)
    if name == "pyproject.toml":
        return mapping(below(values_in(side.path, side.content), "tool"))
    if name == "package.json":
        values = mapping(values_in(side.path, side.content))
        return {tool: values[key] for key, tool in _OF_PACKAGES.items() if key in values}
    if name == "Cargo.toml":
        values = mapping(values_in(side.path, side.content))
        return {
            "cargo": {
                key: values[key] for key in ("lints", "lib", "test", "bin", "package", "workspace") if key in values
            }
        }
    tool = _tool_told_by(name)
    if tool is None:
        return {}
    values = mapping(values_in(side.path, side.content))
    return {tool: values} if tool else {_section(section): value for section, value in values.items()}


@lru_cache(maxsize=1024)
def _tool_told_by(name: str) -> str | None:
    """The tool that a file of this name is for; empty if its sections say so, None if it is for none."""
    return next((tool for pattern, tool in _TOOLS if re.fullmatch(pattern, name)), None)


def _section(name: str) -> str:
    for pattern, instead in _SECTIONS:
        if pattern.fullmatch(name):
            return pattern.sub(instead, name)
    return name


def _flat(prefix: str, value: Value) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Dotted keys; lists of words are values, and what is nested in lists stands under the list's own key."""
    if isinstance(value, str):
        yield prefix, (value,)
    elif isinstance(value, list):
        yield prefix, tuple(one for one in value if isinstance(one, str))
        for one in value:
            if not isinstance(one, str):
                yield from _flat(prefix, one)
    else:
        for key, inside in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else key, inside)

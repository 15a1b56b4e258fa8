"""`npm test` and its kin: the runner is the one that the script of package.json ends in."""

import re
from pathlib import PurePosixPath

import msgspec

MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
PLACEHOLDER = "no test specified"
_TEST = re.compile(r"test(?:[:\-_.]\w.*)?")


class _Package(msgspec.Struct):
    scripts: dict[str, str] = msgspec.field(default_factory=dict)


def script_named(words: tuple[str, ...]) -> str | None:
    """Which script a package manager is asked to run, if it is one for tests."""
    match words:
        case (manager, "run" | "run-script", name, *_) if PurePosixPath(manager).name in MANAGERS:
            pass
        case (manager, "t" | "tst", *_) if PurePosixPath(manager).name in {"npm", "pnpm"}:
            name = "test"
        case (manager, name, *_) if PurePosixPath(manager).name in MANAGERS - {"bun"}:
            pass
        case _:
            return None
    return name if _TEST.fullmatch(name) else None


def scripts(package: str | None) -> dict[str, str]:
    """The scripts of a package.json; none if it is missing or not one."""
    try:
        return msgspec.json.decode(package or "", type=_Package).scripts
    except (ValueError, RecursionError):
        return {}


def passed_on(line: str, manager: str, options: str, before: str) -> str:
    """The manager's line with options for the script's program."""
    separator = " --" if options and manager == "npm" and " -- " not in line else ""
    return f"{before} {line}{separator} {options}".strip()

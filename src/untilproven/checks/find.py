"""Which check a project already has, from the files that lie in it. Nothing is run, no link is followed."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from untilproven.checks.inside import text_of
from untilproven.checks.runners import scripts
from untilproven.errors import UsageError

_LOOKED_AT = 2_000
_PACKAGE_MANAGERS = (("pnpm-lock.yaml", "pnpm"), ("yarn.lock", "yarn"))
_CTEST = r"(?i)\b(?:enable_testing\s*\(|include\s*\(\s*CTest\b)"
_MAKE_TARGET = r"(?m)^(test|check)\s*:(?!=)"


class Found(msgspec.Struct, frozen=True):
    command: str
    why: str


def find_checks(root: Path) -> list[Found]:
    """What could prove work here, the likeliest first."""
    found = [one for look in _LOOKS for one in look(root)]
    hint = _hint(root)
    first = {one.command: one for one in reversed(found)}
    return [Found(one.command, one.why + hint(one.command)) for one in found if first[one.command] is one]


class NoCheck(UsageError):
    """Nothing could tell when the work is done."""

    kind = "no_check"


def nothing_found() -> NoCheck:
    """What a user reads who gave no check and has none."""
    return NoCheck(
        "no check was given and none was found in this project",
        hint='add the command that tells when the work is done to ralph.toml:\n  until = ["pytest -q"]',
    )


def _python(root: Path) -> Iterator[Found]:
    configured = _toml(root / "pyproject.toml").get("tool", {})
    if isinstance(configured, dict) and "pytest" in configured:
        yield Found("pytest", "pyproject.toml has [tool.pytest]")
    for name, mark in (
        ("pytest.ini", ""),
        (".pytest.ini", ""),
        ("tox.ini", "[pytest]"),
        ("setup.cfg", "[tool:pytest]"),
    ):
        text = text_of(root / name)
        if text is not None and mark in text:
            yield Found("pytest", f"{name} configures pytest")
    names = [path for place in ("tests", "test", ".") for path in _names(root / place)]
    tests = [path for path in names if re.fullmatch(r"test_.*\.py|.*_test\.py|conftest\.py", path.name)]
    if not tests:
        return
    texts = [text_of(path) or "" for path in tests[:50]]
    if all("unittest" in text and "pytest" not in text for text in texts):
        start = tests[0].parent
        top = " -t ." if text_of(start / "__init__.py") is not None else ""
        where = f" discover -s {start.name}{top}" if start != root else ""
        yield Found(f"python3 -m unittest{where}", f"{tests[0].relative_to(root)} uses unittest")
    else:
        yield Found("pytest", f"{tests[0].relative_to(root)} is a test")


def _node(root: Path) -> Iterator[Found]:
    package = _json(root / "package.json")
    script = scripts.scripts(text_of(root / "package.json")).get("test", "")
    if script and scripts.PLACEHOLDER not in script:
        manager = next((name for lock, name in _PACKAGE_MANAGERS if (root / lock).is_file()), "npm")
        yield Found(f"{manager} test", f"package.json has a test script: {script}")
        return
    needed = {**_object(package, "devDependencies"), **_object(package, "dependencies")}
    for runner, command in (("vitest", "npx vitest run"), ("jest", "npx jest")):
        if runner in needed:
            yield Found(command, f"package.json depends on {runner}")


def _compiled(root: Path) -> Iterator[Found]:
    present = {path.name for path in _names(root)}
    if "Cargo.toml" in present:
        yield Found("cargo test", "Cargo.toml is here")
    if "go.mod" in present:
        yield Found("go test ./...", "go.mod is here")
    if "pom.xml" in present:
        yield Found("./mvnw test" if "mvnw" in present else "mvn test", "pom.xml is here")
    if present & {"build.gradle", "build.gradle.kts"}:
        yield Found("./gradlew test" if "gradlew" in present else "gradle test", "build.gradle is here")
    if any(name.endswith((".sln", ".slnx", ".csproj", ".fsproj")) for name in present):
        yield Found("dotnet test", "a .NET project is here")
    listed = text_of(root / "CMakeLists.txt")
    if listed and re.search(_CTEST, listed):
        yield Found("cmake -B build && cmake --build build && ctest --test-dir build", "CMakeLists.txt enables testing")


def _scripted(root: Path) -> Iterator[Found]:
    if text_of(root / ".rspec") is not None or any(path.name.endswith("_spec.rb") for path in _names(root / "spec")):
        bundled = "rspec" in (text_of(root / "Gemfile") or "")
        yield Found("bundle exec rspec" if bundled else "rspec", "spec/ or .rspec is here")
    for name in ("phpunit.xml", "phpunit.xml.dist"):
        if text_of(root / name) is not None:
            local = "phpunit/phpunit" in (text_of(root / "composer.json") or "")
            yield Found("vendor/bin/phpunit" if local else "phpunit", f"{name} is here")


def _drivers(root: Path) -> Iterator[Found]:
    for name in ("GNUmakefile", "makefile", "Makefile"):
        for target in sorted(set(re.findall(_MAKE_TARGET, text_of(root / name) or "")), reverse=True):
            yield Found(f"make {target}", f"{name} has the target {target}")
    if "[testenv" in (text_of(root / "tox.ini") or ""):
        yield Found("tox", "tox.ini has test environments")
    if text_of(root / "noxfile.py") is not None:
        yield Found("nox", "noxfile.py is here")


_LOOKS: tuple[Callable[[Path], Iterator[Found]], ...] = (_python, _node, _compiled, _scripted, _drivers)


def _hint(root: Path) -> Callable[[str], str]:
    """CI files are read only to say that they agree."""
    workflows = [path for path in _names(root / ".github" / "workflows") if path.suffix in {".yml", ".yaml"}]
    texts = {str(path.relative_to(root)): text_of(path) or "" for path in [*workflows, root / ".gitlab-ci.yml"]}

    def hint(command: str) -> str:
        return next((f"; {name} runs it too" for name, text in texts.items() if command in text), "")

    return hint


def _names(directory: Path) -> list[Path]:
    """The regular files of one directory, in order."""
    try:
        if directory.is_symlink():
            return []
        found = [path for path in directory.iterdir() if path.is_file() and not path.is_symlink()]
    except OSError:
        return []
    return sorted(found)[:_LOOKED_AT]


def _toml(path: Path) -> dict[str, Any]:
    text = text_of(path)
    if text is None:
        return {}
    import tomllib  # noqa: PLC0415  slow to load, and most projects have no such file

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def _json(path: Path) -> dict[str, Any]:
    try:
        return msgspec.json.decode(text_of(path) or "{}", type=dict[str, Any])
    except (ValueError, RecursionError):
        return {}


def _object(document: dict[str, Any], key: str) -> dict[str, Any]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}

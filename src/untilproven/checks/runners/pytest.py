"""pytest: JUnit XML with the file of each test, so that tests are named by their node ids."""

import shlex

from untilproven.checks.reports import junit
from untilproven.checks.runners.reporting import Call, Reporting
from untilproven.contract import Exchange

_CONFIGURATION = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_NO_CACHE = "no:cacheprovider"


def reporting(call: Call, scratch: Exchange) -> Reporting:
    report = scratch.outside / "pytest.xml"
    options = ["-o", "junit_family=xunit1", f"--junit-xml={scratch.inside / report.name}"]
    if not _cache_is_off(call):
        # Switching the cache off would make `--lf`, `--ff` and a configured cache_dir usage errors; moving it does not.
        options += ["-o", f"cache_dir={scratch.inside / 'cache'}"]
    return Reporting(last=shlex.join(options), read=lambda: junit.read(report, junit.by_file))


def _cache_is_off(call: Call) -> bool:
    """Then `cache_dir` is an unknown setting, and strict projects stop at one."""
    return _NO_CACHE in call.line.text or any(_NO_CACHE in (call.text_of(name) or "") for name in _CONFIGURATION)

"""What the evidence amounts to: one of the four kinds of proof, or none, with the reason."""

from collections.abc import Mapping

import msgspec

from untilproven.model.receipt import Proof

_NAMED = 5


class Outcome(msgspec.Struct, frozen=True):
    """What a check came to. `lost` says what was green in the control and is not any more."""

    passed: bool
    broken: bool = False
    lost: str = ""


class Verdict(msgspec.Struct, frozen=True):
    proof: Proof | None
    reason: str
    """One sentence for the receipt, the console and the agent."""


def judge(
    control: Mapping[str, Outcome],
    now: Mapping[str, Outcome],
    *,
    claimed: bool,
    changed: bool,
    new_tests: bool = False,
    trust_promise: bool = False,
) -> Verdict:
    """From the checks by name, before the work and now, to what may be said of the work.

    `new_tests`: somebody has shown that a test of the agent's fails on the baseline and passes now.
    """
    if against := _against(control, now):
        return Verdict(None, against)
    red = [name for name in now if name in control and not control[name].passed]
    if red and changed:
        how = "could not run" if control[red[0]].broken else "failed"
        return Verdict(Proof.RED_TO_GREEN, f"{red[0]} {how} before the work and passes now")
    if now and new_tests and claimed and changed:
        return Verdict(Proof.NEW_TESTS, "the checks are green, and a new test fails on the code as it was")
    if now and claimed and changed:
        return Verdict(Proof.SUITE_GREEN_AND_CLAIM, "checks green before and after, work claimed")
    if claimed and trust_promise:
        return Verdict(Proof.CLAIMED, "the agent says so, and was to be believed")
    return Verdict(None, _missing(red, now, changed=changed))


def _against(control: Mapping[str, Outcome], now: Mapping[str, Outcome]) -> str:
    """What rules out every kind of proof, a claim's included."""
    if broken := [name for name, outcome in now.items() if outcome.broken]:
        return f"{_names(broken)} could not be run"
    if failing := [name for name, outcome in now.items() if not outcome.passed]:
        return f"{_names(failing)} does not pass yet"
    if gone := [name for name in control if name not in now]:
        return f"{_names(gone)} was not run again"
    return next((f"{name}: {outcome.lost}" for name, outcome in now.items() if outcome.lost), "")


def lost(before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Tests that passed in the control and are not seen to pass now; both are outcomes by name of test."""
    if not before:
        return ""
    if not now:
        return "its tests were seen one by one before the work, and are not any more"
    green = [name for name, outcome in before.items() if outcome == "passed"]
    if vanished := [name for name in green if name not in now]:
        return f"tests that passed before are gone: {_names(vanished)}"
    if skipped := [name for name in green if now[name] == "skipped"]:
        return f"tests that passed before are skipped: {_names(skipped)}"
    if failing := [name for name in green if now[name] != "passed"]:
        return f"tests that passed before fail: {_names(failing)}"
    return ""


def _missing(red: list[str], now: Mapping[str, Outcome], *, changed: bool) -> str:
    if not now:
        return "there is no check that could prove it"
    if red:
        return f"{_names(red)} failed before and passes now, but nothing has changed: it cannot be relied on"
    if not changed:
        return "the checks were green before the work, and nothing has changed"
    return "the checks were green before the work, and nothing is claimed"


def _names(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more

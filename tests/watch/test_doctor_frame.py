"""A probe that raises, hangs, dies or says odd things is a finding, and spoils no other."""

import os
import time

import pytest

from untilproven.watch import doctor
from untilproven.watch.doctor import Finding

# Probes work in forked children; a test worker has threads, which newer Pythons warn about. `ralph` has none.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def fine() -> Finding:
    return Finding("fine", "ok", "here")


def test_a_probe_that_raises_is_a_finding_and_the_others_still_answer() -> None:
    def broken() -> Finding:
        raise ValueError("no idea")

    found = doctor.examine({"first": fine, "broken": broken, "last": fine})
    assert [finding.verdict for finding in found] == ["ok", "problem", "ok"]
    assert found[1].name == "broken"
    assert found[1].found == "probe failed: ValueError: no idea"


def test_a_probe_that_hangs_is_given_up_at_its_deadline() -> None:
    def hanging() -> Finding:
        time.sleep(60)
        return fine()

    begun = time.monotonic()
    found = doctor.examine({"hanging": hanging, "last": fine}, seconds=0.5)
    assert time.monotonic() - begun < 20
    assert found[0].found.startswith("probe failed: no answer within 0.5 s")
    assert found[1] == fine()


def test_a_probe_whose_process_dies_takes_nobody_along() -> None:
    def dying() -> Finding:
        os.kill(os.getpid(), 9)
        return fine()

    found = doctor.examine({"dying": dying, "last": fine})
    assert [finding.verdict for finding in found] == ["problem", "ok"]


def test_a_probe_with_nothing_to_say_is_left_out() -> None:
    assert doctor.examine({"silent": lambda: None, "last": fine}) == [fine()]


def test_a_file_name_that_is_not_text_can_be_told() -> None:
    name = os.fsdecode(b"/opt/\xff/bin")
    (found,) = doctor.examine({"odd": lambda: Finding("odd", "ok", name)})
    assert found.found == "/opt/\\udcff/bin"

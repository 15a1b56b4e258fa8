"""One page, readable without network or script, whatever is in it."""

import re

import pytest
from msgspec.structs import replace

from core.history import History, finding, scored
from untilproven.model import events
from untilproven.model.fields import Decision, PauseReason, Severity
from untilproven.model.iteration import Fate
from untilproven.model.persistence import Reinforcement
from untilproven.watch.report import plots
from untilproven.watch.report.page import page
from watch.report.made import Parsed, material

HOSTILE = "<script>alert('x')</script>\" onload=x \x1b[2J\x00\u202e &amp; | **b** \ud800"


def hostile() -> History:
    history = History().iteration(1, 50, found={Severity.LOW: 1}, fate=Fate.PARKED)
    history.add(events.GuardFinding(iteration=1, finding=finding(Severity.HIGH, HOSTILE, HOSTILE)))
    history.add(events.GateOpened(gate_id=HOSTILE, kind=HOSTILE, message=HOSTILE, iteration=1))
    history.add(events.GateDecided(gate_id=HOSTILE, decision=Decision.REJECT, by="human", why=HOSTILE))
    return history.add(events.ReinforcementChanged(iteration=1, to_level=Reinforcement.AGGRESSIVE, reason=HOSTILE))


def test_a_page_shows_every_iteration_with_its_fate_findings_and_decisions() -> None:
    history = History().iteration(1, found={Severity.CRITICAL: 2}, fate=Fate.PARKED)
    history.add(events.GateOpened(gate_id="destructive-1", kind="destructive", message="m", iteration=1))
    history.add(events.GateDecided(gate_id="destructive-1", decision=Decision.REJECT, by="human", why="it cheats"))
    history.iteration(2, 62.5, found={}, tests=(3, 4))
    said = Parsed(page(material(history, words=(("proof", "proven: red-to-green"),)))).said
    head = said.index("Decided")
    refused = ["1", "parked", "skipped", "-", "-", "2s", "$0.50", "1,000", "2 critical"]
    kept = ["2", "kept", "failed", "62.5", "3 of 4", "2s", "$0.50", "1,000", "none", "-"]
    assert said[head + 1 : head + 21] == [*refused, "destructive: rejected by a human (it cheats)", *kept]
    assert said[said.index("proof") + 1] == "proven: red-to-green"
    assert "iteration 1: tests/test_x.py: test_x was deleted; tests/test_x.py: test_x was deleted" in said


def test_a_page_needs_no_network_and_runs_nothing() -> None:
    parsed = Parsed(page(material(hostile(), task=HOSTILE, words=((HOSTILE, HOSTILE),))))
    assert {"script", "link", "img", "iframe", "object", "base", "a"} & set(parsed.tags) == set()
    assert [name for _, name, _ in parsed.attributes if name.startswith("on") or name in {"src", "href"}] == []
    assert parsed.values("meta", "content")[0] == "default-src 'none'; style-src 'unsafe-inline'"


def test_text_from_outside_is_text_and_has_no_control_characters() -> None:
    made = page(material(hostile(), task=HOSTILE, words=((HOSTILE, HOSTILE),)))
    said = "\n".join(Parsed(made).said)
    assert said.count("<script>alert('x')</script>") >= 6
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\ud800]", made) is None
    made.encode()


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_any_number_of_iterations_makes_a_page_of_bounded_size(count: int) -> None:
    history = History()
    for number in range(1, count + 1):
        history.iteration(number, number % 100, tests=(number % 7, 7), found={Severity.LOW: number % 3})
    made = page(material(history))
    parsed = Parsed(made)
    assert parsed.tags.count("figure") == 4
    assert len(made) < 400_000
    assert parsed.tags.count("circle") <= plots.MOST
    assert parsed.tags.count("tr") == (min(count, 300) + 1 if count else 0)
    assert ("700 earlier iterations are in analytics.json." in parsed.said) == (count == 1000)


def test_without_iterations_the_page_says_so() -> None:
    said = Parsed(page(material(History()))).said
    assert said.count("not known of any iteration") == 4
    assert "None has finished." in said


def test_what_is_not_known_is_not_drawn_as_zero() -> None:
    history = scored(60, 70)
    said = Parsed(page(material(history))).said
    assert said.count("not known of any iteration") == 2  # tests and findings
    assert "Findings of the guard" in said


def test_dark_and_light_have_the_same_colors_by_name() -> None:
    style = page(material(History())).partition("<style>")[2].partition("</style>")[0]
    light, dark = style.partition("@media (prefers-color-scheme: dark)")[::2]
    named = set(re.findall(r"(--[a-z]+):", light))
    assert named
    assert named == set(re.findall(r"(--[a-z]+):", dark))
    assert set(re.findall(r"var\((--[a-z]+)\)", style)) <= named


def test_a_gate_at_which_the_loop_stands_waits() -> None:
    history = History().iteration(1, fate=Fate.PARKED)
    history.add(events.GateOpened(gate_id="destructive-1", kind="destructive", message="m", iteration=1))
    made = material(history)
    paused = replace(made, state=replace(made.state, pause_reason=PauseReason.GATE))
    assert "destructive: left without a decision" in Parsed(page(made)).said
    assert "destructive: waits for a decision" in Parsed(page(paused)).said


def test_what_could_not_be_read_is_said() -> None:
    said = Parsed(page(replace(material(History()), damage=("events.jsonl, line 3: not readable",)))).said
    assert said[said.index("Could not be read") + 1] == "events.jsonl, line 3: not readable"

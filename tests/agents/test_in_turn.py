"""Several agents for one loop: the next takes over where one has met its provider's limit."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import UNSET

from agents.stage import Stage
from support import MOMENT, SetClock
from untilproven.agents.in_turn import InTurn
from untilproven.contract import AgentRoom, Emit, Turn, UsageLimit, Worked
from untilproven.model.iteration import Continue, Usage
from untilproven.model.program import Ending

NOON = MOMENT
LATER = NOON + timedelta(hours=2)


class Player:
    """An agent that does what it is told to, and keeps what it was asked."""

    def __init__(self, name: str, *answers: dict[str, Any]) -> None:
        self.name, self.answers = name, list(answers)
        self.turns: list[Turn] = []
        self.moved: list[str] = []

    def missing(self, root: Path) -> str:
        return "" if self.answers else f"{self.name} is not on PATH in {root.name}"

    def move_in(self, loop_id: str) -> None:
        self.moved.append(f"in {loop_id}")

    def move_out(self, loop_id: str) -> None:
        self.moved.append(f"out {loop_id}")

    def work(self, turn: Turn, room: AgentRoom, emit: Emit) -> Worked:  # noqa: ARG002  it does nothing
        self.turns.append(turn)
        fields = {"ending": Ending(exit_code=0), "usage": Usage(total_tokens=1), **self.answers.pop(0)}
        return Worked(result=Continue(reason=self.name), **fields)


def limited(until: datetime | None = None, tokens: int = 10) -> dict[str, Any]:
    return {"usage_limit": UsageLimit(until), "usage": Usage(total_tokens=tokens, agent="a")}


FINE: dict[str, Any] = {"session": "s1"}


def by(worked: Worked) -> str:
    assert isinstance(worked.result, Continue)
    return worked.result.reason


def test_the_first_works_as_long_as_it_may(stage: Stage) -> None:
    a, b = Player("a", FINE, FINE), Player("b")
    both = InTurn([a, b], SetClock())
    assert both.name == "a,b"
    assert [by(stage.play(both)) for _ in range(2)] == ["a", "a"]
    assert b.turns == []


def test_the_next_takes_over_within_the_iteration_and_it_is_said(stage: Stage) -> None:
    a, b = Player("a", limited(LATER)), Player("b", {"usage": Usage(total_tokens=5, agent="b"), "session": "s"})
    worked = stage.play(InTurn([a, b], SetClock()))
    assert (by(worked), worked.usage_limit) == ("b", None)
    assert stage.told("error") == ["a has met its provider's limit; b goes on"]
    assert (worked.usage.total_tokens, worked.usage.agent) == (15, "b")


def test_what_one_of_them_does_not_say_is_not_known_of_both(stage: Stage) -> None:
    a = Player("a", {"usage_limit": UsageLimit(), "usage": Usage()})
    b = Player("b", {"usage": Usage(total_tokens=5, cost_usd=0.5, cost_source="agent")})
    worked = stage.play(InTurn([a, b], SetClock()))
    usage = worked.usage
    assert worked.uncounted
    assert (usage.total_tokens, usage.cost_usd, usage.cost_source) == (UNSET, UNSET, UNSET)


def test_one_that_is_limited_is_asked_again_when_its_time_has_come(stage: Stage) -> None:
    clock = SetClock()
    a, b = Player("a", limited(LATER), FINE), Player("b", FINE, FINE)
    both = InTurn([a, b], clock)
    assert [by(stage.play(both)), by(stage.play(both))] == ["b", "b"]
    clock.move(hours=2)
    assert by(stage.play(both)) == "a"


def test_one_whose_provider_named_no_time_is_asked_again_after_1_2_4_minutes(stage: Stage) -> None:
    clock = SetClock()
    a, b = Player("a", *[limited()] * 3, FINE, limited(), FINE), Player("b", *[FINE] * 8)
    both = InTurn([a, b], clock)
    assert by(stage.play(both)) == "b"
    for minutes in (1, 2):
        clock.move(seconds=60 * minutes - 1)
        assert (by(stage.play(both)), len(a.turns)) == ("b", minutes)
        clock.move(seconds=1)
        assert (by(stage.play(both)), len(a.turns)) == ("b", minutes + 1)
    clock.move(minutes=4)
    assert by(stage.play(both)) == "a"
    assert by(stage.play(both)) == "b"
    clock.move(minutes=1)
    assert by(stage.play(both)) == "a"


def test_the_minute_begins_when_the_limit_is_met(stage: Stage) -> None:
    clock = SetClock()

    class Slow(Player):
        def work(self, turn: Turn, room: AgentRoom, emit: Emit) -> Worked:
            clock.move(minutes=3)
            return super().work(turn, room, emit)

    limit = stage.play(InTurn([Slow("a", limited()), Player("b", limited())], clock)).usage_limit
    assert limit == UsageLimit(NOON + timedelta(minutes=4))


def test_it_is_never_left_alone_for_much_longer_than_an_hour(stage: Stage) -> None:
    clock = SetClock()
    a, b = Player("a", *[limited()] * 20), Player("b", *[FINE] * 20)
    both = InTurn([a, b], clock)
    for asked in range(1, 12):
        stage.play(both)
        assert len(a.turns) == asked
        clock.move(minutes=64)


def test_where_all_are_limited_the_first_to_be_free_says_when_to_go_on(stage: Stage) -> None:
    a, b = Player("a", limited(LATER)), Player("b", limited(NOON + timedelta(hours=1)))
    worked = stage.play(InTurn([a, b], SetClock()))
    assert worked.usage_limit == UsageLimit(NOON + timedelta(hours=1))
    c, d = Player("c", limited(LATER)), Player("d", limited())
    assert stage.play(InTurn([c, d], SetClock())).usage_limit == UsageLimit(NOON + timedelta(minutes=1))


def test_where_all_are_still_limited_all_are_asked(stage: Stage) -> None:
    a, b = Player("a", limited(LATER), limited(LATER)), Player("b", limited(LATER), FINE)
    both = InTurn([a, b], SetClock())
    assert stage.play(both).usage_limit == UsageLimit(LATER)
    assert by(stage.play(both)) == "b"


def test_a_session_goes_back_to_whom_it_belongs(stage: Stage) -> None:
    a, b = Player("a", FINE, FINE, limited(LATER)), Player("b", {"session": "s:2"}, FINE)
    both = InTurn([a, b], SetClock())
    first = stage.play(both)
    assert first.session == "a:s1"
    stage.play(both, session=first.session)
    assert [turn.session for turn in a.turns] == ["", "s1"]
    third = stage.play(both, session=first.session)
    assert ([turn.session for turn in b.turns], third.session) == ([""], "b:s:2")
    stage.play(both, session=third.session)
    assert b.turns[-1].session == "s:2"


def test_where_one_was_stopped_the_next_begins_with_the_next_iteration(stage: Stage) -> None:
    a = Player("a", {**limited(LATER), "ending": Ending(signal=15, stopped_because="asked: abort")})
    b = Player("b", FINE)
    both = InTurn([a, b], SetClock())
    worked = stage.play(both)
    assert (by(worked), b.turns, worked.usage_limit) == ("a", [], None)
    assert stage.told("error") == ["a has met its provider's limit; b goes on"]
    assert by(stage.play(both)) == "b"


def test_each_must_be_there_and_each_moves(stage: Stage) -> None:
    a, b, c = Player("a", FINE), Player("b"), Player("c")
    all_three = InTurn([a, b, c])
    assert all_three.missing(stage.root) == "b is not on PATH in project; c is not on PATH in project"
    all_three.move_in("x")
    all_three.move_out("x")
    assert a.moved == b.moved == c.moved == ["in x", "out x"]

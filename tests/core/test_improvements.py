"""What is proposed for the files that agents read, and where in them it goes."""

import pytest

from core.ended import NOW, ended
from untilproven.core.improvements import improvements, says, with_lines
from untilproven.model.learning import Lesson, Scope

HEADING = b"## Learnt from finished tasks"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", HEADING + b"\n\n- new\n"),
        (b"# Mine", b"# Mine\n\n" + HEADING + b"\n\n- new\n"),
        (b"# Mine\n\n\n", b"# Mine\n\n" + HEADING + b"\n\n- new\n"),
        (b"# Mine\r\n", b"# Mine\r\n\r\n" + HEADING + b"\r\n\r\n- new\r\n"),
        (HEADING + b"\n\n- old\n", HEADING + b"\n\n- old\n- new\n"),
        (HEADING + b"\n\n- old", HEADING + b"\n\n- old\n- new\n"),
        (HEADING, HEADING + b"\n\n- new\n"),
        (HEADING + b"\n\n- old\n\n# Next\n\n- x\n", HEADING + b"\n\n- old\n- new\n\n# Next\n\n- x\n"),
        (b"\xff\xfe\n", b"\xff\xfe\n\n" + HEADING + b"\n\n- new\n"),
    ],
)
def test_lines_go_to_the_end_of_our_section_and_all_else_stays(before: bytes, after: bytes) -> None:
    made = with_lines(before, ["new"])
    assert made == after
    assert says(made, "new")
    assert not says(before, "new")


def test_sure_patterns_are_proposed_for_the_file_they_concern() -> None:
    records = [
        ended(place, files_changed=("src/a.py",), task_type="bug", estimate=1, iterations=3) for place in range(5)
    ]
    found = {one.target: one for one in improvements(records, NOW) if "bugs" in one.line or "estimated" in one.line}
    assert found["AGENTS.md"].line.startswith("Most tasks that changed src/a.py were bugs")
    assert found["AGENTS.md"].rationale == "5 of 5 tasks that changed src/a.py were bugs"
    assert found["implementation-plan.md"].line.startswith("Tasks take more iterations than estimated")
    assert found["AGENTS.md"].evidence == tuple(f"RALPH-{place:03d}" for place in range(5))


def test_a_note_that_helped_is_proposed_once_and_one_that_did_not_is_not() -> None:
    helped = Lesson(id="a", text="Read it", scope=Scope(globs=("src/**",)), source="human", created_at=NOW)
    other = Lesson(id="b", text="Skip it", source="human", created_at=NOW)
    records = [
        *(ended(place, lessons=("a",)) for place in range(6)),
        *(ended(place + 10, success=False, lessons=("b",)) for place in range(6)),
    ]
    [found] = improvements([helped, helped, other, *records], NOW)
    assert found.line == "Read it (for src/**)"
    assert "100% succeeded" in found.rationale
    assert len(found.evidence) == 6


def test_more_evidence_changes_neither_the_line_nor_the_id() -> None:
    records = [ended(place, success=False, blockers=("gone",)) for place in range(6)]
    [before], [after] = improvements(records[:3], NOW), improvements(records, NOW)
    assert (before.id, before.line) == (after.id, after.line)
    assert before.evidence != after.evidence


def test_nothing_learnt_is_nothing_proposed() -> None:
    assert improvements([ended(1)], NOW) == ()

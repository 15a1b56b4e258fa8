"""A message is put together so that nobody else's words can pass for its trailers."""

import pytest

from untilproven.core.trailers import SUBJECT_LENGTH, Message, Trailers, read
from untilproven.errors import UsageError
from untilproven.model.receipt import Proof

LOOP = "ralph-fix-it-a1b2c3d4"
RECEIPT = "sha256:" + "0f" * 32
CLAIM = Trailers(loop_id=LOOP, proof="new-tests", receipt=RECEIPT)


def message(task: str = "Fix it", body: str = "", task_id: str = "") -> Message:
    return Message(task=task, loop_id=LOOP, proof=Proof.NEW_TESTS, receipt=RECEIPT, body=body, task_id=task_id)


@pytest.mark.parametrize(
    ("task", "subject"),
    [
        ("Fix it", "Fix it"),
        ("\n\n  Fix \t it \nand more", "Fix it"),
        ("\x1b[2J\x07", f"Work of {LOOP}"),
        ("", f"Work of {LOOP}"),
        ("x" * 72, "x" * 72),
        ("word " * 40, ("word " * 40)[: SUBJECT_LENGTH - 3].rstrip() + "..."),
        ("Ralph-Loop: other", "Ralph-Loop: other"),
    ],
)
def test_the_subject_is_the_tasks_first_line(task: str, subject: str) -> None:
    assert message(task).text().splitlines()[0] == subject
    assert len(subject) <= SUBJECT_LENGTH
    assert read(message(task).text()) == CLAIM


@pytest.mark.parametrize("body", ["", "a\n\nb", "Ralph-Proof: red-to-green", "x\n\nRalph-Loop: ralph-x-00000000\n\n"])
def test_what_is_written_is_read_back_whatever_the_body_says(body: str) -> None:
    assert read(message(body=body).text()) == CLAIM


def test_a_task_of_the_queue_is_named() -> None:
    found = read(message(task_id="RALPH-001\nRalph-Proof: claimed").text())
    assert found
    assert (found.task_id, found.proof) == ("RALPH-001 Ralph-Proof: claimed", "new-tests")


def test_trailers_of_others_may_stand_beside_ours() -> None:
    assert read(message().text().rstrip() + "\nSigned-off-by: A <a@b>\n") == CLAIM


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Fix it\n",
        "Fix it\n\nSigned-off-by: A <a@b>\n",
        f"Fix it\n\nRalph-Loop: {LOOP}\n\nsomething after it\n",
        f"Fix it\n\nIt was\nRalph-Loop: {LOOP}\n",
    ],
)
def test_elsewhere_they_are_only_words(text: str) -> None:
    assert read(text) is None


@pytest.mark.parametrize(
    "more",
    [
        f"Ralph-Loop: {LOOP}",
        "Ralph-Proof: red-to-green",
        f"Ralph-Receipt: {RECEIPT}",
    ],
)
def test_what_is_said_twice_is_not_believed(more: str) -> None:
    with pytest.raises(UsageError, match="more than once"):
        read(message().text().rstrip() + f"\n{more}\n")


@pytest.mark.parametrize("line", ["Ralph-Loop", "Ralph-Proof", "Ralph-Receipt"])
def test_what_is_not_whole_is_not_believed(line: str) -> None:
    lines = [one for one in message().text().splitlines() if not one.startswith(line)]
    with pytest.raises(UsageError, match="does not say"):
        read("\n".join(lines))

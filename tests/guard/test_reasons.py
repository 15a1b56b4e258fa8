"""What lowers a finding is told in words."""

from untilproven.guard.catalogue import patterns
from untilproven.guard.reasons import reasons, words_for
from untilproven.model.iteration import FALSE_POSITIVE

ALWAYS = {"allowed", "asked-about", "fixture", "in-doubt", "other-runner", FALSE_POSITIVE}
"""What counts for any pattern."""


def test_every_reason_of_a_pattern_has_words_and_no_other_has() -> None:
    of_patterns = {reason for pattern in patterns() for reason in pattern.lowered_by}
    of_doubt = {reason for pattern in patterns() if pattern.doubtful is not True for reason in pattern.doubtful or ()}
    assert reasons().keys() == of_patterns | of_doubt | ALWAYS


def test_words_say_more_than_the_name_and_fit_into_a_sentence() -> None:
    for reason, words in reasons().items():
        assert words != reason
        assert words[0].islower() or words.startswith("CI"), words
        assert not words.endswith((".", ";")), words


def test_a_reason_of_somebody_else_is_told_by_its_name() -> None:
    assert words_for("out-of-my-plugin") == "out-of-my-plugin"

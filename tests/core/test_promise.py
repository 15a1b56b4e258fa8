"""A promise counts where the agent speaks for itself, and nowhere else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.core.promise import SIGNALS, promised, signalled

TAG = "<promise>ALL DONE</promise>"
ANY_PROMISE = st.text(min_size=1).filter(lambda text: bool(text.split()))


@given(promise=ANY_PROMISE, before=st.sampled_from(["", "All tests pass.\n", "a `b\n", 'he said "x\n', "> quoted\n"]))
def test_a_bare_tag_on_a_line_of_its_own_is_a_claim_whatever_the_text(promise: str, before: str) -> None:
    assert promised(f"{before}<promise>{promise}</promise>\nbye", promise, prompt=f"say <promise>{promise}</promise>")


@given(text=st.text().filter(lambda text: "<promise>" not in text.lower()), promise=ANY_PROMISE)
def test_text_without_the_tag_is_never_a_claim(text: str, promise: str) -> None:
    assert not promised(text, promise)


@given(
    promise=ANY_PROMISE, fence=st.sampled_from(["```", "~~~", "`````"]), language=st.sampled_from(["", "html", " sh "])
)
def test_a_tag_in_a_fence_is_never_a_claim(promise: str, fence: str, language: str) -> None:
    assert not promised(f"see:\n{fence}{language}\n<promise>{promise}</promise>\n{fence}\n", promise)


@pytest.mark.parametrize(
    "text",
    [
        "<PROMISE>all done</PROMISE>",
        "<promise>\n  ALL\n  DONE\n</promise>",
        f"Everything is green, so: {TAG}.",
        f"```\ncode\n```\n{TAG}",
        f"~~~\n```\n~~~\n{TAG}",
        f'The file "a.py" is fixed. {TAG}',
    ],
)
def test_spoken_tags_are_claims(text: str) -> None:
    assert promised(text, "ALL DONE")


@pytest.mark.parametrize(
    "text",
    [
        "<promise>ALL DONE!</promise>",
        "<promise>ALLDONE</promise>",
        "<promise>not ALL DONE</promise>",
        f"I will say `{TAG}` later",
        f"I will say ``{TAG} ` `` later",
        f"    {TAG}",
        f"\t{TAG}",
        f"> {TAG}",
        f'You said "{TAG}"',
        f'You said "print {TAG} at the end"',
        f"You said “{TAG}”",
        f"You said '{TAG}'",
        f"```\nnever closed\n{TAG}",
        f"````\n```\n{TAG}\n````",
        f"- a list\n      ```\n      {TAG}\n      ```",
        f"> ```\n{TAG}",
    ],
)
def test_shown_quoted_or_different_tags_are_not(text: str) -> None:
    assert not promised(text, "ALL DONE")


@pytest.mark.parametrize("between", ["\n", " ", "\n\n\n"])
def test_very_many_shown_tags_are_read_in_no_time(between: str) -> None:
    shown = between.join(['"' + TAG + '"'] * 50_000)
    assert not promised(shown, "ALL DONE", prompt=shown)
    assert promised(f"{shown}\n{TAG}\n", "ALL DONE")


def test_characters_of_regular_expressions_are_literal() -> None:
    assert promised("<promise>a.*(b)?</promise>", "a.*(b)?")
    assert not promised("<promise>axx</promise>", "a.*(b)?")


def test_an_empty_promise_is_never_given() -> None:
    assert not promised("<promise></promise>", " ")


@pytest.mark.parametrize(
    "prompt",
    [
        f"Do the work.\nWhen all is done, print {TAG} and stop.",
        f"Do the work.\nWhen all is done, print:\n{TAG}\n",
        f"{TAG}\nis what you print at the end.",
    ],
)
def test_an_echo_of_the_prompt_is_not_a_claim_and_the_answer_to_it_is(prompt: str) -> None:
    assert not promised(f"You asked:\n{prompt}", "ALL DONE", prompt=prompt)
    assert not promised(prompt, "ALL DONE", prompt=prompt)
    assert promised(f"I fixed it.\n\n{TAG}", "ALL DONE", prompt=prompt)


def test_a_signal_counts_only_when_switched_on_and_on_a_line_of_its_own() -> None:
    every = frozenset(SIGNALS)
    assert signalled("done\nEXIT_SIGNAL: true\n", every) == "EXIT_SIGNAL"
    assert signalled("LOOP_COMPLETE", frozenset({"LOOP_COMPLETE"})) == "LOOP_COMPLETE"
    assert signalled("LOOP_COMPLETE", frozenset()) is None
    assert signalled("I am not at LOOP_COMPLETE yet", every) is None
    assert signalled("EXIT_SIGNAL: false", every) is None
    assert signalled("```\nLOOP_COMPLETE\n```", every) is None
    assert signalled("> LOOP_COMPLETE", every) is None
    assert signalled("    LOOP_COMPLETE", every) is None
    assert signalled("say\nLOOP_COMPLETE", every, prompt="say\nLOOP_COMPLETE") is None


@pytest.mark.parametrize(
    "text",
    [
        f"I will say {TAG} once the tests pass, which they do not yet.",
        f"Don't worry: {TAG}, it's fine",
        f"user: When everything is done, say {TAG} on a line of its own.",
        f"\x1b[2mWhen everything is done, say {TAG} on a line of its own.\x1b[0m",
        f"<tool_result>\n{TAG}\n</tool_result>",
        f"<function_results id='1'>\nok\n{TAG}\n</function_results>\nSo it says.",
        f"<thinking>\n{TAG}\n</thinking>",
    ],
)
def test_a_tag_that_is_spoken_about_or_in_somebody_elses_words_is_no_claim(text: str) -> None:
    assert not promised(text, "ALL DONE")


def test_a_tag_after_a_closed_block_is_the_agents_own() -> None:
    assert promised(f"<tool_result>\nok\n</tool_result>\nAll green.\n**{TAG}**", "ALL DONE")

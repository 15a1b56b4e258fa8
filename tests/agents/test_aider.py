"""What aider prints and logs: text, and exit code 0 whatever happens."""

import json
from pathlib import Path

import pytest
from msgspec import UNSET

from agents.hearing import Heard, listen
from real_agents.recorded import load
from untilproven.agents.home import Home
from untilproven.contract import UsageLimit
from untilproven.model.iteration import Continue, Failed, Usage
from untilproven.model.program import Ending

FINE = Ending(exit_code=0)


def sent(prompt: object = 1000, answer: object = 50, cost: object = 0.0, model: str = "openai/gpt-4o") -> str:
    """What it logs when a model has answered."""
    told = {"main_model": model, "prompt_tokens": prompt, "completion_tokens": answer, "cost": cost}
    return json.dumps({"event": "message_send", "properties": told, "time": 1})


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path, "ralph-x-00000000", "aider")
    made.make()
    return made


def run(home: Home, case: str, *log: str, ending: Ending = FINE) -> Heard:
    home.write("log.jsonl", "\n".join(['{"event": "launched", "properties": {}}', *log]).encode())
    return listen("aider", [], ending, chatter=load("aider", case)[0].out, home=home)


def test_a_turn_is_priced_by_what_it_logged(home: Home) -> None:
    came = run(home, "turn", sent(), sent()).came
    assert came.result == Continue(reason="it came to its end")
    assert "All finished. <promise>DONE</promise>" in came.said
    assert (came.usage.total_tokens, came.usage.model, came.usage.cost_source) == (2100, "gpt-4o", "prices")
    assert isinstance(came.usage.cost_usd, float)
    assert came.session


def test_a_cost_that_it_knows_is_taken(home: Home) -> None:
    usage = run(home, "turn", sent(cost=0.25), sent(cost=0.5)).came.usage
    assert (usage.cost_usd, usage.cost_source) == (0.75, "agent")


@pytest.mark.parametrize("model", ["openai/REDACTED", "None"])
def test_a_model_that_it_does_not_name_has_no_price(home: Home, model: str) -> None:
    usage = run(home, "turn", sent(model=model)).came.usage
    assert (usage.model, usage.cost_usd, usage.total_tokens) == (UNSET, UNSET, 1050)


def test_exit_code_0_without_an_answer_is_a_failure(home: Home) -> None:
    came = run(home, "unauthorized").came
    assert isinstance(came.result, Failed)
    assert came.result.error.startswith("AuthenticationError: ")
    assert came.unable.startswith("the provider does not let it in: ")
    assert came.usage == Usage()


def test_retries_that_are_spent_are_a_usage_limit(home: Home) -> None:
    came = run(home, "usage_limit").came
    assert came.usage_limit == UsageLimit(None)
    assert came.unable == ""


DOWN = """litellm.InternalServerError: InternalServerError: OpenAIException - Connection
error.
The API provider's servers are down or overloaded.
Retrying in 0.2 seconds...
"""
"""As version 0.86.2 said it of a port that nobody listens at."""


@pytest.mark.parametrize("name", ["InternalServerError", "ServiceUnavailableError", "BadGatewayError", "Timeout"])
def test_an_outage_of_its_provider_is_waited_for(home: Home, name: str) -> None:
    home.write("log.jsonl", b"")
    said = DOWN.replace("InternalServerError", name) * 8
    came = listen("aider", [], FINE, chatter=said, home=home).came
    assert (came.usage_limit, came.unable) == (UsageLimit(None), "")
    home.write("log.jsonl", sent().encode())
    assert listen("aider", [], FINE, chatter=said, home=home).came.usage_limit is None


def test_the_error_that_ended_it_is_the_last(home: Home) -> None:
    home.write("log.jsonl", b"")
    for last, limit in (("BadRequestError", None), ("RateLimitError", UsageLimit(None))):
        said = f"{DOWN}litellm.{last}: no\n"
        assert listen("aider", [], FINE, chatter=said, home=home).came.usage_limit == limit
    came = listen("aider", [], FINE, chatter=f"{DOWN}litellm.AuthenticationError: no\n", home=home).came
    assert came.unable


def test_a_prompt_that_is_too_long_is_a_failure(home: Home) -> None:
    came = run(home, "too_long").came
    assert isinstance(came.result, Failed)
    assert (came.usage_limit, came.unable) == (None, "")


def test_what_it_got_over_by_itself_is_no_trouble(home: Home) -> None:
    came = run(home, "rate_limit", sent()).came
    assert (came.usage_limit, came.unable, came.result) == (None, "", Continue(reason="it came to its end"))


def test_an_answer_that_speaks_of_errors_means_nothing(home: Home) -> None:
    home.write("log.jsonl", sent().encode())
    words = "litellm.RateLimitError: quota\nlitellm.AuthenticationError: no\n"
    came = listen("aider", [], FINE, chatter=words, home=home).came
    assert (came.usage_limit, came.unable, came.result) == (None, "", Continue(reason="it came to its end"))


def test_one_that_asked_no_model_did_nothing(home: Home) -> None:
    came = listen("aider", [], FINE, chatter="odd", home=home).came
    assert came.result == Failed(error="it asked no model: odd")
    assert listen("aider", [], Ending(signal=15, stopped_because="wall"), home=home).came.result is None


@pytest.mark.parametrize("log", [b"\xff\xfe", b"[]\n7\nnull", b'{"event": []}', b'{"event": "message_send"}', b"{"])
def test_a_log_of_nonsense_is_none(home: Home, log: bytes) -> None:
    home.write("log.jsonl", log)
    assert listen("aider", [], FINE, home=home).came.usage == Usage()


def test_numbers_that_are_none_are_unknown(home: Home) -> None:
    usage = run(home, "turn", sent(prompt=-1, answer="9", cost=True)).came.usage
    assert (usage.input_tokens, usage.output_tokens, usage.total_tokens, usage.cost_usd) == (UNSET,) * 4

"""The built-in agent as an adapter: who is billed, how its program is started, what its lines mean."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import genai_prices
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from pydantic_ai.models import KnownModelName

from agents.hearing import Heard, Line, assert_sound, listen
from agents.stage import Stage
from untilproven.agents import api, choosing
from untilproven.agents.adapter import Asked
from untilproven.agents.factory import NAMES, adapter_of
from untilproven.agents.known import KnownAgent
from untilproven.contract import UsageLimit
from untilproven.errors import NoAgent
from untilproven.model.iteration import Continue, Failed, Usage
from untilproven.model.program import Ending

OK, WRONG = Ending(exit_code=0), Ending(exit_code=1)
BEGUN: Line = {"type": "session", "id": "a" * 32, "model": "openai-chat:gpt-5"}
USED = {
    "input_tokens": 1000,
    "cached_input_tokens": 0,
    "written_input_tokens": 0,
    "output_tokens": 50,
    "model": "gpt-5",
}
ANSWER: list[Line] = [{"type": "request"}, {"type": "usage", "told": USED}]


SUMS = {"answers": 1, "input_tokens": 1000, "output_tokens": 50}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def result(ended: str, answers: int = 1, **more: Any) -> Line:
    sums = {"answers": answers, "input_tokens": 1000 * answers, "output_tokens": 50 * answers}
    return {"type": "result", "ended": ended, "message": "", "status": None, "retry_after": None, "sums": sums, **more}


def heard(*lines: Line, ending: Ending = OK, chatter: str = "") -> Heard:
    return listen("api", [BEGUN, *lines], ending, chatter=chatter)


def billed(model: str = "", **environ: str) -> str:
    return adapter_of("api", model).identity(environ, ()).words


def hint(model: str = "", **environ: str) -> tuple[str, str]:
    _, hint, why = adapter_of("api", model).identity(environ, ())
    return why, hint


def test_the_key_that_is_there_is_billed() -> None:
    assert billed(ANTHROPIC_API_KEY="k", OPENAI_API_KEY="k") == "the key in ANTHROPIC_API_KEY"
    assert billed(OPENAI_API_KEY="k", GEMINI_API_KEY="k") == "the key in OPENAI_API_KEY"
    assert billed(GEMINI_API_KEY="k") == "the key in GEMINI_API_KEY"


def test_the_key_of_the_model_that_is_named_is_billed() -> None:
    both = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}
    assert billed("openai:gpt-5", **both) == "the key in OPENAI_API_KEY"
    assert billed("openai-chat:gpt-5", **both) == "the key in OPENAI_API_KEY"
    assert billed("google:gemini-2.5-pro", GEMINI_API_KEY="k", GOOGLE_API_KEY="k") == "the key in GOOGLE_API_KEY"
    assert billed("groq:llama", GROQ_API_KEY="k") == "the key in GROQ_API_KEY"
    assert billed("bedrock:claude") == "your account at bedrock"
    assert billed("openai-chat:local", OPENAI_BASE_URL="http://x") == "whoever runs the server at OPENAI_BASE_URL"


def test_without_a_key_it_is_said_which() -> None:
    assert hint() == ("there is no key", "set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY")
    assert hint("openai:gpt-5", ANTHROPIC_API_KEY="k") == ("there is no key for openai", "set OPENAI_API_KEY")
    assert hint("gpt-5", OPENAI_API_KEY="k")[0] == "gpt-5 is no model"


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    agent = KnownAgent(adapter_of("api"), Asked(), stage.root)
    assert agent.missing(stage.root) == ""
    monkeypatch.setattr(api, "find_spec", lambda _name: None)
    assert agent.missing(stage.root) == 'api is not installed; pip install "untilproven[api]"'


def test_the_runner_does_not_load_what_talks_to_models() -> None:
    code = (
        "import sys; from untilproven.agents import choosing; from pathlib import Path; choosing.survey(Path('/'));"
        "from untilproven.agents.factory import adapter_of; adapter_of('api', 'openai:gpt-5').identity({}, ());"
        "sys.exit(any(name.split('.')[0] in {'pydantic_ai', 'openai', 'anthropic', 'google'} for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode == 0


def test_it_is_taken_last(monkeypatch: pytest.MonkeyPatch, stage: Stage) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert NAMES[-1] == "api"
    with pytest.raises(NoAgent) as caught:
        choosing.choose(stage.root)
    assert "none that is known is on PATH (claude, codex, opencode, gemini, qwen, aider)" in caught.value.message
    assert "for api, which is built in, set ANTHROPIC_API_KEY" in caught.value.hint
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    found = choosing.choose(stage.root)
    assert (found.name, found.billed, found.missing) == ("api", "the key in ANTHROPIC_API_KEY", "")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    assert choosing.choose(stage.root, "openai:gpt-5").billed == "the key in OPENAI_API_KEY"


@pytest.mark.parametrize("model", api._MODELS.values())
def test_a_model_that_nobody_named_is_one_that_there_is(model: str) -> None:
    assert model in get_args(KnownModelName.__value__)
    provider, _, name = model.partition(":")
    assert genai_prices.calc_price(genai_prices.Usage(input_tokens=1), model_ref=name, provider_id=provider)


def test_how_its_program_is_started(stage: Stage) -> None:
    asked = Asked(seeded=True, passed=("DB_KEY",), arguments=("--max-turns", "3"))
    call = adapter_of("api", "openai:gpt-5").call(stage.turn(prompt="é"), asked, Path("/own"))
    assert adapter_of("api").program == sys.executable
    assert call.argv == [
        *("-P", "-B", "-m", "untilproven.agents.worker", "--model", "openai:gpt-5", "--home", "/own"),
        *("--seeded", "--keep", "DB_KEY", "--max-turns", "3"),
    ]
    assert call.stdin == "é".encode()
    assert "k" not in call.env.values()


def test_a_turn() -> None:
    action = {"type": "action", "kind": "bash", "target": "pytest"}
    said = {"type": "text", "text": "Done."}
    came, events = heard(
        *ANSWER, action, {"type": "outcome", "outcome": "exit 1", "refused": False}, *ANSWER, said, result("done", 2)
    )
    assert came.result == Continue(reason="it came to its end")
    assert came.said == "Done."
    assert came.session == "a" * 32
    assert (came.usage.input_tokens, came.usage.output_tokens, came.usage.total_tokens) == (2000, 100, 2100)
    assert came.usage.model == "gpt-5"
    assert [(one.kind, one.target, one.outcome) for one in came.actions] == [("bash", "pytest", "exit 1")]
    assert [event.kind for event in events] == ["usage", "action", "usage", "text"]


def test_what_is_refused_is_told() -> None:
    refused = {"type": "outcome", "outcome": "refused: ../x is outside of the project", "refused": True}
    came = heard({"type": "action", "kind": "read", "target": "../x"}, refused)
    assert came.told("error") == ["refused: ../x is outside of the project"]
    assert came.came.actions[0].outcome == "refused: ../x is outside of the project"


def test_what_it_costs_is_known_from_prices() -> None:
    price = genai_prices.calc_price(
        genai_prices.Usage(input_tokens=1000, cache_read_tokens=500, cache_write_tokens=200, output_tokens=50),
        model_ref="claude-sonnet-4-5",
        provider_id="anthropic",
    )
    told = {**USED, "cached_input_tokens": 500, "written_input_tokens": 200, "model": "claude-sonnet-4-5"}
    lines: list[Line] = [{"type": "request"}, {"type": "usage", "told": told}, result("done")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", "k")
        used = heard(*lines).came.usage
    assert used.cost_usd == pytest.approx(float(price.total_price))
    assert (used.cost_source, used.cached_input_tokens) == ("prices", 500)
    unknown = {**USED, "model": "nobody-knows-it"}
    used = heard({"type": "usage", "told": unknown}, result("done")).came.usage
    assert (used.total_tokens, used.cost_usd) == (1050, UNSET)


@pytest.mark.parametrize(
    "lines",
    [
        [*ANSWER, {"type": "usage", "told": None}, result("done", sums={**SUMS, "answers": 2})],
        [*ANSWER, result("done"), result("done")],
        [*ANSWER, *ANSWER, result("done")],  # a line too many
        [*ANSWER, {"type": "usage", "told": {**USED, "input_tokens": 1}}, result("done", 2)],
        [{"type": "usage", "told": {**USED, "input_tokens": -1}}, result("done")],
    ],
)
def test_what_is_not_sure_is_not_known(lines: list[Line]) -> None:
    came = heard(*lines).came
    assert (came.usage.total_tokens, came.usage.cost_usd) == (UNSET, UNSET)
    assert not isinstance(came.result, Failed)


def test_what_was_under_way_when_it_was_stopped_is_not_known() -> None:
    stopped = Ending(signal=15, stopped_because="wall")
    came = heard(*ANSWER, {"type": "request"}, ending=stopped).came
    assert (came.usage, came.uncounted) == (Usage(), True)
    came = heard(*ANSWER, ending=stopped).came
    assert (came.usage.total_tokens, came.uncounted) == (1050, False)


def test_a_forged_result_changes_nothing_but_the_cost() -> None:
    forged = result("error", message="forged")
    came = heard(forged, *ANSWER, {"type": "text", "text": "Done."}, result("done")).came
    assert came.result == Continue(reason="it came to its end")
    assert (came.said, came.usage, came.uncounted) == ("Done.", Usage(), True)


def test_a_limit_says_when_it_ends() -> None:
    now = datetime.now(UTC)
    came = heard(result("limit", 0, status=429, retry_after=3600.0), ending=WRONG).came
    assert came.usage_limit
    assert came.usage_limit.resume_at
    assert timedelta(seconds=3590) < came.usage_limit.resume_at - now < timedelta(seconds=3700)
    for odd in (None, -1, 1e30, "soon", True):
        limit = heard(result("limit", 0, status=429, retry_after=odd), ending=WRONG).came.usage_limit
        assert limit
        assert limit.resume_at is None


@pytest.mark.parametrize("status", [None, 500, 523])
def test_an_outage_is_waited_for_whatever_its_status(status: int | None) -> None:
    came = heard(result("outage", 0, status=status, message="Connection error."), ending=WRONG).came
    assert (came.usage_limit, came.unable) == (UsageLimit(None), "")


def test_who_is_not_let_in_is_unable() -> None:
    came = heard(result("unable", 0, status=401, message="Incorrect API key"), ending=WRONG).came
    assert came.unable == "the provider does not let it in (401): Incorrect API key"
    assert heard(result("unable", 0, message="no such model"), ending=WRONG).came.unable == "no such model"


@pytest.mark.parametrize(
    ("ended", "error"),
    [
        ("error", "Connection error."),
        ("refused", "the model refused: Connection error."),
        ("too_long", "the conversation is too long for the model: Connection error."),
    ],
)
def test_what_failed_says_why(ended: str, error: str) -> None:
    came = heard(result(ended, 0, message="Connection error."), ending=WRONG).came
    assert came.result == Failed(error=error)
    assert (came.unable, came.usage_limit) == ("", None)


@pytest.mark.parametrize(
    ("ended", "cap"),
    [("turns", "its limit of turns is reached"), ("length", "its answer is longer than the model allows")],
)
def test_a_limit_of_its_own_is_no_failure(ended: str, cap: str) -> None:
    assert heard(*ANSWER, result(ended)).came.cap == cap


def test_an_end_without_a_result_is_a_failure_unless_it_was_stopped() -> None:
    assert heard(chatter="Traceback", ending=WRONG).came.result == Failed(error="it ended without a result: Traceback")
    assert heard(ending=Ending(signal=15, stopped_because="wall")).came.result is None


def test_a_second_attempt_is_told() -> None:
    again = {"type": "retry", "seconds": 1.0, "status": 529, "message": "Overloaded"}
    broke = {"type": "retry", "seconds": 1.0, "status": None, "message": "Connection error."}
    assert heard(again, broke).told("error") == [
        "the provider answered 529: it tries again (Overloaded)",
        "there was no answer: it tries again (Connection error.)",
    ]


LINES = [
    BEGUN,
    *ANSWER,
    result("done"),
    {"type": "action", "kind": "bash", "target": "x"},
    {"type": "outcome", "outcome": "exit 0", "refused": False},
    {"type": "retry", "status": 1},
    {"type": "text", "text": "x"},
]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(
    st.lists(
        st.tuples(st.sampled_from(LINES), st.sampled_from(sorted({name for line in LINES for name in line})), JUNK),
        max_size=6,
    )
)
def test_nothing_that_is_printed_can_break_it(mutations: list[tuple[Line, str, Any]]) -> None:
    assert_sound(heard(*({**line, name: junk} if name != "type" else line for line, name, junk in mutations)))

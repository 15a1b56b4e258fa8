"""A cassette is understood as a whole before anything of it is played."""

from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.agents.cassette import load, scene_of
from untilproven.errors import ConfigError
from untilproven.model import schema
from untilproven.model.cassette import STEPS, Crash, MeetLimit, Say, Wait, Write


def refusal(directory: Path, text: str, name: str = "c.toml") -> ConfigError:
    path = directory / name
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load(path)
    assert str(path) in caught.value.message
    return caught.value


def steps(*lines: str) -> str:
    return f"version = 1\n[[iteration]]\nsteps = [{', '.join(lines)}]\n"


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(steps('{ say = "hi" }', '{ write = "a/b", content = "x", mode = "755" }'))
    raw = {"version": 1, "iteration": [{"steps": [{"say": "hi"}, {"write": "a/b", "content": "x", "mode": "755"}]}]}
    (tmp_path / "c.json").write_bytes(msgspec.json.encode(raw))
    cassette = load(tmp_path / "c.toml")
    assert cassette == load(tmp_path / "c.json")
    assert cassette.iteration[0].steps == (Say(say="hi"), Write(write="a/b", content="x", mode="755"))
    assert cassette.then == "nothing"


def test_times_and_signals_are_settled_when_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text(
        steps('{ wait = "1m30s" }', "{ wait = 0.5 }", '{ crash = "segv" }', '{ usage_limit = "", resume_in = "2h" }')
    )
    assert load(tmp_path / "c.toml").iteration[0].steps == (
        Wait(wait=90.0),
        Wait(wait=0.5),
        Crash(crash=11),
        MeetLimit(usage_limit="", resume_in=7200.0),
    )


@pytest.mark.parametrize(
    ("step", "message", "hint"),
    [
        ('{ sya = "x" }', "there is no step 'sya'", "did you mean say?"),
        ('{ zzz = "x" }', "there is no step 'zzz'", "there is: say, write, "),
        ('{ write = "a", contnet = "x" }', "there is no field of write 'contnet'", "did you mean content?"),
        ('{ say = "x", exit = 1 }', "say and exit are two steps", "its own braces"),
        ("{ say = 7 }", "say: Expected `str`, got `int`", ""),
        ('{ say = "x", role = "user" }', "role: Invalid enum value 'user'", ""),
        ("{}", "a step is a table", ""),
        ('"say"', "a step is a table", ""),
        ('{ write = "../x" }', "'../x' does not name a file of the project", ""),
        ('{ write = "/etc/x" }', "'/etc/x' does not name a file of the project", ""),
        ('{ append = "a/../../x", content = "" }', "does not name a file of the project", ""),
        ('{ delete = "." }', "'.' does not name a file of the project", ""),
        ('{ mkdir = "" }', "'' does not name a file of the project", ""),
        ('{ rename = "a", to = "../b" }', "'../b' does not name a file of the project", ""),
        ('{ rename = "a/b", to = "./a" }', "a/b cannot become ./a: one is inside the other", ""),
        ('{ rename = "a" }', "missing required field `to`", ""),
        ('{ link = "../x", to = "y" }', "'../x' does not name a file of the project", ""),
        ('{ write = "a\\u0000b" }', "a NUL", ""),
        ('{ run = "echo \\u0000" }', "a NUL", ""),
        ('{ write = "a", mode = "rwx" }', "mode is three or four octal digits", ""),
        ('{ write = "a", mode = 0o755 }', "mode: Expected `str`, got `int`", ""),
        ("{ wait = -1 }", "a time is a number of seconds", ""),
        ("{ wait = nan }", "a time is a number of seconds", ""),
        ('{ wait = "5" }', "5 has no unit", ""),
        ('{ wait = "9999999h" }', "longer than a year", ""),
        ("{ leave = inf }", "a time is a number of seconds", ""),
        ("{ wait = 1e12 }", "the longest time is", ""),
        ("{ usage = { cost_usd = nan } }", "cost_usd is an amount of money", ""),
        ("{ usage = { cost_usd = -1.0 } }", "cost_usd is an amount of money", ""),
        ("{ usage = { input_tokens = -1 } }", "usage.input_tokens: Expected `int` >= 0", ""),
        ('{ action = "dance", target = "x" }', "action: Invalid enum value 'dance'", ""),
        ('{ result = { status = "done" } }', "result.status: Invalid value 'done'", ""),
        ('{ result = { status = "blocked" } }', "result: Object missing required field `blocker`", ""),
        ("{ exit = 256 }", "exit: Expected `int` <= 255", ""),
        ('{ crash = "SIGWINCH" }', "'SIGWINCH' is no signal that ends a program", ""),
        ("{ crash = 99 }", "'99' is no signal that ends a program", ""),
        ('{ hang = "forever" }', "hang: Invalid enum value 'forever'", ""),
        ("{ flood = 0 }", "flood: Expected `int` >= 1", ""),
        ('{ usage_limit = "", resume_at = 2030-01-01T00:00:00 }', "resume_at: Expected `datetime` with a timezone", ""),
        ('{ usage_limit = "", resume_at = 2030-01-01T00:00:00Z, resume_in = 1 }', "leave one out", ""),
    ],
)
def test_a_mistake_is_named_with_its_iteration_and_step(tmp_path: Path, step: str, message: str, hint: str) -> None:
    text = 'version = 1\n[[iteration]]\nsteps = []\n[[iteration]]\nsteps = [{ say = "fine" }, ' + step + "]\n"
    error = refusal(tmp_path, text)
    assert "iteration 2, step 2: " in error.message
    assert message in error.message
    assert hint in error.hint
    assert error.hint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it has no version"),
        ("version = 2\niteration = []", "version: Invalid enum value 2"),
        ("version = 1\n[[iterations]]\nsteps = []", "there is no key 'iterations'"),
        ("version = 1\niteration = 7", "the iterations are a list"),
        ("version = 1\niteration = [7]", "iteration 1: an iteration is a table"),
        ("version = 1\n[[iteration]]", "iteration 1: it has no list of steps"),
        ("version = 1\n[[iteration]]\nstep = []", "iteration 1: there is no key 'step'"),
        ('version = 1\nthen = "stop"\niteration = []', "then: Invalid enum value 'stop'"),
        ('version = 1\nthen = "repeat-last"\niteration = []', "needs an iteration to repeat"),
        ("version = ", "this is not TOML"),
        (f"version = {'1' * 5000}", "this is not TOML"),
        (f"a = {'[' * 5000}", "this is not TOML"),
    ],
)
def test_a_mistake_around_the_steps_is_named_too(tmp_path: Path, text: str, message: str) -> None:
    assert message in refusal(tmp_path, text).message


def test_a_file_that_is_no_cassette_is_refused(tmp_path: Path) -> None:
    assert "this is not JSON" in refusal(tmp_path, "{", "c.json").message
    assert "a cassette is an object" in refusal(tmp_path, "[]", "c.json").message
    assert "this is not JSON" in refusal(tmp_path, "[" * 100_000, "c.json").message
    (tmp_path / "link.toml").symlink_to("c.json")
    (tmp_path / "latin.toml").write_bytes(b"version = 1 # \xe9")
    for name in ("absent.toml", "link.toml", ".", "latin.toml"):
        with pytest.raises(ConfigError):
            load(tmp_path / name)


def test_after_its_end_it_does_what_then_says(tmp_path: Path) -> None:
    made = {}
    for then in ("nothing", "repeat-last", "error"):
        (tmp_path / "c.toml").write_text(f'then = "{then}"\n' + steps('{ say = "once" }'))
        made[then] = scene_of(load(tmp_path / "c.toml"), 3)
    assert [list(map(type, scene.steps)) for scene in made.values()] == [[], [Say], [STEPS["error"], STEPS["exit"]]]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*STEPS, "to", "mode", "x"]), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*STEPS, "content", "to", "role", "mode", "target", "resume_in"]), VALUES))
def test_no_step_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, step: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("cassette") / "c.json"
    path.write_bytes(msgspec.json.encode({"version": 1, "iteration": [{"steps": [step]}]}))
    try:
        cassette = load(path)
    except ConfigError as error:
        assert "iteration 1, step 1: " in error.message  # noqa: PT017  it need not be raised
    else:
        assert len(cassette.iteration[0].steps) == 1


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode), st.sampled_from(["c.json", "c.toml"]))
def test_no_garbage_breaks_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes, name: str) -> None:
    path = tmp_path_factory.mktemp("cassette") / name
    path.write_bytes(data)
    with pytest.raises(ConfigError):
        load(path)


def test_the_schema_knows_each_step_and_refuses_others() -> None:
    validator = jsonschema.Draft202012Validator(schema.schema("cassette"))

    def valid(*steps: dict[str, Any]) -> bool:
        return validator.is_valid({"version": 1, "iteration": [{"steps": list(steps)}]})

    assert valid({"say": "x"}, {"write": "a", "content": "b"}, {"result": {"status": "complete"}}, {"wait": "5s"})
    assert not valid({"sya": "x"})
    assert not valid({"say": "x", "exit": 1})
    assert not valid({"write": "a", "contnet": "b"})
    assert not validator.is_valid({"version": 2, "iteration": []})

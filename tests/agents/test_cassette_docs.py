"""The page about cassettes shows one that can be played, and names every step."""

import re
import tomllib
from pathlib import Path

from agents.stage import Stage
from untilproven.agents.replay import ReplayAgent
from untilproven.core.promise import promised
from untilproven.model.cassette import STEPS
from untilproven.model.iteration import Complete, Continue, Failed

PAGE = (Path(__file__).parents[2] / "docs" / "cassettes.md").read_text()


def test_the_example_plays_as_the_page_tells(stage: Stage) -> None:
    path = stage.directory / "cassette.toml"
    path.write_text(PAGE.partition("```toml\n")[2].partition("```")[0])
    agent = ReplayAgent(path)

    claimed = stage.play(agent, 1)
    assert claimed.result == Complete()
    assert promised(claimed.said, "DONE")
    assert list(stage.root.iterdir()) == []

    broke = stage.play(agent, 2)
    assert broke.result == Failed(error="exited with 1")
    assert "a - b" in (stage.root / "calc.py").read_text()

    worked = stage.play(agent, 3)
    assert worked.result == Continue(reason="exit 0")
    assert worked.actions[-1].outcome == "exited with 0"
    assert worked.usage.cost_usd == 0.02
    assert promised(worked.said, "DONE")

    assert stage.play(agent, 4).result == Failed(error="exited with 1")


def test_every_step_is_in_the_table_with_all_that_it_takes() -> None:
    rows = re.findall(r"^\| `(\w+) = (.*?)` \|(.*)\|$", PAGE, re.MULTILINE)
    assert [name for name, _, _ in rows] == list(STEPS)
    for name, value, rest in rows:
        assert tomllib.loads(f"x = {value.replace('...', '')}")
        assert all(f"`{field}" in rest for field in STEPS[name].__struct_fields__[1:]), name

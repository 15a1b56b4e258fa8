"""report.md says the same as the page, and nothing in it means anything to Markdown that came from outside."""

from msgspec.structs import replace

from core.history import History, scored
from untilproven.model.fields import Severity
from untilproven.model.iteration import Usage
from untilproven.model.persistence import PersistenceMetrics
from untilproven.watch.report.figures import summary
from untilproven.watch.report.text import markdown, safe
from watch.report.made import material


def test_the_numbers_are_told() -> None:
    told = dict(summary(material(scored(60, 85, 83)).analytics))
    assert told == {
        "quality": "fluctuating",
        "best": "iteration 2",
        "selected": "iteration 2: Highest (85%)",
        "in place": "iteration 3",
        "gained": "+25 points",
        "spent": "3 iterations, 6s, $1.50, 3,000 tokens",
        "per point": "$0.0600",
        "per 1,000 tokens": "28.33 points",
    }


def test_what_is_not_known_is_said_to_be() -> None:
    told = dict(summary(material(scored(60).iteration(2, usage=Usage())).analytics))
    assert told["spent"] == "2 iterations, 4s, at least $0.50, at least 1,000 tokens"
    told = dict(summary(material(History().iteration(1, usage=Usage())).analytics))
    assert told["spent"] == "1 iteration, 2s, cost unknown, tokens unknown"


def test_the_guards_cost_and_the_marks_are_told() -> None:
    made = material(History().iteration(1, found={Severity.HIGH: 1}, guard_seconds=0.05)).analytics
    assert dict(summary(made))["guard"] == "p95 50 ms, p99 50 ms; 2.5 % on top of the iterations' time"
    assert "findings marked" not in dict(summary(made))
    marked = PersistenceMetrics(false_positive_rate=0.25, true_positive_count=3, false_positive_count=1)
    made = replace(made, persistence_metrics=marked)
    assert dict(summary(made))["findings marked"] == "3 confirmed, 1 false"


def test_every_row_of_a_table_has_as_many_cells_as_its_head() -> None:
    text = markdown(material(scored(60, 85), task="a | b\nc", words=(("asked", "x | y"),)))
    assert "\na \\| b\n" in text
    assert "| asked | x \\| y |" in text
    rows = [line for line in text.splitlines() if line.startswith(("| Iteration", "| 1 ", "| 2 "))]
    assert [row.count(" | ") for row in rows] == [9, 9, 9]


def test_nothing_from_outside_means_anything_to_markdown() -> None:
    assert safe("<b> [x](y) `z` *a*\n# h \x1b[2J") == r"\<b\> \[x\](y) \`z\` \*a\* \# h"

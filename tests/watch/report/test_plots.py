"""Plots keep their peaks when they are thinned out, and their sums."""

import re

from untilproven.watch.report import plots
from untilproven.watch.report.plots import Point, bars, line


def heights(drawn: str, name: str) -> list[float]:
    return [float(one) for one in re.findall(rf'<rect class="{name}"[^>]* height="([0-9.]+)"', drawn)]


def test_a_line_goes_up_where_the_values_do() -> None:
    drawn = line("Quality", [Point("1", (0,)), Point("2", (None,)), Point("3", (100,))], top=100)
    (path,) = re.findall(r'points="([^"]+)"', drawn)
    (x1, y1), (x2, y2) = (map(float, one.split(",")) for one in path.split())
    assert x1 < x2
    assert (y1, y2) == (166, 10)
    assert "<title>3: 100</title>" in drawn


def test_the_one_peak_and_the_one_dip_of_a_thousand_points_are_still_there() -> None:
    odd = {612: 90.0, 613: 10.0}
    points = [Point(str(number), (odd.get(number, 50.0),)) for number in range(1, 1001)]
    drawn = line("Quality", points, top=100)
    assert "<title>612: 90</title>" in drawn
    assert "<title>613: 10</title>" in drawn
    assert drawn.count("<circle") <= plots.MOST


def test_bars_stand_upon_each_other_and_are_as_high_as_their_values() -> None:
    drawn = bars("Tests", ("passed", "failed"), [Point("1", (6, 2)), Point("2", (10, 0))])
    assert heights(drawn, "passed") == [93.6, 156]
    assert heights(drawn, "failed") == [31.2]
    assert '<rect class="failed" x="160.0" y="41.2"' in drawn
    assert "<title>1: 6 passed, 2 failed</title>" in drawn
    assert drawn.count('<span class="key">') == 2


def test_iterations_that_share_a_bar_are_added_up_or_the_last_of_them_stands() -> None:
    points = [Point(str(number), (1.0,)) for number in range(1, 1001)]
    added = bars("Cost", ("cost",), points, money=True)
    assert "each bar is 9 iterations, added up" in added
    assert "<title>1-9: 9 cost</title>" in added
    assert len(heights(added, "cost")) == 112
    assert "<title>1-9: 1 cost</title>" in bars("Tests", ("cost",), points, add=False)


def test_a_bar_of_unknown_iterations_is_unknown() -> None:
    drawn = bars("Cost", ("cost",), [Point("1", (None,)), Point("2", (0.25,))], money=True)
    assert "<title>1: unknown</title>" in drawn
    assert len(heights(drawn, "cost")) == 1
    assert "$0.4<" in drawn


def test_values_that_are_all_zero_are_drawn() -> None:
    assert "<svg" in bars("Findings", ("low",), [Point("1", (0,))])

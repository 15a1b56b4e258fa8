"""What is silenced, and what may be said for it."""

import pytest

from guard.signals.compared import Tree, found
from untilproven.guard.signals.files import files

CODE = "def f(a):\n" + "".join(f"    a.step({number})\n" for number in range(6))
SILENCED = CODE.replace(")\n", ")  # type: ignore[attr]\n").replace("(a):  # type: ignore[attr]", "(a):")
SETTINGS = "[tool.mypy]\nwarn_unreachable = true\n"


def explained(before: Tree, after: Tree) -> tuple[str, ...]:
    (signal,) = found(files, {"src/a.py": CODE, **before}, {"src/a.py": SILENCED, **after})
    assert (signal.name, signal.amount) == ("suppression-added", 6)
    return signal.explained


def test_nothing_by_itself() -> None:
    assert explained({}, {}) == ()


@pytest.mark.parametrize(
    "more",
    [
        SETTINGS + "strict = true\n",
        SETTINGS + "[tool.pyright]\ntypeCheckingMode = 'strict'\n",
        SETTINGS + "[tool.ruff]\nselect = ['ALL']\n",
    ],
)
def test_a_checker_that_is_asked_for_more(more: str) -> None:
    assert explained({"pyproject.toml": SETTINGS}, {"pyproject.toml": more}) == ("tightened",)


def test_a_part_that_is_left_out_no_longer() -> None:
    out = SETTINGS + 'exclude = ["a", "b"]\n'
    assert explained({"pyproject.toml": out}, {"pyproject.toml": out.replace('"a", ', "")}) == ("tightened",)


def test_a_checker_that_is_asked_for_less_or_the_same() -> None:
    strict = SETTINGS + "strict = true\n"
    assert explained({"pyproject.toml": strict}, {"pyproject.toml": SETTINGS}) == ()
    assert explained({"pyproject.toml": strict}, {"pyproject.toml": strict + "pretty = true\n"}) == ()


def test_types_for_many_functions_that_had_none() -> None:
    names = [f"g{number}" for number in range(19)]
    bare = {"src/b.py": "".join(f"def {name}(a, b=(1, 2)):\n    return a\n\n" for name in names)}
    typed = {"src/b.py": "".join(f"def {name}(a: int, b=(1, 2)) -> int:\n    return a\n\n" for name in names)}
    assert explained(bare, typed) == ("types-added",)
    assert explained({"src/b.py": ""}, typed) == ()

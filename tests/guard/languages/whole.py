"""All that is read of a file: much of it only when it is asked for."""

from functools import cached_property

from untilproven.guard.facts import Facts, Function
from untilproven.guard.languages import Language


def read_whole(facts: Facts, language: Language) -> None:
    """Falls over what the language falls over."""
    assert {"suppressions", "hooks"} <= _asked(facts).keys()
    for one in facts.declarations:
        assert isinstance(language.test(one).assertions, tuple)
        assert {"guards", "handlers", "answers"} <= _asked(language.function(one)).keys()


def _asked(found: Facts | Function) -> dict[str, object]:
    lazy = [name for name, value in vars(type(found)).items() if isinstance(value, cached_property)]
    return {name: getattr(found, name) for name in lazy}

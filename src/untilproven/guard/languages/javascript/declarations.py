"""Which tests and functions a file declares."""

from typing import NamedTuple

from ast_grep_py import SgNode

from untilproven.guard.facts import Declaration
from untilproven.guard.languages.javascript.marks import Marks
from untilproven.guard.languages.javascript.naming import name_of
from untilproven.guard.languages.javascript.openings import Opening
from untilproven.guard.languages.javascript.survey import Survey
from untilproven.guard.languages.syntax import Marked


class _Above(NamedTuple):
    """What a declaration stands in."""

    end: int
    name: str
    is_opening: bool
    is_test: bool
    marks: tuple[str, ...]


def declarations(survey: Survey, root: SgNode) -> tuple[Declaration, ...]:
    marks = Marks(survey, root)
    found: list[Declaration] = []
    stack: list[_Above] = []
    for start, end, node, opening in _in_order(survey):
        while stack and stack[-1].end <= start:
            stack.pop()
        above = stack[-1] if stack else None
        if opening is not None:
            holder = next((one for one in reversed(stack) if one.is_opening), None)
            name = f"{holder.name} > {opening.name}" if holder is not None else opening.name
            around = above.marks if above is not None else marks.of_file
            if opening.is_suite:
                around = (*around, *marks.of_suite(opening))
            else:
                found.append(Marked(name, node, is_test=True, marks=(*around, *marks.of_test(opening))))
            stack.append(_Above(end, name, is_opening=True, is_test=not opening.is_suite, marks=around))
        elif not any(one.is_test for one in stack):
            own = name_of(node, in_function=any(not one.is_opening for one in stack))
            if own is None:
                continue
            name = own if above is None else f"{above.name}{' > ' if above.is_opening else '.'}{own}"
            found.append(Declaration(name, node, is_test=False))
            stack.append(
                _Above(end, name, is_opening=False, is_test=False, marks=above.marks if above else marks.of_file)
            )
    return tuple(found)


def _in_order(survey: Survey) -> list[tuple[int, int, SgNode, Opening | None]]:
    """Openings and functions as they stand in the file; the function of an opening belongs to it."""
    items: list[tuple[int, int, SgNode, Opening | None]] = [
        (one.start, one.end, one.node, one) for one in survey.openings
    ]
    given = {one.function.range().start.index for one in survey.openings if one.function is not None}
    for node in survey.functions:
        range_ = node.range()
        if range_.start.index not in given:
            items.append((range_.start.index, range_.end.index, node, None))
    return sorted(items, key=lambda item: (item[0], -item[1]))

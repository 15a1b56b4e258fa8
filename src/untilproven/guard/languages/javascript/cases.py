"""The cases of a test that is written once and run for each of them."""

from ast_grep_py import SgNode

from untilproven.guard.languages.javascript.nodes import bare, chain, written
from untilproven.guard.languages.javascript.openings import Opening
from untilproven.guard.languages.javascript.survey import tables

_LOOPS = frozenset({"forEach", "map"})


def cases(opening: Opening, around: tuple[Opening, ...]) -> tuple[str, ...]:
    """From `.each`, and from loops around it; those of the suites it stands in included."""
    found: list[str] = []
    for one in (*around, opening):
        for link in one.links:
            if link.name in {"each", "for"} and link.args:
                found.extend(_rows(link.args[0]))
    for above in opening.node.ancestors():
        found.extend(_looped(above))
    return tuple(found)


def _looped(node: SgNode) -> list[str]:
    if node.kind() == "for_in_statement" and (right := node.field("right")):
        return _rows(right)
    if node.kind() == "call_expression":
        links = chain(node)
        if len(links) > 1 and links[-1].name in _LOOPS:
            return _rows(links[-2].node)
    return []


def _rows(table: SgNode) -> list[str]:
    table = bare(table)
    if table.kind() == "template_string":
        return _lines(table)
    if table.kind() == "call_expression":
        links = chain(table)
        if links[0].name == "Object" and links[-1].args:
            table = bare(links[-1].args[0])
    if table.kind() == "identifier":
        table = tables(table).get(table.text(), table)
    if table.kind() not in {"array", "object"}:
        return []
    return [written(row) for row in table.named_children() if row.kind() != "comment"]


def _lines(template: SgNode) -> list[str]:
    """The rows of a table in a template, without its heading."""
    lines = [" ".join(line.split()) for line in template.text().strip("`").splitlines()]
    return [line for line in lines if line][1:]

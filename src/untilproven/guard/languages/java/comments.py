"""What comments and annotations say to tools and to people."""

import re
from collections.abc import Iterator
from functools import cached_property

from ast_grep_py import Rule, SgNode

from untilproven.guard.facts import Commented
from untilproven.guard.languages.syntax import TODO, code_in_comments, flat, is_broken, parsed

_SILENCES = re.compile(
    r"NOSONAR|NOPMD|noinspection\b|CHECKSTYLE:?\s*(?:OFF|IGNORE|SUPPRESS)|CPD-OFF|ktlint-disable|SUPPRESS CHECKSTYLE"
)
_TODO_WORDS = ("TODO", "FIXME", "HACK", "XXX")
"""Asked first: most comments have none of them."""
_SILENCING = re.compile(r"@(?:file:)?(?:\w+\.)*(?:Suppress|ExcludeFrom|CoverageIgnore|NoCoverage|NoJacoco)")
_DECLARES_TEST = re.compile(
    r"@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Theory)\b|\bvoid\s+test\w*\s*\(|\bfun\s+(?:test\w*|`[^`]+`)\s*\("
    r"|^\s*(?:test|it|should|scenario|then|expect)\(\"|^\s*\"[^\"]+\"\s*\{",
    re.MULTILINE,
)
_OF_PROSE = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)+[.,:;]?|[^()={};]*[.:]")
_STATES = re.compile(
    r"\s*(?:val|var|fun|return|if|for|when|while|import|throw|private|override|@\w+|class|try)\b.*[^.]\s*|\s*[}\])]+[,;)]*\s*"
    r"|\s*[\w.`]+\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?:[.?!]+\w+(?:\([^()]*\))?)*(?: \{)?\s*|.*\{(?: \w+ ->)?\s*"
)
_ASSIGNS = re.compile(r"\s*[\w.]+ (?:=|\+=|should\w+) .*")
"""As prose does as well, where it stands alone."""
_OF_JAVA = ("class A {{ void a() {{\n{}\n}} }}", "class A {{\n{}\n}}", "{}")
_OF_KOTLIN = ("fun a() {{\n{}\n}}", "class A {{\n{}\n}}")


_KINDS = {
    "program": ("line_comment", "block_comment", "annotation", "marker_annotation"),
    "source_file": ("line_comment", "multiline_comment", "annotation", "file_annotation"),
}


class Said:
    """By the comments and annotations of a file."""

    def __init__(self, root: SgNode) -> None:
        self._root = root
        self._is_kotlin = root.kind() == "source_file"

    @cached_property
    def _all(self) -> list[tuple[SgNode, str]]:
        kinds = _KINDS.get(self._root.kind(), _KINDS["program"])
        return [(node, node.text()) for node in self._root.find_all(any=[Rule(kind=kind) for kind in kinds])]

    def suppressions(self) -> Iterator[str]:
        for _, text in self._all:
            silences = _SILENCING.match(text) if text.startswith("@") else _SILENCES.search(text)
            if silences and not text.startswith("/**"):
                yield flat(text)

    def todos(self) -> Iterator[str]:
        for _, text in self._all:
            if not text.startswith("@") and any(word in text for word in _TODO_WORDS):
                yield from (flat(line) for line in text.splitlines() if TODO.search(line))

    def commented(self) -> Iterator[Commented]:
        comments = (node for node, text in self._all if not text.startswith(("@", "/**")))
        found = code_in_comments(comments, self._is_code, lambda text: bool(_DECLARES_TEST.search(text)))
        yield from sorted(found, key=lambda one: one.line)

    def _is_code(self, text: str) -> bool:
        lines = [line for line in text.splitlines() if line.strip()]
        if self._is_kotlin:
            states = [bool(_STATES.fullmatch(line)) for line in lines]
            if not any(states) or not all(
                one or _ASSIGNS.fullmatch(line) for one, line in zip(states, lines, strict=True)
            ):
                return bool(_DECLARES_TEST.search(text)) and any(line.strip() == "}" for line in lines)
            return any(not is_broken(parsed(form.format(text), "kotlin")) for form in _OF_KOTLIN)
        if not lines[-1].rstrip().endswith((";", "}")) or all(_OF_PROSE.fullmatch(line.strip()) for line in lines):
            return False
        return any(not is_broken(parsed(form.format(text), "java")) for form in _OF_JAVA)

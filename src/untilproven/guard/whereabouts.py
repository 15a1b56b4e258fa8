"""Where runners look for tests, as far as a path alone tells. A project may tell its runner otherwise."""

import re
from collections.abc import Iterable
from pathlib import PurePosixPath

_PYTHON = re.compile(
    r"(?:(?!\.|docs?/|build/|dist/|attic/|archive/|venv/|node_modules/|vendor/|[^/]*\.egg/|CVS/)[^/]+/)*"
    r"(?:test_[^/]*|[^/]*_tests?|tests?)\.py"
)
_GO = re.compile(r"(?:(?![_.]|testdata/|vendor/)[^/]+/)*(?![_.])[^/]*_test\.go")
_JAVASCRIPT = re.compile(
    r"(?!(?:.*/)?(?:node_modules|fixtures|__fixtures__|testdata|disabled|archive|docs?)/)"
    r"(?:(?:.*/)?(?:__tests?__|tests?|specs?|e2e|cypress)/.*|.*[._-](?:test|spec|e2e|cy)|(?:.*/)?tests?(?:[-_.][^/]*)?)"
    r"\.[cm]?[jt]sx?"
)
_JVM = re.compile(r"(?:.*/)?src/(?:test|[a-z]\w*Test)/(?:java|kotlin|groovy|scala)/.*")
_RUST = re.compile(r"(?:.*/)?(?:tests|benches)/(?:[^/]+|[^/]+/main)\.rs")
_BY_ENDING = (
    (re.compile(r".*\.py"), _PYTHON),
    (re.compile(r".*\.go"), _GO),
    (re.compile(r".*\.[cm]?[jt]sx?"), _JAVASCRIPT),
    (re.compile(r".*\.(?:java|kt|groovy|scala)"), _JVM),
    (re.compile(r".*\.rs"), _RUST),
)


def went_out_of_sight(was_at: str, path: str, *, texts: Iterable[str]) -> bool:
    """Whether a file of tests went from where its runner looks to where it does not. What is a module of Rust is named
    somewhere: `texts` are those of files that differ."""
    for ending, looked_at in _BY_ENDING:
        if ending.fullmatch(was_at) and ending.fullmatch(path):
            if not looked_at.fullmatch(was_at) or looked_at.fullmatch(path):
                return False
            return looked_at is not _RUST or not _is_module(PurePosixPath(path), texts)
    return False


def _is_module(path: PurePosixPath, texts: Iterable[str]) -> bool:
    name = path.parent.name if path.stem == "mod" else path.stem
    declared = re.compile(rf"\bmod\s+{re.escape(name)}\s*[;{{]|\"[^\"]*{re.escape(path.name)}\"")
    return any(declared.search(text) for text in texts)

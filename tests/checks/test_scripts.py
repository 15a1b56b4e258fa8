"""Which files of the tree the lines of checks run."""

import pytest

from untilproven.checks.scripts import lines_of, places_in, scripts_in


@pytest.mark.parametrize(
    ("line", "scripts"),
    [
        ("./check.sh", ["check.sh"]),
        ("bash scripts/test.sh --fast", ["scripts/test.sh"]),
        ("A=1 python -u tools/check.py x.txt", ["tools/check.py"]),
        ("cd sub && ./run && node a.js", ["sub/run", "sub/a.js"]),
        ("bash -c './a.sh && sh b.sh'", ["a.sh", "b.sh"]),
        ("./a | tee log; if ! ./b; then exit 1; fi", ["a", "b"]),
        ("uv run python check.py", ["check.py"]),
        ("python -m pytest tests/x.py", ["pytest.py", "pytest/__main__.py"]),
        ("timeout -k 5 60 ./x", []),
        ("timeout 60 ./x a", ["x"]),
        ("bash -euo pipefail x.sh", ["x.sh"]),
        ("python -W error $PWD/x.py", ["x.py"]),
        ("python -m tools.check", ["tools/check.py", "tools/check/__main__.py"]),
        ("cd sub && ../x", ["x"]),
        ("cd sub && ../../x", []),
        ("pytest tests/x.py", []),
        ("make check", []),
        ("/usr/bin/x ../y", []),
        ("diff out/got.txt expected.txt", []),
        ("echo 'not closed", []),
        (". ./lib.sh", ["lib.sh"]),
        ("source lib/a.sh", ["lib/a.sh"]),
        ("include rules/common rules/more", ["rules/common", "rules/more"]),
    ],
)
def test_files_that_a_line_runs_are_its_scripts(line: str, scripts: list[str]) -> None:
    assert list(scripts_in([line])) == scripts


@pytest.mark.parametrize(
    ("path", "script", "called"),
    [
        ("ci/check.sh", '. "$(dirname "$0")/lib.sh"', {"ci/lib.sh", "lib.sh"}),
        ("ci/check.sh", '"${HERE}/run" one', {"ci/run", "run"}),
        ("ci/check.sh", "$HOME/run", set()),
        ("Makefile", "test:\n\t@./x\n-include more.make", {"x", "more.make"}),
        ("package.json", '{"scripts": {"test": "node t.js"}}', {"t.js"}),
        ("tools/check.py", "import helper, os.path", {"tools/helper.py", "tools/helper/__init__.py"}),
        ("tools/check.py", "from .a.b import c", {"tools/a/b.py", "tools/a/b/__init__.py"}),
        ("scripts/check.mjs", "import { a } from './a.mjs'", {"scripts/a.mjs"}),
        ("scripts/check.js", "const a = require('./lib/a')", {"scripts/lib/a.js", "scripts/lib/a.ts"}),
        ("check.py", "import calc", set()),
        ("src/main.py", "import calc", set()),
        ("a.out", "\0./x", set()),
    ],
)
def test_a_script_calls_what_it_runs_sources_and_loads(path: str, script: str, called: set[str]) -> None:
    found = set(scripts_in(lines_of(path, script.encode())))
    assert called <= found
    assert called or not found


def test_places_of_programs_are_found_in_the_tree_alone() -> None:
    lines = ["PATH=./bin:$PATH make", 'export PATH="$PWD/tools/bin:/usr/bin:$PATH"', "MYPATH=x"]
    assert list(places_in(lines)) == ["bin", "tools/bin"]

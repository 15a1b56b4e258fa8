"""What the loops of the experiment do: a tree to begin with, an agent, checks, and the words that start it.

An agent here comes to the same when an iteration is played again: the plain directory takes nothing back. Those of
`indoors` do not, for a room does. `{sentinel}` is the argument of every process that is left running, by which it can
be found among all others; `{outside}` is a directory beside the project.
"""

from collections.abc import Mapping
from typing import NamedTuple

from untilproven.model.status import Status

_NO_FILES: Mapping[str, str] = {}


class Scenario(NamedTuple):
    name: str
    words: tuple[str, ...]
    """What follows `ralph run TASK --sandbox ...`."""
    cassette: str = ""
    tree: Mapping[str, str] = _NO_FILES
    outside: Mapping[str, str] = _NO_FILES
    task: str = "make it so"
    twice: bool = True
    """Whether two processes may try to resume it at once: a second one would continue a loop that has just failed."""
    often: int = 2
    ends: Status = Status.COMPLETED
    edits: str = ""
    """The file in the user's diary that the user writes to as long as the loop runs."""

    @property
    def commits(self) -> bool:
        return "--commit" in self.words


_LEFT = """{ run = "trap '' TERM; setsid sleep {sentinel} > /dev/null 2>&1 & :" }"""

EDITS = Scenario(
    "edits",
    ("--until", "sh check.sh", "--until", "test -x bin/tool", "--checkpoint-interval", "2"),
    """
version = 1
then = "error"
[[iteration]]
steps = [{ write = "a.txt", content = "half\\n" }, { mkdir = "bin" }, { write = "a.txt", content = "one\\n" }]
[[iteration]]
steps = [{ write = "deep/er/b.txt", content = "two\\n" }, { write = "bin/tool", mode = "755" }]
[[iteration]]
steps = [{ rename = "old.txt", to = "new.txt" }, { link = "bin/link", to = "../a.txt" }]
[[iteration]]
steps = [{ delete = "gone" }, { write = "a.txt", content = "four\\n", mode = "600" }]
[[iteration]]
steps = [{ write = "done", content = "five\\n" }]
""",
    tree={
        "check.sh": "test -f done && test -f new.txt && test ! -e gone\n",
        "old.txt": "old\n",
        "gone/x": "",
        "gone/y": "",
    },
    task="a long task\n" + "so that it does not fit into the state\n" * 200,
)

FALSE_CLAIM = Scenario(
    "false claim",
    ("--until", "grep -q right answer.txt"),
    """
version = 1
[[iteration]]
steps = [{ say = "All done. <promise>DONE</promise>" }, { result = { status = "complete" } }]
[[iteration]]
steps = [{ write = "answer.txt", content = "wrong\\n" }, { say = "<promise>DONE</promise>" }]
[[iteration]]
steps = [{ write = "answer.txt", content = "right\\n" }, { say = "<promise>DONE</promise>" }]
""",
)

ERRORS = Scenario(
    "an agent that fails now and then",
    ("--until", "test -f done"),
    """
version = 1
[[iteration]]
steps = [{ write = "a.txt", content = "a\\n" }, { exit = 3 }]
[[iteration]]
steps = [{ write = "a.txt", content = "a\\n" }, { crash = "SIGSEGV" }]
[[iteration]]
steps = [{ write = "b.txt", content = "b\\n" }]
[[iteration]]
steps = [{ write = "b.txt", content = "b\\n" }, { result = { status = "failed", error = "out of ideas" } }]
[[iteration]]
steps = [{ write = "done", content = "d\\n" }]
""",
)

FAILING = Scenario(
    "an agent that always fails",
    ("--until", "test -f done"),
    'version = 1\nthen = "repeat-last"\n[[iteration]]\nsteps = [{ say = "hm" }, { wait = 0.05 }, { exit = 7 }]\n',
    twice=False,
    ends=Status.FAILED,
)

DAEMONS = Scenario(
    "daemons",
    ("--until", "test -f two.txt"),
    f"""
version = 1
[[iteration]]
steps = [{{ leave = "30m" }}, {_LEFT}, {{ write = "one.txt", content = "1\\n" }}, {{ wait = 0.05 }}]
[[iteration]]
steps = [{_LEFT}, {{ write = "two.txt", content = "2\\n" }}, {{ leave = "30m" }}]
""",
    often=3,
)

SLOW_CHECK = Scenario(
    "slow checks",
    ("--until", "sh {outside}/slow.sh a", "--until", "sh {outside}/slow.sh b"),
    """
version = 1
[[iteration]]
steps = [{ write = "a", content = "a\\n" }]
[[iteration]]
steps = [{ write = "b", content = "b\\n" }]
""",
    outside={"slow.sh": "setsid sleep {sentinel} > /dev/null 2>&1 &\nsleep 0.15\ntest -f $1\n"},
    often=3,
)

USAGE = Scenario(
    "usage",
    ("--until", "test -f three", "--max-cost", "1000", "--max-tokens", "1000000000", "--allow-unknown-cost"),
    "version = 1\n"
    + "".join(
        "[[iteration]]\nsteps = [\n"
        "  { usage = { input_tokens = 1000, output_tokens = 10, cost_usd = 0.25 } },\n"
        f'  {{ write = "{name}", content = "x\\n" }},\n  {{ wait = 0.03 }},\n'
        "  { usage = { input_tokens = 2000, output_tokens = 20, cost_usd = 0.5 } },\n]\n"
        for name in ("one", "two", "three")
    ),
)

CUT = Scenario(
    "cut by a limit",
    ("--until", "test -f done", "--iteration-timeout", "2s"),
    f"""
version = 1
[[iteration]]
steps = [{{ write = "a.txt", content = "a\\n" }}, {_LEFT}, {{ hang = "until-stopped" }}]
[[iteration]]
steps = [{{ write = "done", content = "d\\n" }}]
""",
    often=1,
)

CONTINUED = Scenario(
    "one session",
    ("--until", "test -f done", "--context", "continue"),
    """
version = 1
[[iteration]]
steps = [{ session = "first" }, { write = "a.txt", content = "a\\n" }]
[[iteration]]
steps = [{ session = "second" }, { write = "b.txt", content = "b\\n" }, { wait = 0.05 }]
[[iteration]]
steps = [{ write = "done", content = "d\\n" }]
""",
)

COMMAND = Scenario(
    "any program",
    ("--until", "grep -q 3 count.txt", "--agent-cmd", "sh {outside}/agent.sh {prompt_file}"),
    outside={
        "agent.sh": "setsid sh -c \"trap '' TERM INT; sleep {sentinel}; sleep {sentinel}\" > /dev/null 2>&1 &\n"
        "echo $RALPH_ITERATION > count.txt\n"
        "test -s $1 || exit 9\n"
        "sleep 0.03\n"
        'echo "file $RALPH_ITERATION" > "file $RALPH_ITERATION.txt"\n'
        'echo \'{"status": "continue", "reason": "more to do"}\' > $RALPH_RESULT_FILE\n'
    },
    often=3,
)

LIMIT = Scenario(
    "too few iterations",
    ("--until", "test -f never", "--max-iterations", "4"),
    'version = 1\nthen = "repeat-last"\n[[iteration]]\nsteps = [{ write = "a.txt", content = "a\\n" }]\n',
    twice=False,
    ends=Status.FAILED,
)

OWN_CHECK = Scenario(
    "a check that is yet to be written",
    ("--until", "./check.sh"),
    """
version = 1
[[iteration]]
steps = [{ write = "check.sh", content = "#!/bin/sh\\ntest -f done\\n", mode = "755" }]
[[iteration]]
steps = [{ write = "a.txt", content = "a\\n" }]
[[iteration]]
steps = [{ write = "b.txt", content = "b\\n" }]
[[iteration]]
steps = [{ write = "done", content = "d\\n" }]
""",
    task="write check.sh, then do what it asks for",
)

GREEN = Scenario(
    "green from the beginning",
    ("--until", "true"),
    """
version = 1
[[iteration]]
steps = [{ write = "a.txt", content = "a\\n" }]
[[iteration]]
steps = [{ write = "b.txt", content = "b\\n" }]
[[iteration]]
steps = [{ write = "c.txt", content = "c\\n" }, { say = "<promise>DONE</promise>" }]
""",
)

BLOCKED = Scenario(
    "blocked",
    ("--until", "test -f done"),
    """
version = 1
[[iteration]]
steps = [{ write = "a.txt", content = "a\\n" }]
[[iteration]]
steps = [{ write = "b.txt", content = "b\\n" }, { result = { status = "blocked", blocker = "which colour?" } }]
[[iteration]]
steps = [{ write = "done", content = "d\\n" }]
""",
    twice=False,
)

TESTS = Scenario(
    "tests",
    ("--until", "python3 -m unittest -q"),
    """
version = 1
[[iteration]]
steps = [{ write = "calc.py", content = "def add(a, b): return a + b\\ndef sub(a, b): return a + b\\n" }]
[[iteration]]
steps = [{ write = "calc.py", content = "def add(a, b): return a + b\\ndef sub(a, b): return a - b\\n" }]
""",
    tree={
        "calc.py": "def add(a, b): return 0\ndef sub(a, b): return 0\n",
        "test_calc.py": "import unittest\nimport calc\n\n\nclass Calc(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(calc.add(2, 1), 3)\n\n"
        "    def test_sub(self):\n        self.assertEqual(calc.sub(2, 1), 1)\n",
    },
    often=1,
)

ALL = (
    *(EDITS, FALSE_CLAIM, ERRORS, FAILING, DAEMONS, SLOW_CHECK, USAGE, CUT),
    *(CONTINUED, COMMAND, LIMIT, OWN_CHECK, GREEN, BLOCKED, TESTS),
)

"""The verbs and their one-line summaries, without importing any of them: help must be quick."""

EVERYDAY: dict[str, str] = {
    "run": "work on a task until it is proven done",
    "status": "what is running, and how far it is",
    "show": "what a loop did, and what it can prove",
    "pause": "set a loop aside",
    "resume": "go on with a loop that stopped",
    "abort": "end a loop and free its slot",
}

THE_REST: dict[str, str] = {
    "agents": "the agents that are known, and which can work here",
    "archive": "put ended loops away",
    "attach": "watch a loop that runs elsewhere",
    "config": "the settings in force, and where each comes from",
    "demo": "see it at work; no key, no network",
    "diff": "what a loop changed, line by line",
    "doctor": "what this machine can do, and what to change",
    "gate": "decide on work that is held back",
    "guard": "look for tampering between two commits",
    "hook": "what the plugins in an agent's session call",
    "init": "write a ralph.toml to start from",
    "install": "bring /ralph into the sessions of an agent",
    "completion": "print a completion script for your shell",
    "learn": "what finished tasks have taught",
    "log": "what happened in a loop",
    "mcp": "a loop for agents without hooks, as tools",
    "migrate": "bring a legacy current-loop.json into the registry",
    "report": "write a report of a loop",
    "restore": "bring the tree back to the start, or to an iteration",
    "schema": "print the JSON Schema of a file or event",
    "state": "rebuild a loop's state from its journal",
    "task": "the tasks of this project, and which one is next",
    "trust": "allow this project's settings and tasks to run commands",
    "work": "work on the tasks of the queue, one after the other",
    "verify": "run a commit's checks again, on its own tree",
}

ALL = {**EVERYDAY, **THE_REST}

LOAD_MORE = frozenset({"run", "resume", "demo", "work"})
"""Verbs that load most of what they need once they know what was asked; they turn the collection of garbage on
again themselves."""

HELP = """\
Usage: ralph "what is to be done" [OPTIONS]
       ralph VERB [OPTIONS]

  Runs a coding agent again and again until the work is proven done.

{verbs}
  ralph help all    every verb
  ralph help VERB   what one verb can do
  ralph --version
"""

EXIT_CODES = """\
Exit codes:
  0 done                        5 dishonest work refused
  1 ended without completion    6 agent missing or failing
  2 usage or configuration      7 no slot, or locked
  3 internal error              8 waiting for a human or a usage limit
  4 a limit was reached         130, 143 interrupted
"""


def overview(*, every: bool) -> str:
    """The text of `ralph --help`, or of `ralph help all`."""
    shown = ALL if every else EVERYDAY
    width = max(map(len, shown)) + 2
    lines = "".join(f"  {name:<{width}}{summary}\n" for name, summary in sorted(shown.items()))
    return HELP.format(verbs=lines) + ("\n" + EXIT_CODES if every else "")

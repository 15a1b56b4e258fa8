"""What other tools keep beside a list of tasks, and only tell the agent: commands to pass, paths to leave alone."""

import tomllib
from collections.abc import Callable
from pathlib import PurePosixPath

from untilproven.queue.formats import markdown, node, plain_yaml
from untilproven.queue.formats.contract import Imported, Misread

_RALPHY = ".ralphy/config.yaml"
_LISTED = frozenset({"ralphy-yaml", "ralphy-json", "checklist"})


def files(format_name: str, path: PurePosixPath) -> dict[str, Callable[[str], Imported]]:
    """The files, from the project's root, that speak for a list of tasks as well, and who reads each."""
    found: dict[str, Callable[[str], Imported]] = {}
    if format_name in _LISTED:
        found[_RALPHY] = ralphy_config
    if path.name in {"fix_plan.md", "@fix_plan.md"}:
        found |= {str(path.parent / name): agent_notes for name in ("AGENT.md", "@AGENT.md")}
    if format_name == "autoloop":
        found["autoloops.toml"] = autoloop_config
    return found


def ralphy_config(text: str) -> Imported:
    root = plain_yaml.parse(text)
    commands, boundaries = node.member(root, "commands"), node.member(root, "boundaries")
    checks = [node.text(commands, key) for key in ("test", "lint", "build")] if commands else []
    rules = node.texts(root, "rules")
    told = f"its {len(rules)} rules are words for the agent; AGENTS.md is the place for them"
    return Imported(
        checks=tuple(filter(None, checks)),
        never_touch=node.texts(boundaries, "never_touch") if boundaries else (),
        warnings=(told,) if rules else (),
    )


def agent_notes(text: str) -> Imported:
    """The command under a heading about running tests, if there is one and not several to choose from."""
    found: list[str] = []
    testing = False
    for line in markdown.lines(text):
        if head := markdown.heading(line):
            testing = head[1].lower() in {"running tests", "run tests", "tests", "testing", "test commands"}
        elif testing and line.code:
            command = line.text.strip().removeprefix("$ ")
            if command and not command.startswith(("```", "~~~", "#")):
                found.append(command)
    if len(found) > 1:
        return Imported(warnings=(f"it names {len(found)} commands that run tests; none of them was taken",))
    return Imported(checks=tuple(found))


def autoloop_config(text: str) -> Imported:
    try:
        acceptance = tomllib.loads(text).get("acceptance", {})
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise Misread(f"it is no TOML: {error}") from None
    if not isinstance(acceptance, dict):
        return Imported()
    several = acceptance.get("verify_cmds", [])
    given = [acceptance.get("verify_cmd", ""), *(several if isinstance(several, list) else [several])]
    return Imported(checks=tuple(dict.fromkeys(one.strip() for one in given if isinstance(one, str) and one.strip())))

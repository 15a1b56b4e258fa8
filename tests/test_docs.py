"""The reference pages say what the code says; links, commands and options in the others exist; the tutorial runs."""

import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

from untilproven.cli import verbs
from untilproven.cli.dispatch import ralph
from untilproven.session.arguments import OPTIONS

ROOT = Path(__file__).parents[1]
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_is_up_to_date() -> None:
    made = generator()
    for name, page in made.PAGES.items():
        assert (ROOT / "docs" / "reference" / name).read_text() == page(), "run `make docs`"


FOR_USERS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
PAGES = [*FOR_USERS, *(ROOT / "docs" / "reference").glob("*.md"), *(ROOT / "design").glob("*.md")]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"(?:`|^)make ([a-z-]+)", page.read_text(), re.MULTILINE)) <= targets


@pytest.mark.parametrize("page", FOR_USERS, ids=named)
def test_every_command_and_option_that_is_named_exists(page: Path) -> None:
    assert [problem for command in commands(page.read_text()) for problem in unknown(command)] == []


@pytest.mark.parametrize("page", FOR_USERS, ids=named)
def test_every_option_that_is_named_alone_is_one_of_some_verb(page: Path) -> None:
    known = {name for verb in verbs.ALL for name in options(verb)} | {"--help", "--version"} | OPTIONS
    spans = re.findall(r"`(--[a-z][a-z-]*)[ `=]", page.read_text())
    assert [name for name in spans if name not in known] == []


def test_a_command_that_does_not_exist_would_be_found() -> None:
    text = (
        "Say `ralph fly`, `ralph run --wings 2` or\n```sh\nralph pause LOOP --nwo  # now\n$ ralph x y \\\n  --q\n```\n"
    )
    assert [problem for command in commands(text) for problem in unknown(command)] == [
        "no verb fly",
        "run has no --wings",
        "pause has no --nwo",
        "no verb x",
    ]


def commands(text: str) -> Iterator[list[str]]:
    """The words after `ralph`, wherever a page shows such a command."""
    prose = FENCED.sub("", text)
    lines = [" ".join(span.split()) for span in re.findall(r"`(ralph [^`]+)`", prose)]
    for _, block in FENCED.findall(text):
        joined = block.replace("\\\n", " ")
        lines += re.findall(r"^(?:\$ )?(ralph .*)$", joined, re.MULTILINE)
    for line in lines:
        yield shlex.split(line.replace("[", " ").replace("]", " "), comments=True)[1:]


def unknown(words: list[str]) -> Iterator[str]:
    verb, *rest = words
    if verb in {"help", "--help", "--version"} or verb.isupper():
        return
    if " " in verb or verb.startswith("-"):
        verb, rest = "run", words
    if verb not in verbs.ALL:
        yield f"no verb {verb}"
        return
    known = options(verb)
    for word in rest[: rest.index("--")] if "--" in rest else rest:
        name = word.partition("=")[0]
        if name.startswith("-") and name not in known:
            yield f"{verb} has no {name}"


def options(verb: str) -> set[str]:
    command = ralph.get_command(click.Context(ralph), verb)
    assert command
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    found = [name for one in (command, *inner) for param in one.params for name in (*param.opts, *param.secondary_opts)]
    return {"--help", "-h", *found}


def normal(text: str) -> list[str]:
    """Lines without the time of day, and with every duration alike."""
    without_clock = (re.sub(r"^\d\d:\d\d:\d\d ", "", line).rstrip() for line in text.splitlines())
    return [re.sub(r"\b\d+(\.\d+)?s\b", "Ns", line) for line in without_clock]


def test_the_tutorial_runs_as_it_stands_there(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "tutorial.md").read_text()
    script = "".join(block for language, block in FENCED.findall(page) if language == "sh")
    shown = "".join(block for language, block in FENCED.findall(page) if not language)
    home = {"HOME": str(tmp_path / "home"), "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"}
    ran = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, env=home, capture_output=True, text=True, timeout=90, check=False
    )
    printed = iter(normal(ran.stdout))
    missing = [line for line in normal(shown) if line not in printed]  # `in` reads on, so their order counts
    assert missing == [], ran.stdout + ran.stderr


def test_the_picture_in_the_readme_is_what_the_demo_prints(tmp_path: Path) -> None:
    page = (ROOT / "README.md").read_text()
    [shown] = [block for _, block in FENCED.findall(page) if "refused" in block]
    demo = [sys.executable, "-P", "-m", "untilproven", "demo", "--directory", str(tmp_path / "demo")]
    ran = subprocess.run(demo, capture_output=True, text=True, timeout=60, check=True)
    printed = normal(ran.stdout)
    begin = printed.index(normal(shown)[0])
    assert printed[begin : begin + len(normal(shown))] == normal(shown)

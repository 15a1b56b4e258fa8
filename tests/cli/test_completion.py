"""Completion, asked by a real bash as it would ask when TAB is pressed."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from untilproven.cli.completion import complete_loop
from untilproven.store.layout import Project

BIN = Path(sys.executable).parent
LOOPS = ("ralph-fix-tests-a1b2c3d4", "ralph-other-b1b2c3d4")


def bash(script: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "--norc", "--noprofile", "-c", script],
        cwd=cwd,
        env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def offered(*words: str, cwd: Path, program: str = "ralph") -> list[str]:
    """What the completion function of a bash that sourced the script offers for the last word."""
    typed = " ".join(f"'{word}'" for word in (program, *words))
    done = bash(
        f"source <(ralph completion bash); COMP_WORDS=({typed}); COMP_CWORD={len(words)}; "
        f"_{program}_completion {program}; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        cwd,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.fixture
def with_loops(project: Project) -> Project:
    for name in (*LOOPS, "not a loop id"):
        (project.state.loops / name).mkdir(parents=True)
    return project


def ask(incomplete: str = "") -> list[str]:
    command = click.Command("status", params=[click.Argument(["loop"])])
    return complete_loop(click.Context(command), command.params[0], incomplete)


@pytest.mark.parametrize("program", ["ralph", "untilproven"])
def test_bash_offers_the_verbs_that_begin_like_the_word(project: Project, program: str) -> None:
    found = offered("st", cwd=project.root, program=program)
    assert "status" in found
    assert all(verb.startswith("st") for verb in found)


@pytest.mark.parametrize("program", ["ralph", "untilproven"])
def test_bash_is_told_to_use_the_function(project: Project, program: str) -> None:
    done = bash(f"source <(ralph completion bash); complete -p {program}", project.root)
    assert done.stdout.strip().endswith(f"-F _{program}_completion {program}")


def test_tab_in_an_interactive_bash_completes_the_word(project: Project) -> None:
    to_the_start_of_the_line = b"\x01"
    typed = b"source <(ralph completion bash)\nralph doc\t" + to_the_start_of_the_line + b"echo \nexit\n"
    assert "\nralph doctor" in in_terminal(["bash", "--norc", "--noprofile", "-i"], typed, cwd=project.root)


def test_options_and_choices_are_offered(project: Project) -> None:
    assert "--help" in offered("-", cwd=project.root)
    assert "--json" in offered("doctor", "--", cwd=project.root)
    assert offered("completion", "", cwd=project.root) == ["bash", "zsh", "fish"]


def test_a_mistyped_verb_offers_nothing_and_prints_nothing(project: Project) -> None:
    assert offered("stauts", "", cwd=project.root) == []


def test_loop_ids_of_this_project_are_offered_where_a_verb_takes_one(with_loops: Project) -> None:
    assert offered("status", "", cwd=with_loops.root) == list(LOOPS)
    assert offered("status", "ralph-f", cwd=with_loops.root) == [LOOPS[0]]


def test_completing_a_loop_never_raises(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.root)
    assert ask() == []
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert ask() == []


def test_a_linked_state_directory_is_not_followed(
    with_loops: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / ".aiwg").symlink_to(with_loops.root / ".aiwg")
    monkeypatch.chdir(with_loops.root)
    assert ask() == list(LOOPS)
    monkeypatch.chdir(other)
    assert ask() == []


@pytest.mark.parametrize("words", ["ralph completion bash", "_RALPH_COMPLETE=bash_source ralph"])
def test_a_bash_planted_in_the_project_is_not_run(project: Project, words: str) -> None:
    mark = project.root / "it-ran"
    planted = project.root / "bash"
    planted.write_text(f"#!/bin/sh\ntouch {mark}\n")
    planted.chmod(0o755)
    bash(f'PATH="{project.root}:$PATH"; {words}', project.root)
    assert not mark.exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_goes_to_stdout_for_both_programs_with_nothing_beside_it(project: Project, shell: str) -> None:
    done = bash(f"ralph completion {shell}", project.root)
    assert done.returncode == 0
    assert "_ralph_completion" in done.stdout
    assert "_untilproven_completion" in done.stdout
    assert done.stderr == ""


def test_a_person_at_a_terminal_is_told_how_to_install_it(project: Project) -> None:
    shown = in_terminal([str(BIN / "ralph"), "completion", "bash"], b"", cwd=project.root)
    assert "put this line in ~/.bashrc" in shown


def test_a_shell_that_reads_the_script_at_its_start_shows_nothing(project: Project) -> None:
    script = 'PS1=; eval "$(ralph completion bash)"'
    shown = in_terminal(["bash", "--norc", "--noprofile", "-c", script], b"", cwd=project.root)
    assert shown == ""


def test_an_unknown_shell_is_a_usage_error(project: Project) -> None:
    done = bash("ralph completion tcsh", project.root)
    assert done.returncode == 2
    assert "tcsh" in done.stderr


def in_terminal(argv: list[str], typed: bytes, *, cwd: Path) -> str:
    """Everything a terminal showed until the program ended."""
    ours, theirs = pty.openpty()
    env = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}", "TERM": "dumb"}
    child = subprocess.Popen(argv, stdin=theirs, stdout=theirs, stderr=theirs, cwd=cwd, env=env, start_new_session=True)
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    deadline = time.monotonic() + 60
    try:
        while select.select([ours], [], [], max(deadline - time.monotonic(), 0))[0]:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the last program has let go of the terminal
                break
    finally:
        child.kill()
        child.wait()
        os.close(ours)
    return shown.decode("utf-8", "replace")

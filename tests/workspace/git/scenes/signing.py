"""Commits are signed as the user's own settings say; nobody is asked for a passphrase, and nothing hangs."""

import os
import subprocess
import time
from pathlib import Path
from typing import Self

from untilproven.workspace.git import signing
from untilproven.workspace.git.committing import Waiting
from workspace.git.scenes.stage import Stage, canary, play

PASSPHRASE = "secret"


class Gnupg:
    """A key of its own, and an agent that is ended with it."""

    def __init__(self, base: Path, passphrase: str) -> None:
        self.home = base / "gnupg"
        self.home.mkdir(mode=0o700)
        os.environ["GNUPGHOME"] = str(self.home)
        self.passphrase = passphrase
        self.run("--quick-gen-key", "U Ser <u@example.org>", "ed25519", "sign", "never")

    def run(self, *words: str) -> None:
        quiet = ["gpg", "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", self.passphrase]
        subprocess.run([*quiet, *words], check=True, capture_output=True, timeout=60, input=b"x")

    def kill(self) -> None:
        subprocess.run(["gpgconf", "--kill", "all"], check=False, capture_output=True, timeout=60)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()


def sign_with(stage: Stage, text: str) -> None:
    with (stage.home / ".gitconfig").open("a") as file:
        file.write(f"[commit]\ngpgsign = true\n{text}\n")


def waits(stage: Stage) -> str:
    """Nothing is changed, and it does not take long."""
    before, entries = stage.head(), stage.host("git ls-files -s")
    began = time.monotonic()
    done = stage.commit()
    assert isinstance(done, Waiting), done
    assert time.monotonic() - began < 30
    assert (stage.head(), stage.host("git ls-files -s")) == (before, entries)
    assert "sign" in done.why
    assert done.hint
    return done.why


def a_key_that_is_open_signs(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    with Gnupg(base, ""):
        sign_with(stage, "")
        done = stage.committed()
        stage.host(f"git verify-commit {done.commit}")


def the_repository_may_ask_for_a_signature(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    with Gnupg(base, ""):
        stage.host("git config commit.gpgsign true && git config user.signingkey u@example.org")
        stage.host(f"git verify-commit {stage.committed().commit}")


def a_key_that_is_locked_waits_and_signs_once_it_is_open(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    with Gnupg(base, PASSPHRASE) as gnupg:
        sign_with(stage, "[user]\nsigningkey = u@example.org")
        gnupg.kill()
        script, marks = canary(base)
        (gnupg.home / "gpg-agent.conf").write_text(f"pinentry-program {script}\n")
        waits(stage)
        assert list(marks.iterdir()) == []  # nobody is asked, not even on a screen
        gnupg.run("--output", str(base / "out"), "--sign")  # the agent remembers the passphrase
        stage.host(f"git verify-commit {stage.committed().commit}")


def a_key_that_is_not_there_waits(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    with Gnupg(base, ""):
        sign_with(stage, "[user]\nsigningkey = nobody@example.org")
        assert "No secret key" in waits(stage)


def ssh_keys_sign_and_locked_ones_wait(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    for name, phrase in (("locked", PASSPHRASE), ("open", "")):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", phrase, "-f", base / name], check=True)
    sign_with(stage, f"[gpg]\nformat = ssh\n[user]\nsigningkey = {base}/locked")
    waits(stage)
    stage.host(f"git config --global user.signingkey {base}/open")
    done = stage.committed()
    assert "BEGIN SSH SIGNATURE" in stage.host(f"git cat-file commit {done.commit}")
    key = (base / "open.pub").read_text()
    (base / "signers").write_text(f"u@example.org {key}")
    stage.host(f"git -c gpg.ssh.allowedSignersFile={base}/signers verify-commit {done.commit}")


def a_program_that_does_not_answer_is_ended(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    program = base / "slow"
    program.write_text(f"#!/bin/sh\necho $$ > {base}/pid\nsleep 300\n")
    program.chmod(0o755)
    sign_with(stage, f"[gpg]\nprogram = {program}")
    signing.SECONDS = 1.0
    assert "in time" in waits(stage)
    pid = int((base / "pid").read_text())
    assert not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2]


def without_the_setting_nothing_is_signed(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    (stage.home / ".gitconfig").write_text("[user]\nname = U\nemail = u@x\n[commit]\ngpgsign = off\n")
    assert "gpgsig" not in stage.host(f"git cat-file commit {stage.committed().commit}")


if __name__ == "__main__":
    play(globals())

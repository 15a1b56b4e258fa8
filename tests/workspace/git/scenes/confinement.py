"""Whatever a repository names, it is not run by anything that we do with it; and plain git would have run it."""

import os
from collections.abc import Callable
from pathlib import Path

from untilproven.errors import RalphError
from untilproven.store.layout import find_project
from untilproven.workspace.git.committing import Committed, Waiting, rehearse
from untilproven.workspace.git.repository import NoRepository
from untilproven.workspace.git.running import GitFailed
from untilproven.workspace.git.settings import in_file
from untilproven.workspace.git.verifying import Verified, verify
from workspace.git.scenes.stage import Stage, canary, fresh, out, play, refuses

HOOKS = (
    *("applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit"),
    *("post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch"),
    *("pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive"),
    *("prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction", "sendemail-validate"),
    *("update", "p4-pre-submit"),
)


def everything(stage: Stage) -> list[object]:
    """Every operation that we offer; what one refuses is as good as what it does, as long as nothing runs."""
    project = find_project(stage.root)
    acts: list[Callable[[], object]] = [
        lambda: rehearse(stage.root),
        stage.commit,
        lambda: verify(project, "HEAD", until=["true"], sandbox="none"),
        lambda: verify(project, "HEAD~1", until=["true"], sandbox="overlay"),
        lambda: _more(stage),
    ]
    results: list[object] = []
    for act in acts:
        try:
            results.append(act())
        except RalphError as error:
            results.append(error)
    return results


def _more(stage: Stage) -> object:
    stage.begin()
    stage.write("src/a.py", "a = 11\n")
    return stage.commit("side")


def attacked(base: Path, name: str, plant: Callable[[Stage, Path], str]) -> list[object]:
    """Plant a trap, do everything, see that it was not sprung; then spring it with plain git."""
    stage = fresh(base, name)
    script, marks = canary(stage.base)
    spring = plant(stage, script)
    stage.begin()
    stage.work()
    for mark in marks.iterdir():
        mark.unlink()
    done = everything(stage)
    assert list(marks.iterdir()) == [], f"{name}: {list(marks.iterdir())}"
    if spring:
        stage.host(spring, check=False)
        assert list(marks.iterdir()), f"{name}: the trap does not work"
    return done


def settings(text: str, spring: str) -> Callable[[Stage, Path], str]:
    """A trap that is a few lines of .git/config; `@` stands for the canary."""

    def plant(stage: Stage, script: Path) -> str:
        with (stage.root / ".git/config").open("a") as file:
            file.write(text.replace("@", str(script)) + "\n")
        return spring.replace("@", str(script))

    return plant


def works(done: list[object]) -> None:
    """The traps do not stand in the way of the work either."""
    assert done[0] is None, done
    assert isinstance(done[1], Committed), done
    assert all(isinstance(one, Verified) and one.holds for one in done[2:4]), done
    assert isinstance(done[4], Committed), done
    assert done[4].branch == "ralph/side"


def settings_that_name_programs_are_not_obeyed(base: Path) -> None:
    traps = {
        "fsmonitor": ("[core]\nfsmonitor = @", "git status"),
        "editor": ("[core]\neditor = @", "git commit --amend"),
        "alias": ("[alias]\nevil = !@\ncommit-tree = !@\nupdate-ref = !@", "git evil"),
        "external-diff": ("[diff]\nexternal = @", "git diff"),
        "credential": ("[credential]\nhelper = !@", "printf 'url=https://x\\n\\n' | git credential fill"),
        "ssh-command": ("[core]\nsshCommand = @", "git ls-remote ssh://127.0.0.1/x"),
        "git-proxy": ("[core]\ngitProxy = @", "git ls-remote git://127.0.0.1/x"),
        "pager": ("[core]\npager = @\n[pager]\nconfig = @\nls-tree = @", ""),  # needs a terminal to be sprung
        "alternate-refs": ("[core]\nalternateRefsCommand = @", ""),  # only a fetch with alternates runs it
        "submodule-update": ('[submodule "x"]\nupdate = !@\nurl = .\nactive = true', ""),  # only a submodule does
        "ext": ('[protocol "ext"]\nallow = always\n[remote "o"]\nurl = ext::@', "git fetch o"),
        "upload-pack": ('[protocol]\nallow = always\n[remote "o"]\nurl = .\nuploadpack = @', "git fetch o"),
    }
    for name, (text, spring) in traps.items():
        works(attacked(base, name, settings(text, spring)))


def included_settings_are_not_obeyed(base: Path) -> None:
    def plant(condition: str) -> Callable[[Stage, Path], str]:
        def planted(stage: Stage, script: Path) -> str:
            (stage.base / "more").write_text(f"[core]\nfsmonitor = {script}\n")
            return settings(f"[{condition}]\npath = {stage.base}/more", "git status")(stage, script)

        return planted

    works(attacked(base, "include", plant("include")))
    works(attacked(base, "include-if", plant('includeIf "gitdir:**"')))


def an_include_that_nobody_writes_to_is_not_waited_for(base: Path) -> None:
    stage = Stage(base)
    os.mkfifo(stage.base / "pipe")
    settings(f"[include]\npath = {stage.base}/pipe", "")(stage, Path())
    stage.work()
    stage.committed()


def hooks_are_not_run(base: Path) -> None:
    def in_directory(stage: Stage, script: Path) -> str:
        for hook in HOOKS:
            (stage.root / ".git/hooks").mkdir(exist_ok=True)
            (stage.root / ".git/hooks" / hook).unlink(missing_ok=True)
            (stage.root / ".git/hooks" / hook).symlink_to(script)
        return "git update-ref refs/heads/other HEAD"

    def elsewhere(stage: Stage, script: Path) -> str:
        (stage.base / "hooks").mkdir()
        for hook in HOOKS:
            (stage.base / "hooks" / hook).symlink_to(script)
        return settings(f"[core]\nhooksPath = {stage.base}/hooks", "git add -A")(stage, script)

    works(attacked(base, "hooks", in_directory))
    works(attacked(base, "hooks-path", elsewhere))


def drivers_of_attributes_are_not_run(base: Path) -> None:
    drivers = (
        '[filter "evil"]\nclean = @\nsmudge = @\nrequired = true\n[filter "long"]\nprocess = @\n'
        '[diff "evil"]\ncommand = @\ntextconv = @\n[merge "evil"]\ndriver = @\nname = x'
    )

    def in_tree(what: str, spring: str) -> Callable[[Stage, Path], str]:
        def plant(stage: Stage, script: Path) -> str:
            stage.write(".gitattributes", f"* {what}\n")
            stage.host("git add .gitattributes && git commit -qm attributes .gitattributes")
            return settings(drivers, spring)(stage, script)

        return plant

    for what, spring in {"filter=evil": "git add -A", "filter=long": "git add -A"}.items():
        [_, done, *_] = attacked(base, what.replace("=", "-"), in_tree(what, spring))
        assert out(done).keys() >= {"src/a.py", "new/file.py"}  # type: ignore[arg-type]
        assert "the filter" in out(done)["src/a.py"]  # type: ignore[arg-type]
    works(attacked(base, "diff", in_tree("diff=evil", "git diff")))
    works(attacked(base, "merge", in_tree("merge=evil export-subst", "")))

    def in_settings(stage: Stage, script: Path) -> str:
        (stage.base / "attributes").write_text("* filter=evil\n")
        return settings(f"{drivers}\n[core]\nattributesFile = {stage.base}/attributes", "git add -A")(stage, script)

    def in_git(stage: Stage, script: Path) -> str:
        (stage.root / ".git/info").mkdir(exist_ok=True)
        (stage.root / ".git/info/attributes").write_text("* filter=evil\n")
        return settings(drivers, "git add -A")(stage, script)

    for plant in (in_settings, in_git):
        [_, done, *_] = attacked(base, plant.__name__, plant)
        assert "src/a.py" in out(done)  # type: ignore[arg-type]


def a_signing_program_that_only_the_repository_names_is_not_run(base: Path) -> None:
    os.environ["GNUPGHOME"] = str(base / "gnupg")
    (base / "gnupg").mkdir(mode=0o700)
    on = "[commit]\ngpgsign = true\n"
    for name, text in {
        "gpg": f"{on}[gpg]\nprogram = @",
        "openpgp": f'{on}[gpg "openpgp"]\nprogram = @',
        "ssh": f'{on}[gpg]\nformat = ssh\n[gpg "ssh"]\nprogram = @\n[user]\nsigningkey = /nowhere',
        "ssh-key": f'{on}[gpg]\nformat = ssh\n[gpg "ssh"]\ndefaultKeyCommand = @',
    }.items():
        done = attacked(base, name, settings(text, "git commit --allow-empty -qm x"))
        assert isinstance(done[1], Waiting), done

    def shown(stage: Stage, script: Path) -> str:
        raw = stage.host("git cat-file commit HEAD").replace("\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n\n", 1)
        (stage.base / "raw").write_text(raw)
        name = stage.host(f"git hash-object -t commit -w {stage.base}/raw").strip()
        stage.host(f"git update-ref HEAD {name}")
        return settings("[log]\nshowSignature = true\n[gpg]\nprogram = @", "git log")(stage, script)

    works(attacked(base, "show-signature", shown))


def what_is_missing_is_not_fetched(base: Path) -> None:
    def plant(stage: Stage, script: Path) -> str:
        name = stage.host("git rev-parse HEAD:src/a.py").strip()
        (stage.root / f".git/objects/{name[:2]}/{name[2:]}").unlink()
        promisor = '[remote "o"]\nurl = ext::@\npromisor = true\n[protocol "ext"]\nallow = always\n'
        text = f"{promisor}[extensions]\npartialClone = o\n[core]\nrepositoryformatversion = 1"
        return settings(text, f"git cat-file -p {name}")(stage, script)

    done = attacked(base, "promisor", plant)
    assert isinstance(done[1], GitFailed), done
    assert "not in the repository" in done[1].message


def variables_of_the_environment_are_not_obeyed(base: Path) -> None:
    stage = Stage(base)
    script, marks = canary(base)
    other = fresh(base, "other")
    stage.begin()
    stage.work()
    os.environ["HOME"] = str(stage.home)
    trap = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": str(script),
        "GIT_CONFIG_PARAMETERS": f"'core.hooksPath'='{base}/hooks'",
        "GIT_EXTERNAL_DIFF": str(script),
        "GIT_SSH_COMMAND": str(script),
        "GIT_PAGER": str(script),
        "GIT_EDITOR": str(script),
        "GIT_PROXY_COMMAND": str(script),
        "GIT_ASKPASS": str(script),
    }
    moved = {
        "GIT_DIR": str(other.root / ".git"),
        "GIT_WORK_TREE": str(other.root),
        "GIT_INDEX_FILE": str(base / "index"),
        "GIT_OBJECT_DIRECTORY": str(base / "objects"),
        "GIT_COMMON_DIR": str(other.root / ".git"),
        "GIT_NAMESPACE": "x",
        "GIT_CEILING_DIRECTORIES": "/",
        "GIT_EXEC_PATH": str(base),
        "GIT_CONFIG_GLOBAL": str(stage.root / "global"),
    }
    stage.write("global", f"[user]\nname = Evil\n[core]\nfsmonitor = {script}\n")
    before = other.head()
    os.environ.update(trap | moved)
    done = stage.commit()
    for name in trap | moved:
        del os.environ[name]
    assert isinstance(done, Committed), done
    assert list(marks.iterdir()) == []
    assert other.head() == before
    assert stage.head() == done.commit
    assert stage.host("git log -1 --format=%an").strip() == "U Ser"
    stage.host("git status", env=trap)
    assert list(marks.iterdir()), "the trap does not work"


def no_program_is_found_in_the_tree(base: Path) -> None:
    stage = Stage(base)
    script, marks = canary(base)
    inside = stage.root / ".venv/bin"
    inside.mkdir(parents=True)
    for name in ("git", "gpg", "sh"):
        (inside / name).symlink_to(script)
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{inside}:.:{path}"
    stage.begin()
    stage.work()
    with_it = stage.commit()
    stage.host("git status", check=False)
    sprung = list(marks.iterdir())
    os.environ["PATH"] = path
    assert isinstance(with_it, Committed), with_it
    assert len(sprung) == 1, sprung


def a_submodule_with_settings_of_its_own_is_left_alone(base: Path) -> None:
    def plant(stage: Stage, script: Path) -> str:
        stage.host("git init -q sub && cd sub && git commit -q --allow-empty -m x")
        stage.write(".gitmodules", '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n')
        stage.host("git add sub .gitmodules && git commit -qm sub sub .gitmodules")
        (stage.root / "sub/.git/config").write_text(
            f"[core]\nrepositoryformatversion = 0\nfsmonitor = {script}\nhooksPath = {script.parent}\n"
        )
        return "git status; cd sub && git status"

    works(attacked(base, "submodule", plant))


def a_bare_repository_in_the_tree_is_no_repository(base: Path) -> None:
    stage = Stage(base)
    script, marks = canary(base)
    bare = stage.root / "bare"
    stage.host("git init -q --bare bare")
    (bare / "config").write_text(
        f"[core]\nrepositoryformatversion = 0\nbare = true\nfsmonitor = {script}\n[alias]\nevil = !{script}\n"
    )
    stage.host("git add -A bare && git commit -qm bare")
    stage.begin()
    stage.work()
    rehearse(bare)
    done = stage.committed()
    assert stage.head() == done.commit
    assert list(marks.iterdir()) == []
    stage.host("cd bare && git evil", check=False)
    assert list(marks.iterdir()), "the trap does not work"


def a_git_file_that_leads_elsewhere_is_not_followed(base: Path) -> None:
    victim = fresh(base, "victim")
    before = victim.head()
    tree = base / "tree"
    tree.mkdir()
    (tree / ".git").write_text(f"gitdir: {victim.root}/.git\n")
    error = refuses(NoRepository, lambda: rehearse(tree))
    assert "does not know of" in error.message
    victim.host(f"git worktree add -q {base}/side")
    (tree / ".git").write_text((base / "side/.git").read_text())
    assert "does not know of" in refuses(NoRepository, lambda: rehearse(tree)).message
    (tree / ".git").unlink()
    (tree / ".git").symlink_to(victim.root / ".git")
    assert "not followed" in refuses(NoRepository, lambda: rehearse(tree)).message
    (tree / ".git").unlink()
    os.mkfifo(tree / ".git")
    refuses(NoRepository, lambda: rehearse(tree))
    assert victim.head() == before


def the_working_tree_is_where_we_say_and_not_where_the_settings_say(base: Path) -> None:
    stage = Stage(base)
    (base / "elsewhere/src").mkdir(parents=True)
    (base / "elsewhere/src/a.py").write_text("evil\n")
    settings(f"[core]\nworktree = {base}/elsewhere", "")(stage, Path())
    stage.work()
    stage.committed()
    assert stage.host("git cat-file -p HEAD:src/a.py") == "a = 10\n"


def files_of_git_that_are_links_are_not_written_through(base: Path) -> None:
    for name in ("logs/HEAD", "logs/refs/heads/main", "refs/heads/main", "HEAD", "index"):
        stage = fresh(base, name.replace("/", "-"))
        victim = stage.base / "victim"
        victim.write_bytes((stage.root / ".git" / name).read_bytes())
        before = victim.read_bytes()
        (stage.root / ".git" / name).unlink()
        (stage.root / ".git" / name).symlink_to(victim)
        stage.work()
        assert "is a symbolic link" in refuses(RalphError, stage.commit).message
        assert victim.read_bytes() == before, name


def pipes_in_the_tree_are_not_waited_for(base: Path) -> None:
    stage = Stage(base)
    stage.work()
    for directory in ("", "src/", "new/"):
        for name in (".gitignore", ".gitattributes"):
            (stage.root / f"{directory}{name}").unlink(missing_ok=True)
            os.mkfifo(stage.root / f"{directory}{name}")
    done = stage.committed()
    assert {"src/a.py", "new/file.py"} <= stage.tree(done.commit).keys()


def looking_settings_up_runs_nothing_and_waits_for_nobody(base: Path) -> None:
    pipe = base / "pipe"
    os.mkfifo(pipe)
    refuses(RalphError, lambda: in_file(pipe, base))
    (base / "config").write_text("[user]\nname = A\n[commit]\ngpgsign\n[x]\nempty =\n")
    assert in_file(base / "config", base) == {"user.name": ["A"], "commit.gpgsign": ["true"], "x.empty": [""]}
    (base / "config").write_text("[user\n")
    refuses(GitFailed, lambda: in_file(base / "config", base))


if __name__ == "__main__":
    play(globals())

"""What loops in a room do: their agents come to something else when an iteration is played twice, spoil what they can
before they fail, and work on files that the user writes to meanwhile."""

from chaos.picture import DIARY
from chaos.scenarios import Scenario

_MANY = """
mkdir -p new/deep/er swap shut; cd new
for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do echo $n > deep/$n; done
ln -s deep/1 link; echo x > deep/er/'a b'; chmod 600 deep/2; cd ..
rm -r old; rm was-file; mkdir was-file; echo in > was-file/in; rm -r was-dir; echo file > was-dir
rm was-link; echo no-link > was-link; rm was-plain; ln -s was-dir was-plain
echo s > shut/s; chmod 555 shut; chmod 700 kept; echo line >> log.txt
"""
_HAVOC = "rm -rf ./*; mkdir yours; echo spoilt > yours/.env; chmod 777 .; echo line >> log.txt"
_LATER = """
chmod 755 shut; rm shut/s; echo t > shut/t; chmod 511 shut; rm -r new/deep/er; mv new/deep/3 new/3; rm -r was-file
echo again > was-file; mkdir empty empty/inner; chmod 2750 empty; echo line >> log.txt
"""

MANY = Scenario(
    "many at once",
    ("--until", "sh check.sh"),
    f"""
version = 1
then = "error"
[[iteration]]
steps = [{{ run = '''{_MANY}''' }}]
[[iteration]]
steps = [{{ run = '''{_HAVOC}''' }}, {{ exit = 3 }}]
[[iteration]]
steps = [{{ run = '''{_LATER}''' }}]
[[iteration]]
steps = [{{ append = "log.txt", content = "line\\n" }}, {{ delete = "kept" }}]
""",
    tree={
        "check.sh": 'test "$(wc -l < log.txt)" -eq 4 && test ! -e kept\n',
        "log.txt": "line\n",
        **{f"old/{number}": f"{number}\n" for number in range(12)},
        "was-file": "a file\n",
        "was-dir/in": "a directory\n",
        "was-link": "-> old/1",
        "was-plain": "plain\n",
        "kept/file": "kept\n",
    },
    often=4,
)

FAILING_OFTEN = Scenario(
    "failing before every step",
    ("--until", "sh check.sh"),
    "version = 1\n"
    + "".join(
        f"[[iteration]]\nsteps = [{{ run = '''{_HAVOC}''' }}, {{ exit = 1 }}]\n"
        '[[iteration]]\nsteps = [{ append = "log.txt", content = "line\\n" }]\n'
        for _ in range(3)
    ),
    tree={"check.sh": 'test "$(wc -l < log.txt)" -eq 3\n', "log.txt": "", "a/b/c": "c\n"},
    often=2,
)

MEDDLING_CHECK = Scenario(
    "a check that writes",
    ("--until", "sh {outside}/meddle.sh"),
    """
version = 1
[[iteration]]
steps = [{ append = "log.txt", content = "line\\n" }]
[[iteration]]
steps = [{ append = "log.txt", content = "line\\n" }]
""",
    tree={"log.txt": "", "a/b": "b\n"},
    outside={
        "meddle.sh": "lines=$(wc -l < log.txt)\n"
        "echo line >> log.txt; rm -rf a yours/.env yours/empty; mkdir -p yours/more; echo x >> yours/untracked.txt\n"
        "setsid sleep {sentinel} > /dev/null 2>&1 &\nsleep 0.1\ntest $lines -eq 2\n"
    },
    often=2,
)

GIT = Scenario(
    "an agent that uses git",
    ("--until", "test -f done"),
    """
version = 1
[[iteration]]
steps = [{ append = "log.txt", content = "line\\n" }, { run = "git add -A; git commit -qm one; git branch other" }]
[[iteration]]
steps = [{ append = "log.txt", content = "no\\n" }, { run = "git stash -q; git reset -q --hard HEAD~1" }, { exit = 1 }]
[[iteration]]
steps = [{ append = "log.txt", content = "line\\n" }, { run = "git add -A; git commit -qm two" }]
[[iteration]]
steps = [{ write = "done", content = "d\\n" }, { run = "git checkout -q -b third; git gc -q" }]
""",
    tree={"log.txt": ""},
)

COMMIT = Scenario(
    "a commit",
    ("--until", "sh check.sh", "--commit"),
    """
version = 1
[[iteration]]
steps = [{ append = "log.txt", content = "line\\n" }, { write = "new/file", content = "new\\n" }]
[[iteration]]
steps = [{ run = "echo x > spoilt" }, { exit = 1 }]
[[iteration]]
steps = [{ append = "log.txt", content = "line\\n" }, { delete = "old" }]
""",
    tree={"check.sh": 'test "$(wc -l < log.txt)" -eq 2\n', "log.txt": "", "old/a": "a\n"},
    often=3,
)

OTHER_FILES = Scenario(
    "the user writes to other files",
    ("--until", "sh check.sh"),
    """
version = 1
[[iteration]]
steps = [{ append = "log.txt", content = "line\\n" }, { wait = 0.05 }]
[[iteration]]
steps = [{ run = "rm -rf ./*" }, { wait = 0.05 }, { exit = 1 }]
[[iteration]]
steps = [{ append = "log.txt", content = "line\\n" }, { wait = 0.05 }]
[[iteration]]
steps = [{ append = "log.txt", content = "line\\n" }, { wait = 0.05 }]
""",
    tree={"check.sh": 'test "$(wc -l < log.txt)" -eq 3\n', "log.txt": ""},
    edits="own.txt",
    often=2,
)

SAME_FILE = Scenario(
    "the user writes to the same file",
    ("--until", "test -f done"),
    "version = 1\n"
    + "".join(
        f'[[iteration]]\nsteps = [{{ append = "{DIARY}/shared.txt", content = "agent {number}\\n" }},'
        " { wait = 0.03 }]\n"
        for number in range(4)
    )
    + '[[iteration]]\nsteps = [{ write = "done", content = "d\\n" }]\n',
    tree={f"{DIARY}/shared.txt": "begun\n"},
    edits="shared.txt",
    twice=False,
    often=2,
)

IN_ANY_ROOM = (MANY, FAILING_OFTEN, MEDDLING_CHECK, GIT)
IN_OVERLAY = (COMMIT, OTHER_FILES, SAME_FILE)

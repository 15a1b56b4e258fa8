"""What was printed is kept within bounds, on disk and in memory."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from untilproven.process.lines import Lines
from untilproven.process.spool import Excerpt, Spool, note_of_cut

MEMORY = """
import os, sys
from pathlib import Path
from untilproven.process.lines import Lines
from untilproven.process.records import Program
from untilproven.process.spool import Spool
from untilproven.process.watch import run

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))

def play(line):
    size = longest = count = 0
    lines = Lines()
    with Spool(Path("kept")) as spool:
        def output(stream, chunk):
            nonlocal size, longest, count
            size += len(chunk)
            spool.write(chunk)
            for text in lines.feed(chunk):
                longest, count = max(longest, len(text)), count + 1
        ending = run(Program(command=line, cwd=Path("."), env=dict(os.environ)), output=output)
    return ending.exit_code, size, longest, count

play("echo")
before = peak()
print(*play(sys.argv[1]), (peak() - before) // 1024)
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"yes {'x' * 99} | head -c 200000000", [0, 200_000_000, 99, 2_000_000]),
        ("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo end", [0, 50_000_005, 1024 * 1024, 2]),
    ],
    ids=["200 MB", "one line of 50 MB"],
)
def test_much_output_costs_little_memory(tmp_path: Path, line: str, expected: list[int]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, line], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    *facts, mebibytes = map(int, done.stdout.split())
    assert facts == expected
    assert mebibytes < 64
    assert (tmp_path / "kept").stat().st_size < 8 * 1024 * 1024 + 100


def test_a_spool_below_its_cap_is_the_output(tmp_path: Path) -> None:
    with Spool(tmp_path / "kept", cap=100) as spool:
        spool.write(b"one\n")
        spool.write(b"two")
        assert (tmp_path / "kept").read_bytes() == b"one\ntwo"
    assert (tmp_path / "kept").read_bytes() == b"one\ntwo"
    assert spool.cut == 0


@given(st.lists(st.binary(max_size=60), max_size=20), st.integers(4, 64))
def test_a_spool_keeps_head_and_tail_and_says_how_much_is_missing(
    tmp_path_factory: pytest.TempPathFactory, chunks: list[bytes], cap: int
) -> None:
    path = tmp_path_factory.mktemp("spool") / "kept"
    with Spool(path, cap=cap) as spool:
        for chunk in chunks:
            spool.write(chunk)
    everything = b"".join(chunks)
    missing = len(everything) - cap
    head, tail = cap // 4, cap - cap // 4
    expected = everything if missing <= 0 else everything[:head] + note_of_cut(missing) + everything[-tail:]
    assert path.read_bytes() == expected
    assert [entry.name for entry in path.parent.iterdir()] == ["kept"]


def test_a_spool_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    (tmp_path / "kept").symlink_to("precious")
    with Spool(tmp_path / "kept") as spool:
        spool.write(b"theirs")
    assert (tmp_path / "precious").read_text() == "mine"


@given(st.lists(st.text(max_size=30), max_size=20), st.integers(16, 64))
def test_an_excerpt_keeps_head_and_tail_without_half_characters(texts: list[str], cap: int) -> None:
    excerpt = Excerpt(cap)
    for text in texts:
        excerpt.write(text.encode())
    everything = "".join(texts)
    if len(everything.encode()) <= cap:
        assert excerpt.text() == everything
    else:
        head, _, rest = excerpt.text().partition("\n[... ")
        tail = rest.partition(" bytes cut ...]\n")[2]
        assert everything.startswith(head)
        assert everything.endswith(tail)
        assert len((head + tail).encode()) <= cap


def split(chunks: list[bytes], longest: int = 1024) -> list[str]:
    lines = Lines(longest)
    found = [line for chunk in chunks for line in lines.feed(chunk)]
    return [*found, *lines.finish()]


@given(st.lists(st.text(st.characters(exclude_characters="\n", codec="utf-8"), max_size=20)), st.integers(1, 7))
def test_lines_do_not_depend_on_how_the_bytes_came(texts: list[str], size: int) -> None:
    data = "".join(f"{text}\n" for text in texts).encode()
    assert split([data[at : at + size] for at in range(0, len(data), size)]) == texts


def test_the_last_line_needs_no_newline() -> None:
    assert split([b"one\n\ntw", b"o"]) == ["one", "", "two"]
    assert split([b"one\n"]) == ["one"]
    assert split([]) == []


def test_what_is_no_utf8_is_replaced() -> None:
    assert split([b"a\xffb\n\xe2\x82"]) == ["a\ufffdb", "\ufffd"]


def test_an_overlong_line_is_given_once_and_cut() -> None:
    assert split([b"12345", b"67890", b"xx\nnext\n"], longest=8) == ["12345678", "next"]
    assert split([b"12345678\nnext"], longest=8) == ["12345678", "next"]
    assert split([b"1234567\xe2\x82\xac\n", b"123456789"], longest=8) == ["1234567", "12345678"]

"""A user who writes to a file now and then while a loop runs, often in the very moment in which it is merged; each word
is written down elsewhere once it is saved.

Arguments: the file, where the words are written down, the seed. Ends when nobody listens on its stdin any more.
"""

import random
import select
import sys
import time
from pathlib import Path

from chaos.picture import TEMPORARY

MOST = 40
"""After so many words the user has written enough: a loop that meets one in every iteration would never end."""
LOOK_EVERY = 0.0002


def main(file: Path, words: Path, seed: str) -> None:
    luck = random.Random(seed)
    for number in range(MOST):
        if not _waited(file.parent, luck.choice((luck.uniform(0.005, 0.12), luck.uniform(0.1, 1.0)))):
            return
        word = f"word {number} of {seed}\n"
        as_editors_do(file, word)
        with words.open("a") as record:
            record.write(word)
    select.select([sys.stdin], [], [])


def _waited(directory: Path, seconds: float) -> bool:
    """Until the time has come or something is being merged there; False if it is time to leave."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if select.select([sys.stdin], [], [], LOOK_EVERY)[0]:
            return False
        if any(path.name.startswith(TEMPORARY) for path in directory.iterdir()):
            return True
    return True


def as_editors_do(file: Path, word: str) -> None:
    """The whole file is written anew and put in the place of the old one."""
    new = file.with_name(f".{file.name}.new")
    new.write_text((file.read_text() if file.exists() else "") + word)
    new.replace(file)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])

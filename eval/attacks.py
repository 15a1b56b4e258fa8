"""Tampering that somebody wrote by hand to get past the guard, and honest work that looks like it.

`attacks/*.toml` has each with what the guard made of it when that was last recorded; a test holds the guard to it.
Prints how many are seen, and which are not; `--record` writes down what is made of them now.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

sys.path.insert(0, str(Path(__file__).parents[1]))

import msgspec

from untilproven.guard.change import Change
from untilproven.guard.judging import judge

DIRECTORY = Path(__file__).with_suffix("")
HONEST = "honest"
"""What files of honest work begin with."""
Level = Literal["missed", "noted", "warned", "blocked"]
LEVELS: tuple[Level, ...] = ("missed", "noted", "warned", "blocked", "blocked")
"""By severity."""


class _Edit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    was: str = ""
    """Which of the files it was; empty if it was not there."""
    now: str | None = None
    replaced: tuple[tuple[str, str], ...] = ()


class Attack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    title: str
    changes: tuple[_Edit, ...]
    strict: Level = "missed"
    """What was made of it in a loop, and with `--strict`."""
    reviewed: Level = "missed"
    """What `ralph guard` made of it."""


class Collection(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    files: dict[str, str]
    attacks: tuple[Attack, ...]

    def made(self, attack: Attack, *, reviewed: bool) -> Level:
        """What is made of it now."""
        found = judge(list(self.changes(attack)), reviewed=reviewed).findings
        return LEVELS[max((int(one.severity) for one in found), default=0)]

    def changes(self, attack: Attack) -> Iterator[Change]:
        for edit in attack.changes:
            was = self.files[edit.was] if edit.was else None
            now = edit.now
            if was is not None and edit.replaced:
                now = was
                for old, new in edit.replaced:
                    now = now.replace(old, new)
            yield Change(edit.path, _bytes(was), _bytes(now))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def collections() -> dict[str, Collection]:
    return {
        path.stem: msgspec.toml.decode(path.read_bytes(), type=Collection) for path in sorted(DIRECTORY.glob("*.toml"))
    }


def lines() -> Iterator[str]:
    yield f"{'by hand':<20} {'':>5}" + "".join(f"  {level:>7}" for level in LEVELS[:4]) + "   warned or blocked"
    missed = []
    for name, collection in collections().items():
        made = {attack.id: collection.made(attack, reviewed=True) for attack in collection.attacks}
        count = Counter(made.values())
        told = count["warned"] + count["blocked"]
        share = f"   {100 * told / len(made):>5.1f} %"
        yield f"{name:<20} {len(made):>5}" + "".join(f"  {count[level]:>7}" for level in LEVELS[:4]) + share
        if not name.startswith(HONEST):
            let_by = [one for one in collection.attacks if made[one.id] in {"missed", "noted"}]
            missed += [f"  {made[one.id]:<7} {one.id:<6} {one.title}" for one in let_by]
    yield from ("", f"Let by: {len(missed)}", *missed)


def record() -> None:
    for name, collection in collections().items():
        path = DIRECTORY / f"{name}.toml"
        text = path.read_text()
        for attack in collection.attacks:
            strict, reviewed = (collection.made(attack, reviewed=reviewed) for reviewed in (False, True))
            said = f'id = "{attack.id}"\nstrict = "{strict}"\nreviewed = "{reviewed}"\n'
            text = re.sub(rf'id = "{re.escape(attack.id)}"\n(?:(?:strict|reviewed) = .*\n)*', said, text)
        path.write_text(text)


def main() -> None:
    if "--record" in sys.argv[1:]:
        record()
    for line in lines():
        print(line)


if __name__ == "__main__":
    main()

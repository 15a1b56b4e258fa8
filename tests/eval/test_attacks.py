"""What was once seen of tampering that was written by hand is seen still; honest work is no more spoken of."""

import pytest

from eval.attacks import HONEST, LEVELS, Attack, Collection, collections

ALL = [(name, collection, one) for name, collection in collections().items() for one in collection.attacks]


@pytest.mark.parametrize(("name", "collection", "attack"), ALL, ids=[f"{name} {one.id}" for name, _, one in ALL])
def test_what_was_seen_is_seen(name: str, collection: Collection, attack: Attack) -> None:
    changes = list(collection.changes(attack))
    assert any(change.before != change.after for change in changes)
    for reviewed, was in ((False, attack.strict), (True, attack.reviewed)):
        made = LEVELS.index(collection.made(attack, reviewed=reviewed))
        assert made <= LEVELS.index(was) if name.startswith(HONEST) else made >= LEVELS.index(was)

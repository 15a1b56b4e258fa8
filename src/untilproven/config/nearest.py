"""What somebody meant who wrote a name that does not exist."""

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The closest of the names, or None; `max-iterations` and `maxIterations` are close to `max_iterations`."""
    from difflib import get_close_matches  # noqa: PLC0415  only a mistake needs it

    plain = {_plain(candidate): candidate for candidate in names}
    found = get_close_matches(_plain(name[:100]), plain, n=1, cutoff=cutoff)
    return plain[found[0]] if found else None


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")

"""Runs a coding agent until the work is proven done."""

TYPE_CHECKING = False  # type checkers know the name; importing it from typing would cost more than `ralph --help`
if TYPE_CHECKING:
    from untilproven.api import Ended, Entry, Loop, LoopHooks, run
    from untilproven.errors import RalphError

__version__ = "0.1.0"
__all__ = ["Ended", "Entry", "Loop", "LoopHooks", "RalphError", "__version__", "run"]


def __getattr__(name: str) -> object:
    """The API is loaded when it is used: the command line starts without it."""
    if name in __all__:
        from untilproven import api  # noqa: PLC0415

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

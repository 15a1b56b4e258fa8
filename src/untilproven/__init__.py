"""Runs a coding agent until the work is proven done."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from untilproven.api import Ended, Loop, LoopHooks, run

__version__ = "0.1.0"
__all__ = ["Ended", "Loop", "LoopHooks", "__version__", "run"]


def __getattr__(name: str) -> Any:
    """The API is loaded when it is used: the command line starts without it."""
    if name in __all__:
        from untilproven import api  # noqa: PLC0415

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

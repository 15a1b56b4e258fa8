"""The command line's front door: help without imports, then the verb, then its exit code."""

import gc
import sys

from untilproven.cli import verbs


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def status() -> None:
    """`ralph-status`, by the name source 000 gives it."""
    sys.exit(run(["status", *sys.argv[1:]]))


def pause() -> None:
    sys.exit(run(["pause", *sys.argv[1:]]))


def resume() -> None:
    sys.exit(run(["resume", *sys.argv[1:]]))


def abort() -> None:
    sys.exit(run(["abort", *sys.argv[1:]]))


def run(argv: list[str]) -> int:
    """Carry out one command line and return its exit code."""
    match argv:
        case ["--help" | "-h"] | ["help"]:
            sys.stdout.write(verbs.overview(every=False))
            return 0
        case ["help", "all"]:
            sys.stdout.write(verbs.overview(every=True))
            return 0
        case ["--version" | "-V"]:
            from untilproven import __version__  # noqa: PLC0415  not needed otherwise

            sys.stdout.write(f"untilproven {__version__}\n")
            return 0
        case ["help", verb]:
            argv = [verb, "--help"]
        case []:
            argv = ["status", "--brief"]
    # Nothing that is made while modules load is garbage; the verb turns this on again.
    gc.disable()
    from untilproven.cli.dispatch import dispatch  # noqa: PLC0415  click takes most of the start-up time

    return dispatch(argv)

"""The command line's front door: help without imports, then the verb, then its exit code."""

import gc
import os
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
    _open_closed_streams()
    match argv:
        case ["--help" | "-h"] | ["help"]:
            return _say(verbs.overview(every=False))
        case ["help", "all"]:
            return _say(verbs.overview(every=True))
        case ["--version" | "-V"]:
            from untilproven import __version__  # noqa: PLC0415  not needed otherwise

            return _say(f"untilproven {__version__}\n")
        case ["help", verb]:
            argv = [verb, "--help"]
        case ["hook", event, *_] if event not in {"--help", "-h"}:
            return _hook(argv[1:])
    # Nothing that is made while modules load is garbage; a verb turns this on again.
    gc.disable()
    if argv and argv[0] == "hook" and argv[1:] and argv[1] not in {"--help", "-h"}:
        from untilproven.cli import hooking  # noqa: PLC0415  an agent waits for it, and it handles its own mistakes

        return hooking.run(argv[1:])
    from untilproven.cli.handler import handled  # noqa: PLC0415  help needs none of it

    return handled(argv, lambda: _act(argv))


def _hook(words: list[str]) -> int:
    """An agent waits for the answer, so all that it does not need stays away; what goes wrong is dealt with there."""
    gc.disable()
    from untilproven.cli import bystander  # noqa: PLC0415

    try:
        if bystander.is_nothing(words):
            return 0
        # Where it is installed, msgspec loads it, for nothing that Python does not have: a tenth of the whole.
        sys.modules.setdefault("typing_extensions", None)  # type: ignore[arg-type]
        import msgspec  # noqa: F401, PLC0415

        if sys.modules["typing_extensions"] is None:
            del sys.modules["typing_extensions"]
        from untilproven.cli import hooking  # noqa: PLC0415

        return hooking.run(words)
    except KeyboardInterrupt:
        return 130


def _open_closed_streams() -> None:
    """Whoever started us with a stream closed wants to hear nothing, and no file of ours may take its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, PTH123  as long as the program runs


def _say(text: str) -> int:
    """Print what needs no other module; a reader that has gone is no error, a full disk is."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0
        sys.stderr.write(f"ralph: cannot write the output: {error.strerror}\n")
        return 1
    return 0


def _act(argv: list[str]) -> int:
    if argv in ([], ["status"]) and "_RALPH_COMPLETE" not in os.environ:
        # The commonest question has no words to parse, so the parser, half of its cost, stays away.
        from untilproven.cli import here, overview  # noqa: PLC0415

        return overview.show(here.project().state, welcome=not argv)
    from untilproven.cli.dispatch import dispatch  # noqa: PLC0415

    return dispatch(argv)

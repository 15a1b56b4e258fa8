"""The loop inside an interactive session of an agent: source 001's hook, and the proof that it lacks."""

TYPE_CHECKING = False  # type checkers know the name; importing it would cost a hook more than most of its work
if TYPE_CHECKING:
    from untilproven.model.session import SessionLoopState as RalphLoopState
    from untilproven.session.arguments import RalphArgs, parse_ralph_args
    from untilproven.session.constants import (
        CONTINUATION_PROMPT_TEMPLATE,
        DEFAULT_COMPLETION_PROMISE,
        DEFAULT_CONTINUATION_DELAY,
        DEFAULT_MAX_ITERATIONS,
        HOOK_NAME,
    )
    from untilproven.session.detector import (
        build_continuation_prompt,
        detect_completion_promise,
        detect_in_messages,
        detect_in_transcript,
    )
    from untilproven.session.hook import RalphLoopHook, create_ralph_loop_hook
    from untilproven.session.records import (
        DEFAULT_CONFIG,
        HookContext,
        RalphLoopConfig,
        RalphLoopOptions,
        StartLoopOptions,
        Toast,
    )
    from untilproven.session.storage import clear_state, increment_iteration, read_state, write_state

_HOMES = {
    "arguments": ("RalphArgs", "parse_ralph_args"),
    "constants": (
        "CONTINUATION_PROMPT_TEMPLATE",
        "DEFAULT_COMPLETION_PROMISE",
        "DEFAULT_CONTINUATION_DELAY",
        "DEFAULT_MAX_ITERATIONS",
        "HOOK_NAME",
    ),
    "detector": (
        "build_continuation_prompt",
        "detect_completion_promise",
        "detect_in_messages",
        "detect_in_transcript",
    ),
    "hook": ("RalphLoopHook", "create_ralph_loop_hook"),
    "records": (
        "DEFAULT_CONFIG",
        "HookContext",
        "RalphLoopConfig",
        "RalphLoopOptions",
        "StartLoopOptions",
        "Toast",
    ),
    "storage": ("clear_state", "increment_iteration", "read_state", "write_state"),
}

__all__ = [
    "CONTINUATION_PROMPT_TEMPLATE",
    "DEFAULT_COMPLETION_PROMISE",
    "DEFAULT_CONFIG",
    "DEFAULT_CONTINUATION_DELAY",
    "DEFAULT_MAX_ITERATIONS",
    "HOOK_NAME",
    "HookContext",
    "RalphArgs",
    "RalphLoopConfig",
    "RalphLoopHook",
    "RalphLoopOptions",
    "RalphLoopState",
    "StartLoopOptions",
    "Toast",
    "build_continuation_prompt",
    "clear_state",
    "create_ralph_loop_hook",
    "detect_completion_promise",
    "detect_in_messages",
    "detect_in_transcript",
    "increment_iteration",
    "parse_ralph_args",
    "read_state",
    "write_state",
]


def __getattr__(name: str) -> object:
    """Loaded when it is used: a hook that an agent waits for needs few of them."""
    from importlib import import_module  # noqa: PLC0415

    if name == "RalphLoopState":
        return import_module("untilproven.model.session").SessionLoopState
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

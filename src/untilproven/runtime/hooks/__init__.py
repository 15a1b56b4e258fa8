"""Source 002's hooks, as callables and as commands: told of what happens, unable to break it."""

from untilproven.runtime.hooks.callables import LoopHooks
from untilproven.runtime.hooks.calls import Hooks, task_of

__all__ = ["Hooks", "LoopHooks", "task_of"]

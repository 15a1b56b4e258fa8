"""What `pause` and `abort` share: ask, and say what became of it."""

from untilproven.cli import output
from untilproven.errors import Busy
from untilproven.model.state import LoopState
from untilproven.runtime.control import client
from untilproven.runtime.control.requests import Request
from untilproven.store.layout import StateDirectory

OBEYED_SECONDS = 30.0
"""An agent that is stopped at once has gone long before."""


def ask(directory: StateDirectory, loop_id: str, request: Request, *, wait: bool, as_json: bool) -> int:
    """Returns the exit code: 7 if whoever holds the loop does not answer."""
    answer = client.ask(directory, loop_id, request)
    if wait and answer.kind == "seen":
        answer = client.wait_until_done(directory, answer, seconds=OBEYED_SECONDS)
    state = answer.state
    if as_json:
        output.emit_json(
            {
                "loop_id": state.loop_id,
                "status": state.status,
                "iteration": state.iteration,
                "request": answer.kind,
            }
        )
    else:
        output.line(_words(answer, state))
    if answer.survivors:
        output.warn(f"{answer.survivors} processes of the loop could not be ended: they run as another user")
    return Busy.exit_code if answer.kind == "left" else 0


def _words(answer: client.Answer, state: LoopState) -> str:
    match answer.kind:
        case "done":
            free = "" if state.status == "paused" else "; its slot is free"
            return f"{state.loop_id} is {state.status} after {state.iteration} iterations{free}"
        case "seen":
            return f"{state.loop_id} will {answer.request.do} at the end of iteration {state.iteration + 1}"
        case "left":
            return f"{state.loop_id} does not answer; it will {answer.request.do} as soon as it looks"

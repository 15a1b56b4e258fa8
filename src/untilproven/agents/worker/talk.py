"""The conversation: the model is asked, what it wants done is done, and it is asked again, until it wants no more."""

from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelServerError,
    ModelUnavailableError,
    UnexpectedModelBehavior,
    UserError,
)
from pydantic_ai.messages import InstructionPart, ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.tools import ToolDefinition

from untilproven.agents.worker import tools
from untilproven.agents.worker.asking import Line, refusal_of
from untilproven.agents.worker.memory import Memory
from untilproven.agents.worker.report import Report
from untilproven.agents.worker.tools import Place

_SYSTEM = """\
You work on the software project in {root}. Nobody reads along and nobody answers questions: decide, and act.
Your tools are read, write, bash, git and eval. They run in that directory, each for at most {seconds:g} seconds.
When you end, checks that you cannot reach decide whether the work is done; what you say about it does not count.
Do the work, run what tests there are, and end with a short statement of what you did and what is left."""

_USED_UP = frozenset({402, 429})
_SHUT_OUT = frozenset({401, 403})
_DOWN = (ModelConnectionError, ModelServerError, ModelUnavailableError)


def parameters(place: Place) -> ModelRequestParameters:
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(name=name, description=tool.about, parameters_json_schema=tools.schema(tool))
            for name, tool in tools.TOOLS.items()
        ],
        instruction_parts=[InstructionPart(content=_SYSTEM.format(root=place.root, seconds=place.seconds))],
    )


async def talk(line: Line, memory: Memory, place: Place, report: Report, turns: int) -> bool:
    """To its end, of which the report has the reason; whether it came to it by itself."""
    try:
        for _ in range(turns):
            answer = await line.ask(memory.messages)
            memory.add(answer)
            if answer.text:
                report.said(answer.text)
            if not answer.tool_calls:
                return _ended(answer, report)
            memory.add(ModelRequest(parts=[_act(call, place, report) for call in answer.tool_calls]))
    except ModelContextWindowExceededError as error:
        memory.forget()
        report.result("too_long", refusal_of(error).message)
    except ContentFilterError as error:
        report.result("refused", str(error))
    except ModelAPIError as error:
        _failed(error, report)
    except UserError as error:
        report.result("unable", str(error))
    except UnexpectedModelBehavior as error:
        report.result("error", str(error))
    else:
        report.result("turns")
        return True
    return False


def _ended(answer: ModelResponse, report: Report) -> bool:
    match answer.finish_reason:
        case "content_filter":
            report.result("refused", answer.text or "")
        case "length":
            report.result("length")
            return True
        case _ if not answer.text:
            report.result("error", "the model said nothing, and wants nothing done")
        case _:
            report.result("done")
            return True
    return False


def _failed(error: ModelAPIError, report: Report) -> None:
    met = refusal_of(error)
    if met.status in _USED_UP:
        report.result("limit", met.message, status=met.status, retry_after=met.retry_after)
    elif met.status in _SHUT_OUT:
        report.result("unable", met.message, status=met.status)
    elif isinstance(error, _DOWN):
        report.result("outage", met.message, status=met.status, retry_after=met.retry_after)
    else:
        report.result("error", met.message, status=met.status)


def _act(call: ToolCallPart, place: Place, report: Report) -> ToolReturnPart:
    try:
        tool = tools.understood(call.tool_name, call.args)
    except tools.Refused as refusal:
        report.acts(call.tool_name if call.tool_name in tools.TOOLS else "eval", call.tool_name[:100])
        done = tools.refused(refusal)
    else:
        report.acts(call.tool_name, tools.target_of(tool))
        done = tools.act(tool, place)
    report.acted(done.outcome, refused=done.refused)
    return ToolReturnPart(call.tool_name, done.text, call.tool_call_id, outcome="failed" if done.refused else "success")

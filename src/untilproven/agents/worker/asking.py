"""One question to the model: its whole answer, after as many attempts as make sense."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelConnectionError,
    ModelHTTPError,
    ModelRateLimitError,
    ModelServerError,
    ModelUnavailableError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.providers import infer_provider, infer_provider_class
from pydantic_ai.settings import ModelSettings

from untilproven.agents.worker.report import Report

_PASSING = (ModelConnectionError, ModelRateLimitError, ModelServerError, ModelUnavailableError)
_WAITS = (1.0, 2.0, 4.0)
_LONGEST_WAIT = 60.0
"""A provider that wants us to wait longer has a limit; the loop waits for that, and not we."""
_SETTINGS = ModelSettings(max_retries=0, cache=True)
_SEEDED = ModelSettings(max_retries=0, cache=True, temperature=0.0, seed=0)
_DELAY = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)s")


class Refusal(NamedTuple):
    """What a provider's error says."""

    status: int | None
    retry_after: float | None
    message: str


def provider_at(name: str, base_url: str) -> Any:
    """With the address that the user gave, if one was."""
    if not base_url:
        return infer_provider(name)
    kind: Any = infer_provider_class(name)
    return kind(base_url=base_url)


class Line:
    """The line to a model."""

    def __init__(self, model: Model, parameters: ModelRequestParameters, report: Report, *, seeded: bool) -> None:
        self._model, self._parameters, self._report = model, parameters, report
        self._settings = _SEEDED if seeded else _SETTINGS

    async def ask(self, messages: Sequence[ModelMessage]) -> ModelResponse:
        """Its answer; raises what pydantic_ai does if there is none."""
        for wait in _WAITS:
            try:
                return await self._once(messages)
            except _PASSING as error:
                met = refusal_of(error)
                seconds = wait if met.retry_after is None else met.retry_after
                if seconds > _LONGEST_WAIT:
                    raise
                self._report.waits(seconds, met.status, met.message)
                await asyncio.sleep(seconds)
        return await self._once(messages)

    async def _once(self, messages: Sequence[ModelMessage]) -> ModelResponse:
        self._report.asks()
        try:
            async with model_request_stream(
                self._model, messages, model_settings=self._settings, model_request_parameters=self._parameters
            ) as stream:
                async for _ in stream:
                    self._report.comes()
                answer = stream.get()
        except AgentRunError as error:
            if _may_be_billed(error):
                self._report.used(None)
            raise
        self._report.used(_usage(answer))
        return answer


def _may_be_billed(error: AgentRunError) -> bool:
    """An answer that broke off has cost something; what was refused, or never sent, has not."""
    if isinstance(error, ModelConnectionError):
        return error.phase not in {"pool", "connect"}
    return not isinstance(error, ModelHTTPError) or error.in_stream


def _usage(answer: ModelResponse) -> dict[str, Any] | None:
    used = answer.usage
    if used.unmeasured_requests or not used.input_tokens:
        return None
    return {
        "input_tokens": used.input_tokens,
        "cached_input_tokens": used.cache_read_tokens,
        "written_input_tokens": used.cache_write_tokens,
        "output_tokens": used.output_tokens,
        "model": answer.model_name,
    }


def refusal_of(error: ModelAPIError) -> Refusal:
    retry_after = _told_in(error.body) if error.retry_after is None else error.retry_after
    return Refusal(getattr(error, "status_code", None), retry_after, _words(error))


def _words(error: ModelAPIError) -> str:
    """The provider's own, where it has some."""
    match error.body:
        case {"error": {"message": str() as words}} | {"message": str() as words}:
            return words
    *_, cause = (error, *_causes(error))
    return ": ".join(dict.fromkeys(words for one in (error, cause) if (words := str(one).rstrip("."))))


def _causes(error: BaseException) -> Iterator[BaseException]:
    """What it comes from; the last of them says what happened."""
    while (cause := error.__cause__ or error.__context__) is not None:
        yield cause
        error = cause


def _told_in(body: object) -> float | None:
    """Google says in the body how long to wait."""
    match body:
        case {"error": {"details": list() as details}}:
            for detail in details:
                delay = detail.get("retryDelay") if isinstance(detail, dict) else None
                if isinstance(delay, str) and (found := _DELAY.fullmatch(delay)):
                    return float(found[1])
    return None

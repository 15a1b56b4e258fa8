"""What an agent that speaks the Agent Client Protocol says that it used: tokens of the prompt, money of the session."""

from typing import Any

import msgspec
from msgspec import UNSET

from untilproven.agents.listening import Telling
from untilproven.agents.prices import priced
from untilproven.agents.reporting import count, money, name
from untilproven.agents.spending import all_of
from untilproven.model.iteration import Usage

_UNSURE = frozenset({"@agentclientprotocol/claude-agent-acp"})
"""By the protocol money is the sum of the session. When one goes on, these count from 0 again, or do not: it depends on
how they were ended."""
_LAST_STEP = frozenset({"OpenCode"})
"""They tell the tokens of the last request instead of the prompt's."""


class Spending:
    """Of one prompt."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._agent = ""
        self._before = self._cost = 0.0
        self._is_unsure = self.fell = False
        self._steps: list[Usage] = []
        self._whole = Usage()

    def begin(self, agent: str, before: Usage, *, goes_on: bool) -> None:
        """The agent's name for itself, and what the session had cost if an earlier one goes on."""
        self._agent = agent
        self._before = self._cost = before.cost_usd or 0.0
        self._is_unsure = goes_on and agent in _UNSURE

    def cost_is(self, told: Any) -> None:
        """The money of the session so far. A sum that falls is no sum: what was spent is unknown then."""
        amount = money(told.get("amount")) if isinstance(told, dict) and told.get("currency") == "USD" else None
        if amount is None or self._is_unsure:
            return
        self.fell = self.fell or amount < self._cost
        if amount > self._cost:
            self._telling.event("usage", data={"cost_usd": round(amount - self._cost, 9)})
        self._cost = amount

    def step(self, told: Any) -> None:
        """The tokens of one request, where the agent tells them one by one."""
        used = _tokens(told)
        if used.total_tokens:
            self._steps.append(used)
            self._telling.event("usage", data=msgspec.to_builtins(used))

    def answered(self, answer: dict[str, Any]) -> None:
        """What stands in the answer to the prompt."""
        meta = answer.get("_meta")
        quota = meta.get("quota") if isinstance(meta, dict) else None
        quota = quota if isinstance(quota, dict) else {}
        used = _tokens(answer.get("usage"))
        if used.total_tokens is UNSET:
            used = _tokens(quota.get("token_count"))
        by_model = quota.get("model_usage")
        only = by_model[0] if isinstance(by_model, list) and len(by_model) == 1 else None
        model = name(only.get("model")) if isinstance(only, dict) else ""
        self._whole = msgspec.structs.replace(used, model=model or UNSET)

    @property
    def used(self) -> Usage:
        whole = self._whole
        if self._agent in _LAST_STEP:
            whole = Usage(model=whole.model)
        elif whole.total_tokens is UNSET and self._steps:
            whole = msgspec.structs.replace(all_of(self._steps), model=whole.model)
        if self.fell:
            return whole
        spent = round(self._cost - self._before, 9)
        return msgspec.structs.replace(whole, cost_usd=spent, cost_source="agent") if spent else priced(whole)

    @property
    def sums(self) -> Usage:
        return Usage(cost_usd=self._cost, cost_source="agent") if self._cost else Usage()


def _tokens(told: Any) -> Usage:
    """Agents differ in whether cached tokens are a part of the input, and thoughts of the output; the total tells."""
    told = told if isinstance(told, dict) else {}
    given, made = (count(told.get(f"{kind}Tokens", told.get(f"{kind}_tokens"))) for kind in ("input", "output"))
    if given is None or made is None:
        return Usage()
    read, written, thought = (
        count(told.get(name)) or 0 for name in ("cachedReadTokens", "cachedWriteTokens", "thoughtTokens")
    )
    total = max(count(told.get("totalTokens")) or 0, given + made)
    if given + read + written + made + thought <= total:
        made += thought
    return Usage(input_tokens=total - made, cached_input_tokens=read or UNSET, output_tokens=made, total_tokens=total)

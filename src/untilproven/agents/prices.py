"""What tokens cost, for agents that do not say."""

from msgspec import UNSET
from msgspec.structs import replace

from untilproven.model.iteration import Usage


def priced(usage: Usage, provider: str | None = None, written: int = 0) -> Usage:
    """With its cost, if the model's prices are known. Unknown stays unknown. `written` of the input went into a
    cache."""
    if not usage.model or not usage.input_tokens or usage.output_tokens is UNSET:
        return usage
    import genai_prices  # noqa: PLC0415  it takes a quarter of a second to load

    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cache_read_tokens=usage.cached_input_tokens or None,
        cache_write_tokens=written or None,
    )
    try:
        cost = genai_prices.calc_price(counted, model_ref=usage.model, provider_id=provider).total_price
    except (LookupError, ValueError):  # unknown, or more from the cache than there was
        return usage
    return replace(usage, cost_usd=float(cost), cost_source="prices")

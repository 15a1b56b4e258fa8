"""Words of a helper by which what it asks is eased: it always passes, it accepts what is further away, or nothing calls
it by itself any more."""

import re

from untilproven.guard.lines import lines_of
from untilproven.guard.pairing import Placed

_ALWAYS = re.compile(r"\|\|\s*true\b|\bor True\b|\bpass\s*[:=]\s*true\b|\|\|\s*!0\b")
_FAR = re.compile(
    r"\b(\w*(?:tol|tolerance|delta|epsilon|eps|atol|rtol))\b[^=\n,()]*=\s*(\d+(?:\.\d+)?(?:e-?\d+)?)", re.IGNORECASE
)
_BY_ITSELF = re.compile(r"@(?:Before|After)(?:Each|All|Class|Method|Test)?\b|\bautouse\s*=\s*True\b")


def eased(before: Placed, after: Placed) -> str | None:
    """By what, if it is."""
    went, came = lines_of(before.text) - lines_of(after.text), lines_of(after.text) - lines_of(before.text)
    for line in came:
        if (found := _ALWAYS.search(line)) and not _ALWAYS.search(before.text):
            return found[0]
    was, now = (dict(_FAR.findall("\n".join(lines))) for lines in (went, came))
    for name, far in now.items():
        if name in was and float(far) > float(was[name]):
            return f"{name} = {far}"
    hooks = _BY_ITSELF.findall(before.text)
    if hooks and before.test.assertions and after.test.assertions and not _BY_ITSELF.search(after.text):
        return f"without {hooks[0]}"
    return None

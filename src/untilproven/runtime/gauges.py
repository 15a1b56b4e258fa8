"""What was measured, for as long as a process drives a loop."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # None of it is loaded before it is needed.
    from untilproven.checks.metrics.coverage import Coverage
    from untilproven.checks.metrics.instruments import Instrument
    from untilproven.checks.metrics.measuring import Measured
    from untilproven.checks.metrics.unmeasured import Unmeasured


class Gauges:
    def __init__(self) -> None:
        self.instruments: tuple[Instrument, ...] | None = None
        """The tools that the project used when the loop began; None if nobody has looked yet."""
        self.coverage: Coverage | Unmeasured | None = None
        """What the last run of the tests covered."""
        self.baseline: Measured | None = None
        self.now: Measured | None = None
        """The tree after the iteration under way."""

    def begin(self) -> None:
        """Another iteration: nothing is known of what it will leave."""
        self.coverage = self.now = None

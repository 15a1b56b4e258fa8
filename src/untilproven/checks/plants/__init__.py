"""Where a test must lie so that a runner finds it, and what it must say to fail."""

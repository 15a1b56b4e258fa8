"""Known test runners: which program a line ends in, and how each is asked for results per test."""

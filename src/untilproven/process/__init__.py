"""What is started: programs with all their descendants, so that every one can be found and ended."""

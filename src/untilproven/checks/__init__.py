"""Is it done? Completion checks, and what test runners report."""

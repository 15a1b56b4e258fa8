"""Type checkers and linters by language: when a project uses one, how it is asked, and how its answer is counted."""

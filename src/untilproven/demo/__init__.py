"""A small project with failing tests, and the script of an agent that does not do well at first: for `ralph demo`."""

"""Many tasks: where they come from, working on them one after the other or side by side, and learning from them."""

"""The built-in agent's own program: it talks to a model, acts for it in the room, and prints what it does."""

"""The loop inside an interactive session of an agent, and the plugins that bring it there."""

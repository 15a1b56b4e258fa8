"""What makes an agent's own program call `ralph hook`: the plugins, and how they are installed and taken out again."""

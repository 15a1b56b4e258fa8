"""Where other people keep their tasks: issues of GitHub and Beads, and Markdown lists; and how ours agree with them."""

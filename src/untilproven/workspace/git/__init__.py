"""Git on the host: what the runner itself does with the user's repository, and how little of it git is asked to do."""

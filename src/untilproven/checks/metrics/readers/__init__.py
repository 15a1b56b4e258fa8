"""What coverage tools write. A report may be written by the code under test: all of it is hostile."""

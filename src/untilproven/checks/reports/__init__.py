"""What test runners write about each test. A report may be written by the code under test: all of it is hostile."""

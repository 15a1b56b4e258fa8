"""What can be measured about a tree. What can not is said to be unmeasured, and why; it is never zero."""

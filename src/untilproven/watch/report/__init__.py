"""The report of a loop: numbers for programs, and the same as text and as one page with plots for people."""

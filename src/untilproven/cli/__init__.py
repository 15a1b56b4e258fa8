"""What a person types: one small file per verb; parse, call, render, exit code. No decisions."""

"""What happens next: pure functions over records. No IO, no clock, no randomness."""

"""What is remembered: journal, state, registry, locks, checkpoints, migration, archive."""

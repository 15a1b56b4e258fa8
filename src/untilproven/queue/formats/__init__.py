"""Other tools' queues: one small module for each format."""

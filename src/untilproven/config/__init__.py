"""What the user set: layers of settings with their origins, and which of them are trusted to run things."""

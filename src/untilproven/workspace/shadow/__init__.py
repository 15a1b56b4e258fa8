"""Where no room can be built: the agent works on the user's files, of which every byte is remembered before."""

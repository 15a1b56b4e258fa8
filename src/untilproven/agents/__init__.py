"""Who does the work: each agent runs one iteration in a room and tells what it does. None of them decides."""

"""Who looks on: the console, whoever follows or looks back at a loop, the machine's fitness."""

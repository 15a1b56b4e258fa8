"""Control of a loop from another terminal: a request in a file that outlives everybody, and a bell to be quick."""

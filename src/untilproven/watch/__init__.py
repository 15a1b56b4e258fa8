"""Who looks on: the machine's fitness now; live views and reports as they come."""

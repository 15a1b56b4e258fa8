"""`python -m untilproven`, without ever importing from the directory it is started in."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from untilproven.cli.main import main

main()

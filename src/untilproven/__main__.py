"""`python -m untilproven`. Nothing else is imported from the directory it is started in, but Python has chosen this
package before it could be asked; `python -P -m untilproven` and `ralph` leave it no choice."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]

from untilproven.cli.main import main

main()

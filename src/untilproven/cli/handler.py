"""The one place where whatever went wrong becomes an exit code."""

import os
import sys
from collections.abc import Callable

from untilproven.cli import output
from untilproven.errors import RalphError


def handled(argv: list[str], act: Callable[[], int]) -> int:
    """Do what was asked and return its exit code, whatever happens."""
    as_json = "--json" in argv
    try:
        code = act()
        sys.stdout.flush()
    except RalphError as error:
        output.error(error, as_json=as_json)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read our output has seen enough; Python must not complain about it on the way out.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001  what nobody foresaw becomes a report, not a traceback
        from untilproven.cli.report import internal_error  # noqa: PLC0415

        return internal_error(error, argv, as_json=as_json)
    return code

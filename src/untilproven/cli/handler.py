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
        _let_go_of_stdout()  # whoever read our output has seen enough
        return 0
    except OSError as error:
        if error.filename is not None:  # about a file, which the store should have explained
            return _internal(error, argv, as_json=as_json)
        _let_go_of_stdout()
        output.error(RalphError(f"cannot write the output: {error.strerror}"), as_json=False)
        return 1
    except Exception as error:  # noqa: BLE001  what nobody foresaw becomes a report, not a traceback
        return _internal(error, argv, as_json=as_json)
    return code


def _internal(error: Exception, argv: list[str], *, as_json: bool) -> int:
    from untilproven.cli.internal import internal_error  # noqa: PLC0415  seldom needed, one hopes

    return internal_error(error, argv, as_json=as_json)


def _let_go_of_stdout() -> None:
    """So that Python does not complain about what it could not write on the way out."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

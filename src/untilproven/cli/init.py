"""`ralph init`."""

import contextlib
import os
from pathlib import Path

import click

from untilproven.cli import here, output
from untilproven.config import sources
from untilproven.config.layers import load
from untilproven.errors import ConfigError, UsageError
from untilproven.store import files


@click.command("init", short_help="write a ralph.toml to start from")
@click.option("--from", "source", type=click.Path(path_type=Path), metavar="FILE", help="convert a JSON loop config")
@click.option("--force", is_flag=True, help="replace a ralph.toml; the old one is kept as ralph.toml.bak")
@click.option("--print", "to_stdout", is_flag=True, help="print it and write nothing")
def command(source: Path | None, *, force: bool, to_stdout: bool) -> None:
    """Write a ralph.toml in which every setting is explained and none is set, or convert one you have."""
    text = _text(source)
    if to_stdout:
        click.echo(text, nl=False)
        return
    root = here.project().root
    path = root / sources.PROJECT_FILE
    if source:
        _refuse_second_place(root)
    _write(path, text.encode(), force=force)
    output.note(f"wrote {path}; `ralph config --origin` shows what is in force")
    waiting = load(root).withheld
    if waiting:
        output.note(f"not in force until you say `ralph trust`: {', '.join(setting.key for setting in waiting)}")


def _text(source: Path | None) -> str:
    if source:
        from untilproven.config.convert import convert  # noqa: PLC0415  one of the two is enough

        return convert(source)
    from untilproven.config.starter import starter  # noqa: PLC0415  one of the two is enough

    return starter()


def _refuse_second_place(root: Path) -> None:
    """Settings in two files are an error ever after; better to say so before writing the second."""
    pyproject = sources.from_pyproject(root)
    if pyproject and pyproject.found:
        raise ConfigError(f"there are settings in {pyproject.path} already", hint="move them into ralph.toml first")


def _write(path: Path, data: bytes, *, force: bool) -> None:
    files.refuse_link(path)
    if force:
        files.replace(path, data, durable=False, keep_previous=True)
        return
    with files.explained(path):
        try:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            raise UsageError(f"{path} exists", hint="to replace it: ralph init --force") from None
        try:
            files.write_all(fd, data)
        except OSError:
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        finally:
            os.close(fd)

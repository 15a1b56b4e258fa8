"""`ralph schema NAME`."""

import click

from untilproven.cli import output
from untilproven.config.schema import json_schema
from untilproven.model import schema


@click.command("schema", short_help="print the JSON Schema of a file or event")
@click.argument("name", type=click.Choice([*schema.names(), "config"]))
def command(name: str) -> None:
    """Print the JSON Schema (2020-12) of NAME: what untilproven writes, and what it accepts as settings."""
    output.emit_json(json_schema() if name == "config" else schema.schema(name))

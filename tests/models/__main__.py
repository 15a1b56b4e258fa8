"""The scripted model server on its own: `python -m models SCRIPT [--port N] [--log FILE]`, until it is interrupted."""

import argparse
import contextlib
import signal
from pathlib import Path

from models import script
from models.server import ModelServer

parser = argparse.ArgumentParser(prog="python -m models", description="Serve a scripted model on loopback.")
parser.add_argument("script", type=Path, help="TOML or JSON: a list of turns for each conversation")
parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
parser.add_argument("--log", type=Path, help="append every request to this file, one JSON object per line")
given = parser.parse_args()
conversations = script.load(given.script)
signal.signal(signal.SIGTERM, signal.default_int_handler)
with ModelServer(conversations, port=given.port, log=given.log) as server:
    for name in conversations:
        print(name, server.url(name), flush=True)  # noqa: T201
    with contextlib.suppress(KeyboardInterrupt):
        signal.pause()

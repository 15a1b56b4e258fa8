"""A model behind HTTP that says what a script says, in the wire format of whoever asks, and remembers every request."""

import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from models.listening import Listener
from models.play import Play
from models.script import Script


class ModelServer(Play):
    """Serves each conversation of a script below its own address, on loopback."""

    def __init__(self, script: Script, *, port: int = 0, log: Path | None = None) -> None:
        super().__init__(script, log)
        self._listener = Listener(port, self)
        self._thread = threading.Thread(target=self._listener.serve_forever, kwargs={"poll_interval": 0.05})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.end()
        self._thread.join()
        if self._listener.broken and error is None:
            raise AssertionError("the model server failed:\n" + "\n".join(self._listener.broken))

    def url(self, conversation: str) -> str:
        return f"http://127.0.0.1:{self._listener.server_address[1]}/{conversation}"

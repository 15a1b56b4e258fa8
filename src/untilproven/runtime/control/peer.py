"""Who is at the other end of a socket, as the kernel knows it."""

import os
import socket
import struct
from pathlib import Path

_CREDENTIALS = struct.Struct("3i")


def is_same_user(connection: socket.socket) -> bool:
    return _credentials(connection)[1] == os.geteuid()


def is_one_of_us(connection: socket.socket) -> bool:
    """The same user, and not from a room: an agent may carry the user's id, but it sees other processes than we do."""
    pid, user = _credentials(connection)
    if pid <= 0 or user != os.geteuid():
        return False
    try:
        return Path(f"/proc/{pid}/ns/pid").readlink() == Path("/proc/self/ns/pid").readlink()
    except OSError:
        return False


def _credentials(connection: socket.socket) -> tuple[int, int]:
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid, user, _ = _CREDENTIALS.unpack(data)
    return pid, user

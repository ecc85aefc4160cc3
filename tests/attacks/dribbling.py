"""Many senders that send without end, in small pieces, from one thread."""

import select
import socket
import time
from dataclasses import dataclass


@dataclass
class Sent:
    answer: bytes = b""
    bytes: int = 0
    seconds: float = None  # until the peer ended the connection; None: it never did


def send_for_ever(address, senders, first, piece, seconds, every=0.0):
    """Each sender sends `first`, then `piece` again and again, `every` so many seconds, until the peer ends it or `seconds`
    are over. @return a Sent for each"""
    began = time.monotonic()
    open_ = {socket.create_connection(address, timeout=10): Sent() for _ in range(senders)}
    results = list(open_.values())
    for connection in open_:
        connection.sendall(first)
        connection.setblocking(False)
    while open_ and time.monotonic() - began < seconds:
        readable, _, _ = select.select(list(open_), [], [], every)
        for connection, sent in list(open_.items()):
            try:
                sent.bytes += connection.send(piece)
                ended = False
            except BlockingIOError:
                ended = False
            except OSError:
                ended = True
            if connection in readable or ended:
                ended = not _read(connection, sent) or ended
            if ended:
                sent.seconds = time.monotonic() - began
                connection.close()
                del open_[connection]
    for connection in open_:
        connection.close()
    return results


def _read(connection, sent):
    """@return whether the connection is still open"""
    try:
        while came := connection.recv(65536):
            sent.answer += came
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False

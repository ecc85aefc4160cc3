"""Many senders that send without end, in small pieces, from one thread; and an upstream that does what a test wants."""

from dataclasses import dataclass

from upstream import Listener
from world import select, socket, threading, time


@dataclass
class Sent:
    answer: bytes = b""
    bytes: int = 0
    seconds: float = None  # until the peer ended the connection; None: it never did


def send_for_ever(address, senders, first, piece, seconds, every=0.0):
    """Each sender sends `first`, then `piece` again and again, every so many seconds, until the peer has closed the
    connection or `seconds` are over. That the peer sends no more does not stop it. @return a Sent for each"""
    began = time.monotonic()
    open_ = {socket.create_connection(address, timeout=10): Sent() for _ in range(senders)}
    results = list(open_.values())
    for connection in open_:
        connection.sendall(first)
        connection.setblocking(False)
    listening = set(open_)
    while open_ and time.monotonic() - began < seconds:
        readable, _, _ = select.select(list(listening), [], [], every)  # with nobody to hear, a pause
        for connection in readable:
            if not _read(connection, open_[connection]):
                listening.discard(connection)
        for connection, sent in list(open_.items()):
            try:
                sent.bytes += connection.send(piece)
            except BlockingIOError:
                pass
            except OSError:
                sent.seconds = time.monotonic() - began
                connection.close()
                listening.discard(connection)
                del open_[connection]
    for connection in open_:
        connection.close()
    return results


def _read(connection, sent):
    """@return whether there may be more"""
    try:
        while came := connection.recv(65536):
            sent.answer += came
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False


class HostileUpstream(Listener):
    """Calls `script(upstream, connection)` in a thread for each connection, after its request's header has come. The
    connection is closed when the script returns; stop() ends all."""

    def __init__(self, script, receive_buffer=None):
        self._script = script
        self._stopped = threading.Event()
        super().__init__(receive_buffer=receive_buffer)

    def stop(self):
        self._stopped.set()
        super().stop()

    def again(self, seconds):
        """Waits so long. @return whether to go on"""
        return not self._stopped.wait(seconds)

    def serve(self, connection, _):
        header = b""
        while b"\r\n\r\n" not in header:
            came = connection.recv(4096)
            if not came:
                return
            header += came
        self._script(self, connection)

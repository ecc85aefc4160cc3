"""An upstream that takes a request and then does with the connection what the test wants."""

from upstream import Listener
from world import threading


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

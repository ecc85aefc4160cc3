"""An upstream that takes a request and then does with the connection what the test wants."""

from world import socket, threading


class HostileUpstream:
    """Calls `script(connection)` in a thread for each connection, after its request's header has come (`reads`: and the
    rest of it goes on being read). The connection is closed when the script returns; stop() ends all."""

    def __init__(self, script, receive_buffer=None):
        self._script = script
        self._stopped = threading.Event()
        self._connections = []
        self._listener = socket.socket()
        if receive_buffer:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._listener.bind(("127.0.0.1", 0))
        self._listener.listen(128)
        self.url = "http://127.0.0.1:%d/api/v1/write" % self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._stopped.set()
        for each in [self._listener, *self._connections]:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            each.close()

    def again(self, seconds):
        """Waits so long. @return whether to go on"""
        return not self._stopped.wait(seconds)

    def _accept(self):
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._connections.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            header = b""
            while b"\r\n\r\n" not in header:
                came = connection.recv(4096)
                if not came:
                    return
                header += came
            self._script(self, connection)
        except OSError:
            pass  # the gate has ended it, or stop() has
        finally:
            connection.close()

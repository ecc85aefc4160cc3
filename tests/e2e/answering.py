"""An HTTP server that answers GET as a test tells it: something to scrape, or one that is not what it says."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from world import threading


class Answering(ThreadingHTTPServer):
    """`answer(path)`: the bytes of an answer, the query left out. `asked`: so many have been answered."""

    def __init__(self, answer, status=200, headers=()):
        self.asked = 0

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                text = answer(self.path.split("?")[0])
                self.send_response(status)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(text)))
                for name, value in headers:
                    self.send_header(name, value)
                self.end_headers()
                try:
                    self.wfile.write(text)
                except OSError:
                    pass  # too much for who asks
                self.server.asked += 1

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self):
        self.shutdown()
        self.server_close()


@pytest.fixture
def impostor(keep):
    """impostor(answer, status=200, headers=()): the URL of a server that answers so, whatever it is asked."""
    return lambda answer, *how, **more: keep(Answering(lambda _: answer, *how, **more)).url

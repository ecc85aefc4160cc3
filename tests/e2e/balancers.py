"""HAProxy and nginx as deploy/ has them, before gates of the test: the same files but for ports, certificate and users."""

import os
import shutil
import ssl
import subprocess
import tempfile

from certificates import Authority
from client import WRITE, Client
import servers
from gate import REPOSITORY
from waiting import eventually

KINDS = ("haproxy", "nginx")
DEPLOY = REPOSITORY / "deploy"


class Balancer:
    """Runs a file of deploy/ until stop(). `edits`: (old, new) texts; every old one has to be there. `name`: the file's, if it is
    not the kind's own."""

    def __init__(self, kind, ports, folder, edits=(), name=None):
        self.kind, self.folder = kind, folder
        self.file = folder / (name or {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}[kind])
        self._authority = Authority(tempfile.mkdtemp(dir=folder))
        self.ca_file, self._issued = self._authority.certificate, self._authority.issue("127.0.0.1", "localhost")
        self._log_path = folder / f"{kind}.log"
        self._edits = [*edits, *((f"10.0.0.1{n}:9201", f"127.0.0.1:{port}") for n, port in enumerate(ports, 1))]
        for _ in range(5):  # another process may take the free port first
            try:
                self._start(servers.free_port())
                return
            except ChildProcessError:
                continue
        raise AssertionError(f"{kind} does not start:\n{self.log}")

    def _start(self, port):
        self.port = port
        self.url = f"https://127.0.0.1:{port}"
        its_own = self._haproxy_edits() if self.kind == "haproxy" else self._nginx_edits()
        self.file.write_text(edited((DEPLOY / self.file.name).read_text(), [*self._edits, *its_own]))
        arguments = ["-db", "-f", self.file] if self.kind == "haproxy" else ["-c", self.file, "-g", "daemon off;"]
        with open(self._log_path, "wb") as log:
            self.process = subprocess.Popen([program(self.kind), *arguments], stdout=log, stderr=log)
        eventually(self._listens, f"{self.kind} listens", 20)

    def client(self, source=None, timeout=60.0):
        return Client(("127.0.0.1", self.port), timeout, ssl.create_default_context(cafile=self.ca_file), source)

    def send(self, body, headers=(), path=WRITE, source=None):
        """One write on a connection of its own."""
        with self.client(source) as sender:
            return sender.write(body, headers, path)

    @property
    def log(self):
        return self._log_path.read_text(errors="replace")

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _listens(self):
        if self.process.poll() is not None:
            raise ChildProcessError
        try:
            with self.client() as sender:
                return sender.get("/nothing").status == 404
        except OSError:
            return False

    def _haproxy_edits(self):
        both = self.folder / "seriesgate.pem"
        both.write_bytes(self._issued.certificate.read_bytes() + self._issued.key.read_bytes())
        return [("bind :8443", f"bind 127.0.0.1:{self.port}"), ("    user haproxy\n    group haproxy\n", ""),
                ("maxconn 8000", "maxconn 400"), ("/etc/haproxy/certs/seriesgate.pem", str(both))]

    def _nginx_edits(self):
        as_root = "user root;\n" if os.getuid() == 0 else ""
        temporary = "".join(f"{what}_temp_path {self.folder}/{what};\n"
                            for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return [("listen 8443", f"listen 127.0.0.1:{self.port}"), ("user www-data;\n", as_root),
                ("/run/nginx.pid", f"{self.folder}/pid"),
                ("/var/log/nginx/error.log", "stderr"), ("access_log off;", f"access_log off;\n{temporary}"),
                ("/etc/nginx/certs/seriesgate.crt", str(self._issued.certificate)),
                ("/etc/nginx/certs/seriesgate.key", str(self._issued.key))]


def program(name):
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    assert found, f"no {name}: run scripts/install-deps.sh --test"
    return found


def edited(text, edits):
    for old, new in edits:
        assert old in text or old.startswith("10.0.0."), old  # a test may take a gate out
        text = text.replace(old, new)
    return text

"""HAProxy and nginx as deploy/ has them, before gates of the test: the same files but for ports, certificate and users."""

import http.client
import os
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from client import WRITE, Client
import servers
from gate import REPOSITORY
from waiting import eventually

KINDS = ("haproxy", "nginx")
DEPLOY = REPOSITORY / "deploy"


@dataclass
class Certificate:
    """One that we have made ourselves, for 127.0.0.1."""
    certificate: Path
    key: Path
    both: Path


def make_certificate(folder):
    made = Certificate(folder / "seriesgate.crt", folder / "seriesgate.key", folder / "seriesgate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                    "-keyout", made.key, "-out", made.certificate], check=True, capture_output=True)
    made.both.write_bytes(made.certificate.read_bytes() + made.key.read_bytes())
    return made


class Balancer:
    """Runs a file of deploy/ until stop(). `edits`: (old, new) texts; every old one has to be there. `name`: the file's, if it is
    not the kind's own."""

    def __init__(self, kind, ports, folder, edits=(), name=None):
        self.kind, self.folder = kind, folder
        self.file = folder / (name or {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}[kind])
        self.certificate = make_certificate(folder)
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
        return SecureClient(("127.0.0.1", self.port), self.certificate.certificate, source, timeout)

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
        return [("bind :8443", f"bind 127.0.0.1:{self.port}"), ("    user haproxy\n    group haproxy\n", ""),
                ("maxconn 8000", "maxconn 400"),
                ("/etc/haproxy/certs/seriesgate.pem", str(self.certificate.both))]

    def _nginx_edits(self):
        as_root = "user root;\n" if os.getuid() == 0 else ""
        temporary = "".join(f"{what}_temp_path {self.folder}/{what};\n"
                            for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return [("listen 8443", f"listen 127.0.0.1:{self.port}"), ("user www-data;\n", as_root),
                ("/run/nginx.pid", f"{self.folder}/pid"),
                ("/var/log/nginx/error.log", "stderr"), ("access_log off;", f"access_log off;\n{temporary}"),
                ("/etc/nginx/certs/seriesgate.crt", str(self.certificate.certificate)),
                ("/etc/nginx/certs/seriesgate.key", str(self.certificate.key))]


class SecureClient(Client):
    """One keep-alive connection with TLS, to somebody who has that certificate."""

    def __init__(self, address, certificate, source=None, timeout=60.0):
        super().__init__(address, timeout)
        self._connection = http.client.HTTPSConnection(
            *address, timeout=timeout, context=ssl.create_default_context(cafile=certificate),
            source_address=source and (source, 0))


def program(name):
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    assert found, f"no {name}: run scripts/install-deps.sh --test"
    return found


def edited(text, edits):
    for old, new in edits:
        assert old in text or old.startswith("10.0.0."), old  # a test may take a gate out
        text = text.replace(old, new)
    return text

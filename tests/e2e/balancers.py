"""HAProxy and nginx by files of a test, or as deploy/ has them: the same files but for ports, certificate and users."""

import os
import shutil
import ssl
import tempfile

import servers
from certificates import Authority
from client import WRITE, Client, connect
from gate import REPOSITORY

KINDS = ("haproxy", "nginx")
DEPLOY = REPOSITORY / "deploy"
AS_ROOT = "user root;\n" if os.getuid() == 0 else ""  # of nginx


def temporary(folder):
    """Where nginx keeps what it has to keep."""
    return "".join(f"{what}_temp_path {folder}/{what};\n" for what in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))


class Proxy(servers.Server):
    """HAProxy or nginx by a file of `folder`, whose text `text_for` makes for the port that it has to listen at."""

    def __init__(self, kind, folder, file, text_for, **how):
        def flags_for(port):
            (folder / file).write_text(text_for(port))
            return ["-db", "-f", folder / file] if kind == "haproxy" else ["-c", folder / file, "-g", "daemon off;"]

        super().__init__(program(kind), flags_for, folder, None, **how)

    def answers(self, _):
        with connect(("127.0.0.1", self.port)):
            return True


class Balancer(Proxy):
    """Runs a file of deploy/ until stop(). `edits`: (old, new) texts; every old one has to be there. `name`: the file's, if it is
    not the kind's own."""

    def __init__(self, kind, ports, folder, edits=(), name=None):
        authority = Authority(tempfile.mkdtemp(dir=folder))
        self.ca_file, self._issued, self.folder = authority.certificate, authority.issue("127.0.0.1", "localhost"), folder
        edits = [*edits, *((f"10.0.0.1{n}:9201", f"127.0.0.1:{port}") for n, port in enumerate(ports, 1))]
        file = name or {"haproxy": "haproxy.cfg", "nginx": "nginx.conf"}[kind]
        its_own = self._haproxy_edits if kind == "haproxy" else self._nginx_edits
        super().__init__(kind, folder, file, lambda port: edited((DEPLOY / file).read_text(), [*edits, *its_own(port)]),
                         secured=(ssl.create_default_context(cafile=self.ca_file), None))

    def client(self, source=None, timeout=60.0):
        return Client(("127.0.0.1", self.port), timeout, ssl.create_default_context(cafile=self.ca_file), source)

    def send(self, body, headers=(), path=WRITE, source=None):
        """One write on a connection of its own."""
        with self.client(source) as sender:
            return sender.write(body, headers, path)

    def answers(self, _):
        with self.client() as sender:
            return sender.get("/nothing").status == 404

    def _haproxy_edits(self, port):
        both = self.folder / "seriesgate.pem"
        both.write_bytes(self._issued.certificate.read_bytes() + self._issued.key.read_bytes())
        return [("bind :8443", f"bind 127.0.0.1:{port}"), ("    user haproxy\n    group haproxy\n", ""),
                ("maxconn 8000", "maxconn 400"), ("/etc/haproxy/certs/seriesgate.pem", str(both))]

    def _nginx_edits(self, port):
        return [("listen 8443", f"listen 127.0.0.1:{port}"), ("user www-data;\n", AS_ROOT),
                ("/run/nginx.pid", f"{self.folder}/pid"),
                ("/var/log/nginx/error.log", "stderr"), ("access_log off;", f"access_log off;\n{temporary(self.folder)}"),
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

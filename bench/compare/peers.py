"""The store, and what stands before it in turn: vmagent, nginx, the gate. All with the defaults of their makers, but
for what the comparison is about (the limits) and what would make it unfair to them; where, is said below."""

import getpass
import grp
import json
import os
import subprocess
import time

from processes import Failed, Group, connect, free_port, get


# Files of its own instead of Debian's; connections that are never closed for having served enough.
_NGINX = """
daemon off;
pid {folder}/pid;
{user}
worker_processes {workers};
error_log stderr warn;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    # Its default of 16k would write every body into a file first.
    client_body_buffer_size 256k;
    client_max_body_size 32m;
    {rest}
}}
"""

# `return 204` alone would answer before the body has arrived, upon which a proxy closes the connection. The mirror
# makes it wait for the body; then stub_status answers 405 to a POST, which becomes 204.
_STORE = """
    map $http_x_prometheus_remote_write_version $samples_written { "2.0.0" 2000; }
    map $http_x_prometheus_remote_write_version $others_written { "2.0.0" 0; }
    server {
        listen 127.0.0.1:%(port)d;
        location = /api/v1/write {
            mirror /read;
            stub_status;
            error_page 405 =204 /written;
        }
        location = /read { internal; return 204; }
        location = /written {
            internal;
            add_header X-Prometheus-Remote-Write-Samples-Written $samples_written;
            add_header X-Prometheus-Remote-Write-Histograms-Written $others_written;
            add_header X-Prometheus-Remote-Write-Exemplars-Written $others_written;
            return 204;
        }
        location = /status { stub_status; }
    }
"""

_PROXY = """
    upstream store {
        %(servers)s
        keepalive 64;
        keepalive_requests 1000000000;
    }
    server {
        listen 127.0.0.1:%(port)d %(ssl)s reuseport; # else one worker may get all connections
        %(certificate)s
        location / {
            proxy_pass http://store;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }
    }
"""


def _start_nginx(binary, folder, name, workers, rest):
    folder.mkdir()
    user = ""
    if os.geteuid() == 0:  # or its workers become a user who cannot read our folder
        user = f"user {getpass.getuser()} {grp.getgrgid(os.getegid()).gr_name};"
    configuration = folder / "nginx.conf"
    configuration.write_text(_NGINX.format(folder=folder, user=user, workers=workers, rest=rest))
    return Group(name, [binary, "-p", folder, "-c", configuration, "-e", "stderr"], folder / "log")


def _servers(ports):
    return "\n".join(f"server 127.0.0.1:{port};" for port in ports)


def start_balancer(binary, folder, port, ports):
    """An nginx that goes round several."""
    group = _start_nginx(binary, folder, "the balancer", 1, _PROXY % {
        "port": port, "servers": _servers(ports), "ssl": "", "certificate": ""})
    group.wait_ready(port)
    return group


class Store:
    """What all of them write to: takes the body and answers 204."""

    def __init__(self, programs, folder):
        self.port = free_port()
        self.group = _start_nginx(programs.nginx, folder, "the store", 1, _STORE % {"port": self.port})
        self.group.wait_ready(self.port, "/status")

    def served(self):
        """@return connections and requests so far"""
        connections, _, requests = get(self.port, "/status")[1].splitlines()[2].split()
        return int(connections), int(requests)


class Certificate:
    """Of a key on P-256, the cheapest for all of them; nobody looks at who signed it."""

    def __init__(self, folder):
        self.chain, self.key = folder / "tls.crt", folder / "tls.key"
        made = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                               "-nodes", "-days", "2", "-subj", "/CN=compare", "-out", self.chain,
                               "-keyout", self.key], capture_output=True, text=True)
        if made.returncode:
            raise Failed(f"openssl makes no certificate:\n{made.stderr}")


class Peer:
    """A running proxy. @param limit of series, for the hour and the day; @param certificate for TLS, or nothing"""

    protocols = ("v1", "v2")

    def __init__(self, programs, folder, store, limit, certificate):
        self.port, self.scheme = free_port(), "https" if certificate else "http"
        self.group = self._start(programs, folder, store.port, limit, certificate)
        self.group.wait_ready(self.port, self.ready_path, scheme=self.scheme)

    def take(self, bodies, headers):
        """Sends it bodies, one after the other in their order: its warm-up."""
        connection = connect(self.port, self.scheme)
        for body in bodies:
            connection.request("POST", "/api/v1/write", body, headers)
            answer = connection.getresponse()
            text = answer.read().decode(errors="replace").strip()
            if answer.status // 100 != 2:
                raise Failed(f"{self.group.name} answered {answer.status} to its warm-up: {text}")
        connection.close()

    def wait_idle(self):
        """Until what it has taken is in the store, the requests too that the load left behind when it ended."""
        self._wait_quiet(2)

    def _wait_quiet(self, times, is_done=lambda: True):
        """Until it has nothing to do, so many times in a row."""
        quiet, before, deadline = 0, self.group.cpu_ns(), time.monotonic() + 120
        while quiet < times or not is_done():
            if time.monotonic() > deadline:
                raise Failed(f"{self.group.name} does not come to an end with its requests")
            time.sleep(0.25)
            now = self.group.cpu_ns()
            quiet = quiet + 1 if now - before <= 10_000_000 else 0
            before = now

    def counts(self):
        """@return samples taken, samples refused; nothing if it does not count them"""
        return None

    def stop(self):
        self.group.stop()


class Gate(Peer):
    ready_path = "/-/ready"
    further = ""  # of its configuration
    environment = None

    def _start(self, programs, folder, store, limit, certificate):
        folder.mkdir(exist_ok=True)
        configuration = folder / "seriesgate.yaml"
        configuration.write_text(f"listen: 127.0.0.1:{self.port}\n"
                                 f"upstream: {{url: 'http://127.0.0.1:{store}/api/v1/write'}}\n"
                                 f"maxHourlySeries: {limit}\nmaxDailySeries: {limit}\n{self.further}")
        command = [programs.gate, f"--config.file={configuration}"]
        if certificate:
            web = folder / "web.yml"
            web.write_text(f"tls_server_config: {{cert_file: {certificate.chain}, key_file: {certificate.key}}}\n")
            command.append(f"--web.config.file={web}")
        return Group("seriesgate", command, folder / "log", self.environment)

    def counts(self):
        samples = json.loads(get(self.port, "/stats", self.scheme)[1])["samples"]
        return samples["received"], samples["refused"]


def start_redis(folder, port, environment=None):
    """What gates of a fleet count by. It keeps nothing."""
    program = os.environ.get("SERIESGATE_REDIS_SERVER") or "redis-server"
    group = Group("redis-server", [program, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", folder],
                  folder / "redis.log", environment)
    group.wait_ready(port)
    return group


class FleetGate(Gate):
    """The same in a fleet: its limits are counted by a Redis on loopback, which is not counted here. @param redis_port of one
    that is there; without it the gate is its only one, and brings it along. @param environment of the gate, as for its clock"""

    def __init__(self, programs, folder, store, limit, certificate, redis_port=None, environment=None):
        self._redis_port, self._redis, self.environment = redis_port, None, environment
        super().__init__(programs, folder, store, limit, certificate)

    def _start(self, programs, folder, store, limit, certificate):
        folder.mkdir()
        (folder / "secret").write_bytes(bytes(range(32)))
        if not self._redis_port:
            self._redis_port = free_port()
            self._redis = start_redis(folder, self._redis_port)
        self.further = (f"fingerprint: {{secretFile: {folder}/secret}}\n"
                        f"shared: {{url: 'redis://127.0.0.1:{self._redis_port}', onUnavailable: refuse}}\n")
        return super()._start(programs, folder, store, limit, certificate)

    def stop(self):
        super().stop()
        if self._redis:
            self._redis.stop()


class Nginx(Peer):
    ready_path = None

    def _start(self, programs, folder, store, limit, certificate):
        # As many workers as the others have threads; Debian's nginx.conf says so, too.
        ssl = f"ssl_certificate {certificate.chain}; ssl_certificate_key {certificate.key};" if certificate else ""
        return _start_nginx(programs.nginx, folder, "nginx", "auto", _PROXY % {
            "port": self.port, "servers": _servers([store]), "ssl": "ssl" if certificate else "", "certificate": ssl})


class Vmagent(Peer):
    ready_path = "/health"
    protocols = ("v1",)  # vmagent has no remote write 2 yet

    def _start(self, programs, folder, store, limit, certificate):
        folder.mkdir()
        return Group("vmagent", [
            programs.vmagent, f"-httpListenAddr=127.0.0.1:{self.port}",
            f"-remoteWrite.url=http://127.0.0.1:{store}/api/v1/write", f"-remoteWrite.tmpDataPath={folder}/queue",
            f"-remoteWrite.maxHourlySeries={limit}", f"-remoteWrite.maxDailySeries={limit}",
            *(["-tls", f"-tlsCertFile={certificate.chain}", f"-tlsKeyFile={certificate.key}"] if certificate else []),
        ], folder / "log")

    def wait_idle(self):
        """It answers first and sends later, the rest of a block after a second without new samples."""
        self._wait_quiet(6, lambda: not self._metrics("vmagent_remotewrite_pending_data_bytes"))

    def counts(self):
        return (self._metrics("vmagent_rows_inserted_total"),
                self._metrics("vmagent_hourly_series_limit_rows_dropped_total"))

    def _metrics(self, name):
        """The sum of one metric of its own /metrics."""
        lines = get(self.port, "/metrics", self.scheme)[1].splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name)


PEERS = {"vmagent": Vmagent, "nginx": Nginx, "gate": Gate, "fleet": FleetGate}

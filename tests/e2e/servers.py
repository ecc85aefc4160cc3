"""Real servers from the Debian packages that scripts/fetch-servers.sh unpacks: not installed, on free ports."""

import base64
import contextlib
import itertools
import json
import math
import os
import random
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path

import client
from gate import REPOSITORY
from waiting import eventually

FOLDER = Path(os.environ.get("SERIESGATE_SERVERS", REPOSITORY / "build/servers/usr/bin")).resolve()
NEWEST = REPOSITORY / "build/servers/newest/usr/bin"


def binary(name, newest=False):
    path = (NEWEST if newest else FOLDER) / name
    assert path.exists(), f"no {path}: run scripts/fetch-servers.sh{' newest' if newest else ', or set SERIESGATE_SERVERS'}"
    return path


def check_metrics(text):
    """`promtool check metrics` has nothing to say about it."""
    result = subprocess.run([binary("promtool"), "check", "metrics"], input=text, capture_output=True, timeout=30)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"", b"")


class Server:
    """A process with an HTTP port; __init__ returns when `ready_path` answers 200. `name`: of a program below FOLDER, or its path.

    `secured`: how it is spoken with if it speaks TLS and wants a password: (ssl.SSLContext, "user:password").
    `newest`: that of Debian unstable.
    """

    def __init__(self, name, flags_for, folder, ready_path, secured=None, newest=False):
        self.log_path = Path(folder) / f"{Path(name).name}.log"
        self._tls, self._credentials = secured or (None, None)
        for _ in range(5):  # another process may take the free port first
            self.port = free_port()
            self.url = f"{'https' if secured else 'http'}://127.0.0.1:{self.port}"
            with open(self.log_path, "wb") as log:
                self.process = subprocess.Popen([binary(name, newest), *flags_for(self.port)], stdout=log, stderr=log)
            try:
                eventually(lambda: self._ready(ready_path), f"{name} is ready", 30, every=0.05)
                return
            except ChildProcessError:
                continue
        raise AssertionError(f"{name} does not start:\n{self.log_path.read_text()}")

    def _ready(self, path):
        if self.process.poll() is not None:
            raise ChildProcessError
        try:
            return self.answers(path)
        except OSError:
            return False

    def answers(self, path):
        return self.get(path) is not None

    def get(self, path, **query):
        target = self.url + path + ("?" + urllib.parse.urlencode(query) if query else "")
        request = urllib.request.Request(target)
        if self._credentials:
            request.add_header("Authorization", "Basic " + base64.b64encode(self._credentials.encode()).decode())
        with urllib.request.urlopen(request, timeout=60, context=self._tls) as answer:
            return answer.read()

    def ask(self, promql, **further):
        """The instant query's answer: {labels as sorted pairs: value}."""
        answer = json.loads(self.get("/api/v1/query", query=promql, nocache=1, **further))
        assert answer["status"] == "success"
        return {tuple(sorted(each["metric"].items())): float(each["value"][1]) for each in answer["data"]["result"]}

    def write(self, *bodies):
        """Compressed requests, as a Prometheus sends them; what is in them can be asked for then."""
        for body in bodies:
            reply = client.send(("127.0.0.1", self.port), body)
            assert reply.status == 204, reply

    def metric(self, name):
        """The sum of one metric of the server's own /metrics."""
        lines = self.get("/metrics").decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.split("{")[0].split(" ")[0] == name)

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def scraping(targets, write_url=None, write=""):
    """A configuration of Prometheus or vmagent, which scrapes each second, {job: "host:port"}, and writes soon. `write`: further
    lines of the remote write."""
    jobs = "".join(f"  - job_name: {job}\n    static_configs: [{{targets: ['{target}']}}]\n" for job, target in targets.items())
    writes = f"remote_write:\n  - url: {write_url}\n    queue_config: {{batch_send_deadline: 200ms}}\n{write}" if write_url else ""
    return f"global: {{scrape_interval: 1s}}\nscrape_configs:\n{jobs}{writes}"


class VictoriaMetrics(Server):
    def __init__(self, folder, *flags, secured=None):
        super().__init__("victoria-metrics", lambda port: [
            f"-storageDataPath={folder}/victoria-metrics", f"-httpListenAddr=127.0.0.1:{port}", "-retentionPeriod=1",
            "-search.latencyOffset=0s", "-maxLabelsPerTimeseries=100", "-memory.allowedBytes=268435456",
            *flags,
        ], folder, "/health", secured)
        self.write_url = f"{self.url}/api/v1/write"

    def ask(self, promql, **further):
        self.get("/internal/force_flush")
        return super().ask(promql, **further)

    def write(self, *bodies):
        super().write(*bodies)
        self.get("/internal/force_flush")

    def samples(self):
        """Everything stored: {labels as sorted pairs: {timestamp in ms: value}}."""
        self.get("/internal/force_flush")
        stored = {}
        everything = {"match[]": '{__name__!=""}', "start": 0, "end": int(time.time()) + 86_400}
        for line in self.get("/api/v1/export", **everything).splitlines():
            series = json.loads(line)
            labels = tuple(sorted((n.encode(), v.encode()) for n, v in series["metric"].items()))
            assert labels not in stored, f"{labels} twice"
            values = [math.nan if value is None else float(value) for value in series["values"]]
            stored[labels] = dict(zip(series["timestamps"], values, strict=True))
            assert len(stored[labels]) == len(values), f"{labels}: a timestamp twice"
        return stored


class Prometheus(Server):
    """`config`: the text of its configuration, or a function from its own port to that text."""

    def __init__(self, folder, config, *flags, secured=None, newest=False):
        self.folder, self.file = Path(folder), Path(folder) / "prometheus.yml"

        def flags_for(port):
            self.file.write_text(config(port) if callable(config) else config)
            return [f"--config.file={self.file}", f"--storage.tsdb.path={folder}/data",
                    f"--web.listen-address=127.0.0.1:{port}",
                    "--storage.remote.flush-deadline=5s",  # at its end, to a store that takes nothing
                    *flags]

        super().__init__("prometheus", flags_for, folder, "/-/ready", secured, newest)

    def dump(self):
        """What its database holds, read after it has ended: {labels as sorted pairs: {timestamp in ms: value}}."""
        assert self.process.poll() is not None
        # In the folder that `data` is in: newer ones also write there, whatever path they are given to read from.
        text = subprocess.run([binary("promtool"), "tsdb", "dump", "data"], cwd=self.folder, check=True,
                              capture_output=True, text=True, timeout=60).stdout
        stored = {}
        for line in text.splitlines():
            labels, value, timestamp = line.rsplit(" ", 2)
            stored.setdefault(_labels(labels), {})[int(timestamp)] = float(value)
        return stored


class PrometheusStore(Prometheus):
    """One that others write to."""

    def __init__(self, folder, *flags, **how):
        super().__init__(folder, "global: {}\n", "--web.enable-remote-write-receiver", *flags, **how)


class VmAgent(Server):
    """Scrapes itself and the gate every second, or what `config` says, and writes to the gate, or to `write_to`, the address
    before it."""

    def __init__(self, folder, gate, *flags, write_to=None, config=None, newest=False):
        self.file = Path(folder) / "vmagent.yml"

        def flags_for(port):
            own = scraping({"vmagent": f"127.0.0.1:{port}", "seriesgate": f"127.0.0.1:{gate.address[1]}"})
            self.file.write_text(config or own)
            return [f"-promscrape.config={self.file}", f"-httpListenAddr=127.0.0.1:{port}",
                    f"-remoteWrite.tmpDataPath={folder}/vmagent", f"-remoteWrite.url={write_to or gate.url}/api/v1/write",
                    "-remoteWrite.flushInterval=200ms", "-memory.allowedBytes=268435456", *flags]

        super().__init__("vmagent", flags_for, folder, "/health", newest=newest)


def start_sender(name, folder, gate, targets, queue="batch_send_deadline: 200ms", flags=()):
    """Prometheus or vmagent, or with "newest-" before that those of Debian unstable: it scrapes {job: an Answering}, and writes to
    the gate. `flags`: of vmagent."""
    newest, is_vmagent = name.startswith("newest-"), name.endswith("vmagent")
    text = scraping({job: f"127.0.0.1:{target.server_port}" for job, target in targets.items()},
                    None if is_vmagent else f"{gate.url}/api/v1/write").replace("batch_send_deadline: 200ms", queue)
    return VmAgent(folder, gate, *flags, config=text, newest=newest) if is_vmagent else Prometheus(folder, text, newest=newest)


def _labels(text):
    """{__name__="up", job="a"} as sorted pairs; the quoting is Go's, which JSON reads for all but exotic values."""
    pairs, at = [], 1
    decode = json.JSONDecoder().raw_decode
    while text[at] != "}":
        equals = text.index("=", at)
        value, end = decode(text, equals + 1)
        pairs.append((text[at:equals].encode(), value.encode()))
        at = end + 2 if text[end] == "," else end
    return tuple(sorted(pairs))


def on_its_old_port(start, failure=AssertionError):
    """What start() returns: it is called again while it fails, for the port may be a connection's for a moment."""
    for _ in range(10):
        try:
            return start()
        except failure as error:
            last = error
    raise AssertionError(f"it does not start again: {last}")


_NUMBERS = itertools.count(random.randrange(1000))


def free_port():
    """A port that nobody else takes while nobody listens there: each worker of pytest-xdist has a thousand of its own,
    below those that the system gives to whoever wants any."""
    first = 10_000 + int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 10 * 1000
    while True:
        port = first + next(_NUMBERS) % 1000
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port

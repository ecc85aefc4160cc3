"""Valkey and Redis for gates to share: started in a temporary folder, killed, made to wait, filled up.

Redis is the one that is installed (SERIESGATE_REDIS_SERVER: another); Valkey is what scripts/fetch-servers.sh has unpacked.
"""

import json
import os
import re
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

import servers
from fixtures import keep  # noqa: F401
from gate import REPOSITORY
from waiting import eventually

KINDS = ("redis", "valkey")
RULES = re.search(r"ACL SETUSER gate on >PASSWORD (.*)", (REPOSITORY / "docs/fleet.md").read_text())[1]


def program(kind):
    if kind == "valkey":
        return servers.binary("valkey-server")
    found = os.environ.get("SERIESGATE_REDIS_SERVER") or shutil.which("redis-server")
    assert found, "no redis-server: run scripts/install-deps.sh --test"
    return found


@dataclass
class User:
    """Who may do what docs/fleet.md says that gates need, and nothing else."""
    name: str = "gate"
    password: str = "word-of-gate"
    rules: tuple = tuple(RULES.replace("{shop}", "{default}").split())


ADMINISTRATOR = User("admin", "word-of-admin", ("~*", "&*", "+@all"))


class SharedStore:
    """One server; __init__ returns when it answers. Its data are lost with it, unless `kept`.

    `directives`: of its configuration, as ("maxmemory", "10mb"). `user`: the one whom it lets in, besides the test itself.
    `authority`: it speaks TLS, and believes certificates of this one. `at_path`: it listens at a unix socket. `clock`: a
    FakedClock that it goes by. `file`: the text of a configuration file, for a port.
    """

    def __init__(self, kind, folder, *directives, name="store", kept=False, user=None, authority=None, at_path=False,
                 clock=None, file=None):
        assert shutil.which("redis-cli"), "no redis-cli: run scripts/install-deps.sh --test"
        self.name, self.folder = name, Path(folder) / name
        self.folder.mkdir(parents=True)
        self.user, self.at_path = user, at_path
        self._program, self._file, self._clock = program(kind), file, clock
        self._directives = [*directives, ("save", ""), ("appendonly", "yes" if kept else "no"), ("appendfsync", "always")]
        self._authority = authority
        if user:
            self._password_file = self.folder / "password"
            self._password_file.write_text(f"{user.password}\n")
            self._directives += [("user", "default", "off"), *(("user", each.name, "on", f">{each.password}", *each.rules)
                                                               for each in (user, ADMINISTRATOR))]
        if authority:
            ours, self._for_gates = authority.issue("127.0.0.1"), authority.issue("gate.test")
            self._directives += [("tls-cert-file", ours.certificate), ("tls-key-file", ours.key),
                                 ("tls-ca-cert-file", authority.certificate), ("tls-auth-clients", "yes")]
        self.log_path = self.folder / "log"
        for _ in range(5):  # another process may take the free port first
            self.port = servers.free_port()
            try:
                self._start()
                return
            except ChildProcessError:
                continue
        raise AssertionError(f"{self.name} does not start:\n{self.log}")

    # --- talking to it

    @property
    def address(self):
        return str(self.folder / "socket") if self.at_path else ("127.0.0.1", self.port)

    def settings_of(self, _ordinal):
        """What the gate of that number needs to know: keys of `shared`."""
        scheme = "rediss" if self._authority else "redis"
        known = {"url": f"unix://{self.address}?db=0" if self.at_path else f"{scheme}://127.0.0.1:{self.port}/0"}
        if self.user:
            known |= {"username": self.user.name, "passwordFile": str(self._password_file)}
        if self._authority:
            known["tls"] = {"caFile": str(self._authority.certificate), "certFile": str(self._for_gates.certificate),
                            "keyFile": str(self._for_gates.key)}
        return known

    def call(self, *words, timeout=5.0):
        """A command, as one who may do everything. @return its answer, as JSON has it, and INFO as text. Raises OSError where that is an
        error, or none comes."""
        where = ["-s", self.address] if self.at_path else ["-p", str(self.port)]
        if self.user:
            where += ["--user", ADMINISTRATOR.name, "--pass", ADMINISTRATOR.password, "--no-auth-warning"]
        if self._authority:
            where += ["--tls", "--cacert", self._authority.certificate, "--cert", self._for_gates.certificate, "--key", self._for_gates.key]
        try:
            asked = subprocess.run(["redis-cli", "-e", "--json", *where, *map(str, words)], capture_output=True, text=True, timeout=timeout)
        except subprocess.TimeoutExpired as error:
            raise TimeoutError(f"{self.name} does not answer") from error
        if asked.returncode:
            raise OSError(asked.stdout + asked.stderr)
        return asked.stdout if "INFO" in words else json.loads(asked.stdout)

    def info(self, section):
        """{field: text} of INFO."""
        lines = self.call("INFO", section).splitlines()
        return dict(line.split(":", 1) for line in lines if ":" in line)

    def configure(self, directive, value):
        assert self.call("CONFIG", "SET", directive, value) == "OK"

    # --- its life

    @property
    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    @property
    def running(self):
        return self.process.poll() is None

    def kill(self):
        """SIGKILL, also while it stands still."""
        self.process.kill()
        self.process.wait()

    def restart(self):
        assert not self.running
        servers.on_its_old_port(self._start, ChildProcessError)

    def stand_still(self):
        """It keeps its connections and answers nothing, until go_on()."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """What it said is shown when the test has failed."""
        self.kill()
        print(f"--- {self.name}, port {self.port}\n{self.log}")

    def _start(self):
        where = [("unixsocket", self.address), ("port", 0)] if self.at_path else \
            [("port", 0), ("tls-port", self.port)] if self._authority else [("port", self.port)]
        options = [word for directive, *values in [("dir", self.folder), ("bind", "127.0.0.1"), *where, *self._directives]
                   for word in (f"--{directive}", *map(str, values))]
        if self._file:
            file = self.folder / "configuration"
            if not file.exists():  # it writes into it what is to outlive it
                file.write_text(self._file)
            options = [file, *options, "--sentinel"]
        environment = {**os.environ, **(self._clock.environment if self._clock else {})}
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([self._program, *options], stdout=log, stderr=log, env=environment)
        eventually(self._answers, f"{self.name} answers", 20)

    def _answers(self):
        if not self.running:
            raise ChildProcessError
        try:
            return self.call("PING") == "PONG"
        except OSError:
            return False


@pytest.fixture(params=KINDS)
def store_kind(request):
    return request.param


@pytest.fixture
def start_store(keep, store_kind, tmp_path):
    """start_store(*directives, **how): a SharedStore, stopped after the test."""
    return lambda *directives, **how: keep(SharedStore(store_kind, tmp_path, *directives, **how))

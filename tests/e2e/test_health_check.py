"""seriesgate --health-check URL: one question, an exit status, and a line when something is wrong."""

import pytest

from gate import run
from secure import Secured
from servers import free_port
from tables import check_rows
from upstream import Answer, Listener, Upstream
from web_files import ALICE_CHANGED, users
from world import time


def checked(*url, **how):
    """The one line on stderr; empty if all is well."""
    made = run("--health-check", *url, **how)
    assert made.stdout == ""
    assert made.returncode == (1 if made.stderr else 0), made
    line, end = made.stderr.split("\n") if made.stderr else ("", "")
    assert end == "" and (line.isprintable() or line == "")
    return line


def told(url, fault):
    return f"seriesgate: --health-check: {url}: {fault}"


@pytest.fixture
def server(keep):
    """server(answer): an HTTP server that answers so; its URL, without a path."""
    def start(answer):
        started = keep(Upstream())
        started.default = answer
        return started, started.url.removesuffix("/api/v1/write")

    return start


class Saying(Listener):
    """Answers every connection with the same, and leaves it open."""

    def __init__(self, text):
        self._text = text
        super().__init__()

    def serve(self, connection, _):
        connection.sendall(self._text)
        while connection.recv(4096):
            pass


@pytest.fixture
def says(keep):
    """says(bytes): the URL of a server that answers every connection with them, and leaves it open."""
    return lambda text: f"http://{keep(Saying(text)).host}/-/healthy"


# --- a gate

def test_a_gate_that_is_up_is_healthy_and_one_that_has_gone_is_not(start_gate):
    gate = start_gate("--upstream.url=discard:", listen=f"127.0.0.1:{free_port()}")  # one that nobody takes meanwhile
    for path in ("", "/-/healthy", "/-/ready", "/metrics", "/"):
        assert checked(gate.url + path) == ""
    assert checked(gate.url.replace("127.0.0.1", "localhost")) == ""
    assert checked(gate.url + "/nothing").startswith(told(gate.url + "/nothing", "answered 404"))
    host = gate.url.removeprefix("http://")
    url = gate.url
    gate.stop()
    assert checked(url) == told(url, f"connecting to {host}: Connection refused")


def test_one_that_is_not_ready_is_healthy(start_gate):
    gate = start_gate("--upstream.url=http://store.invalid:1/api/v1/write")
    assert checked(gate.url) == ""
    assert checked(gate.url + "/-/ready").startswith(told(gate.url + "/-/ready", "answered 503: "))


def test_ipv6_and_unix_sockets_are_asked_too(start_gate, tmp_path):
    path = tmp_path / "gate.sock"
    start_gate("--upstream.url=discard:", listen=f"unix:{path}")
    assert checked(f"unix:{path}") == ""
    assert checked(f"unix:{path}.not") == told(f"unix:{path}.not", f"connecting to unix:{path}.not: No such file or directory")
    gate = start_gate("--upstream.url=discard:", "--admin.listen=[::1]:0")
    assert checked(f"http://[::1]:{gate.admin_address[1]}") == ""


def test_a_certificate_is_not_looked_at_but_tls_has_to_be_spoken(start_gate, tmp_path):
    secured = Secured(tmp_path)
    gate = start_gate("--upstream.url=discard:", secured.web(), authority=secured.authority.certificate)
    assert checked(gate.url) == ""
    plain = gate.url.replace("https", "http")
    assert checked(plain).startswith(told(plain, ""))
    spoken = start_gate("--upstream.url=discard:").url.replace("http", "https")
    assert checked(spoken).startswith(told(spoken, "TLS with "))


def test_a_gate_that_wants_a_password_is_asked_at_a_path_that_needs_none(guarded):
    gate = guarded(users(ALICE_CHANGED) + "auth_excluded_paths: [/-/ready]\n")
    assert checked(gate.url + "/-/ready") == ""
    assert checked(gate.url).startswith(told(gate.url, "answered 401"))


# --- other servers

def test_only_2xx_is_well(server):
    def is_told(status, fault):
        body = b"it drains\nand more\n" if status == 503 else b""
        _, url = server(Answer(status=status, body=body, headers=[("Location", "http://127.0.0.1:1/")], close_after=True))
        assert checked(url) == (told(url, fault) if fault else "")

    faults = {200: "", 204: "", 299: "", 300: "answered 300", 307: "answered 307", 404: "answered 404",
              503: "answered 503: it drains"}
    check_rows({status: (status, fault) for status, fault in faults.items()}, is_told)


def test_it_asks_as_it_was_told_to(server):
    stub, url = server(Answer(status=200))
    assert checked(f"{url}/a/b?c=%20d&token=hunter2") == ""
    asked, = stub.requests
    assert (asked.method, asked.target, asked.body) == ("GET", "/a/b?c=%20d&token=hunter2", b"")
    assert asked.get("host") == stub.host
    assert asked.get("authorization") is None
    assert asked.get("user-agent").startswith("seriesgate-health-check/")
    stub.stop()
    line = checked(f"{url}/a/b?c=%20d&token=hunter2")
    assert line.startswith("seriesgate: --health-check: ") and "hunter2" not in line


def test_what_speaks_no_http_is_not_well(says):
    for text in (b"hello\r\n\r\n", b"\x00" * 100, b"HTTP/1.1 2000 OK\r\n\r\n", b"SSH-2.0-OpenSSH_9\r\n"):
        url = says(text)
        assert checked(url).startswith(told(url, "")), text


def test_it_waits_for_five_seconds_and_no_longer(says):
    def is_waited_for(text):
        url = says(text)
        began = time.monotonic()
        assert checked(url) == told(url, "no answer in time")
        took = time.monotonic() - began
        assert took > 4
        assert took < 12, f"{took:.2f} s"

    check_rows({"nothing": b"", "half a header": b"HTTP/1.1 200 OK\r\n",
                "half a body": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe"}, is_waited_for, at_once=3)


def test_what_it_cannot_ask_is_one_clear_line():
    """More of it: tests/process/health_check_test.cpp."""
    assert checked("gate.invalid") == (
        "seriesgate: --health-check: 'gate.invalid' is not a URL such as http://127.0.0.1:9201/-/healthy "
        "or unix:/run/seriesgate/gate.sock")
    assert checked("http://gate.invalid:1").startswith(told("http://gate.invalid:1", "gate.invalid does not resolve: "))

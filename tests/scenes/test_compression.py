"""vmagent's compression: zstd in, zstd out, limited like snappy."""

import pytest

import recorded
import wire
from client import WRITE
from zstd_frame import HEADERS, sized, unzstd, zstd


def send(gate, body, query=""):
    with gate.client() as client:
        return client.request("POST", WRITE + query, body, HEADERS)


@pytest.mark.parametrize("compress", [sized, zstd, lambda raw: zstd(raw[:100_000]) + sized(raw[100_000:])],
                         ids=["sized", "streamed", "two frames"])
def test_a_zstd_body_goes_through_byte_for_byte(gate, upstream, compress):
    raw = wire.unpack(recorded.bodies()[0])
    body = compress(raw)
    assert send(gate, body).status == 204
    assert upstream.bodies[-1] == body
    assert upstream.requests[-1].get("Content-Encoding") == "zstd"
    assert upstream.requests[-1].get("X-VictoriaMetrics-Remote-Write-Version") == "1"


def test_zstd_and_snappy_are_limited_alike(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=500", "--maxDailySeries=500")
    body = recorded.bodies()[0]
    with gate.client() as client:
        first = client.write(body)
    kept = wire.unpack(upstream.bodies[-1])
    again = send(gate, sized(wire.unpack(body)))
    assert again.refused == first.refused
    assert upstream.requests[-1].get("Content-Encoding") == "zstd"
    assert unzstd(upstream.bodies[-1]) == kept
    assert gate.current() == 500


@pytest.mark.parametrize("really, named", [("zstd", "snappy"), ("zstd", None), ("snappy", "zstd")])
def test_the_body_is_believed_and_not_its_header(start_gate, upstream, really, named):
    """A vmagent of 1.88 to 1.115 sends what lay in its queue under the header of today (VictoriaMetrics issues 5301, 5344)."""
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=1", "--maxDailySeries=1")
    pack = {"zstd": sized, "snappy": wire.pack}[really]
    opened = {"zstd": unzstd, "snappy": wire.unpack}[really]
    headers = [(name, value) for name, value in HEADERS if name != "Content-Encoding"]
    headers += [("Content-Encoding", named)] if named else []
    one, two = wire.sampled("up", job="a"), wire.sampled("up", job="b")
    with gate.client() as client:
        for body, kept in [(pack(one), one), (pack(one + two), one)]:
            assert client.request("POST", WRITE, body, headers).status == 204
            assert opened(upstream.bodies[-1]) == kept
            assert upstream.requests[-1].get("Content-Encoding") == really
    assert upstream.bodies[0] == pack(one)
    assert gate.stats["windows"]["hourly"]["refusedSeries"] == 1


def test_what_is_no_zstd_is_refused_and_counts_nothing(gate, upstream):
    whole = sized(wire.sampled("up", job="a"))
    for body, reason in [(b"\xff" * 9, "not a valid snappy block"), (b"", "empty body: not compressed"),
                         (whole[:-1], "not a valid zstd frame"), (whole + b"x", "not a valid zstd frame"),
                         (sized(b"\xff" * 100), "malformed protobuf")]:
        reply = send(gate, body)
        assert reply.status == 400
        assert reply.body.decode().startswith(reason), (body, reply.body)
    assert upstream.requests == []
    assert gate.current() == 0


def test_a_zstd_bomb_is_refused_before_it_goes_off(limited):
    gate = limited("server: {maxRequestBytes: 1MiB, maxDecodedBytes: 1MiB, maxInflightBytes: 4MiB}\n")
    zeros = bytes(64 << 20)
    for bomb, size in ((sized(zeros), "67108864 bytes"), (zstd(zeros), "it goes on")):
        assert len(bomb) < 10_000
        for headers in (HEADERS, recorded.HEADERS):  # named as what it is, and as snappy
            with gate.client() as client:
                reply = client.request("POST", WRITE, bomb, headers)
            assert (reply.status, reply.first_line) == \
                (400, f"decompresses to more than server.maxDecodedBytes: {size}, at most 1048576 bytes")


def test_the_meter_reads_zstd(start_gate):
    gate = start_gate("--upstream.url=discard:")
    reply = send(gate, b"", "?get_vm_proto_version=1")
    assert (reply.status, reply.body) == (200, b"1")
    assert send(gate, sized(wire.unpack(recorded.bodies()[0]))).status == 204
    assert gate.current() == len(recorded.distinct(recorded.bodies()[:1]))

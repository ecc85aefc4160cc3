"""vmagent's compression: zstd in, zstd out, limited like snappy. With a real store: tests/e2e/test_compression.py."""

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


def test_what_is_no_zstd_is_refused_and_counts_nothing(gate, upstream):
    raw = wire.pack(wire.sampled("up", job="a"))
    whole = sized(wire.unpack(raw))
    for body, reason in [(raw, "not a valid zstd frame"), (b"", "empty body: not compressed"),
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
        reply = send(gate, bomb)
        assert (reply.status, reply.first_line) == \
            (400, f"decompresses to more than server.maxDecodedBytes: {size}, at most 1048576 bytes")


def test_the_meter_reads_zstd(start_gate):
    gate = start_gate("--upstream.url=discard:")
    reply = send(gate, b"", "?get_vm_proto_version=1")
    assert (reply.status, reply.body) == (200, b"1")
    assert send(gate, sized(wire.unpack(recorded.bodies()[0]))).status == 204
    assert gate.current() == len(recorded.distinct(recorded.bodies()[:1]))

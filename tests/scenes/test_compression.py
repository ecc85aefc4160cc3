"""vmagent's compression: zstd in, zstd out, limited like snappy."""

import dataclasses
import subprocess

import pytest

import recorded
import tee
import wire
from client import WRITE
from servers import VictoriaMetrics
from test_real_servers import assert_found
from test_recorded import leaks_allowed
from world import time

HEADERS = [("Content-Type", "application/x-protobuf"), ("Content-Encoding", "zstd"),
           ("X-VictoriaMetrics-Remote-Write-Version", "1"), ("User-Agent", "vmagent")]


def zstd(raw, *flags):
    return subprocess.run(["zstd", "-q", "-c", *flags], input=raw, stdout=subprocess.PIPE, check=True).stdout


def sized(raw):
    """One frame that says its size, as vmagent makes it."""
    return zstd(raw, f"--stream-size={len(raw)}")


def unzstd(frame):
    return subprocess.run(["zstd", "-q", "-d", "-c"], input=frame, stdout=subprocess.PIPE, check=True).stdout


def send(gate, body, query=""):
    with gate.client() as client:
        return client.request("POST", WRITE + query, body, HEADERS)


def last_body(upstream):
    return upstream.requests[-1].body


@pytest.mark.parametrize("compress", [sized, zstd, lambda raw: zstd(raw[:100_000]) + sized(raw[100_000:])],
                         ids=["sized", "streamed", "two frames"])
def test_a_zstd_body_goes_through_byte_for_byte(gate, upstream, compress):
    raw = wire.unpack(recorded.bodies()[0])
    body = compress(raw)
    upstream.clear()
    assert send(gate, body).status == 204
    assert last_body(upstream) == body
    assert upstream.requests[-1].get("Content-Encoding") == "zstd"
    assert upstream.requests[-1].get("X-VictoriaMetrics-Remote-Write-Version") == "1"


def test_zstd_and_snappy_are_limited_alike(start_gate, upstream):
    gate = start_gate(f"--upstream.url={upstream.url}", "--maxHourlySeries=500", "--maxDailySeries=500")
    body = recorded.bodies()[0]
    upstream.clear()
    with gate.client() as client:
        first = client.write(body)
    kept = wire.unpack(last_body(upstream))
    again = send(gate, sized(wire.unpack(body)))
    assert again.refused == first.refused
    assert upstream.requests[-1].get("Content-Encoding") == "zstd"
    assert unzstd(last_body(upstream)) == kept
    assert gate.current() == 500


def test_what_is_no_zstd_is_refused_and_counts_nothing(gate, upstream):
    raw = wire.pack(wire.sampled("up", job="a"))
    whole = sized(wire.unpack(raw))
    upstream.clear()
    for body, reason in [(raw, "not a valid zstd frame"), (b"", "empty body: not compressed"),
                         (whole[:-1], "not a valid zstd frame"), (whole + b"x", "not a valid zstd frame"),
                         (sized(b"\xff" * 100), "malformed protobuf")]:
        reply = send(gate, body)
        assert reply.status == 400
        assert reply.body.decode().startswith(reason), (body, reply.body)
    assert upstream.requests == []
    assert gate.current() == 0


def test_a_zstd_bomb_is_refused_before_it_goes_off(start_gate, upstream, tmp_path):
    config = tmp_path / "seriesgate.yaml"
    config.write_text("server: {maxRequestBytes: 1MiB, maxDecodedBytes: 1MiB, maxInflightBytes: 4MiB}\n")
    gate = start_gate(f"--upstream.url={upstream.url}", f"--config.file={config}")
    zeros = bytes(64 << 20)
    for bomb, size in ((sized(zeros), "67108864 bytes"), (zstd(zeros), "it goes on")):
        assert len(bomb) < 10_000
        reply = send(gate, bomb)
        assert (reply.status, reply.first_line) == \
            (400, f"decompresses to more than server.maxDecodedBytes: {size}, at most 1048576 bytes")


@pytest.mark.parametrize("query", ["?get_vm_proto_version=1", "?a=b&get_vm_proto_version=1"])
def test_the_store_says_whether_it_reads_zstd(gate, upstream, query):
    upstream.clear()
    reply = send(gate, b"", query)
    assert reply.status == 204  # the store's
    assert [(request.body, request.target.partition("?")[2]) for request in upstream.requests] == \
        [(b"", "get_vm_proto_version=1")]


def test_the_meter_reads_zstd(start_gate):
    gate = start_gate("--upstream.url=discard:")
    reply = send(gate, b"", "?get_vm_proto_version=1")
    assert (reply.status, reply.body) == (200, b"1")
    assert send(gate, sized(wire.unpack(recorded.bodies()[0]))).status == 204
    assert gate.current() == len(recorded.distinct(recorded.bodies()[:1]))


class SnappyFor(tee.Tee):
    """Debian's VictoriaMetrics is older than its zstd protocol: this stands before it and speaks that."""

    def _forward(self, request):
        assert request.get("Content-Encoding") == "zstd"
        headers = [(name, "snappy" if name.lower() == "content-encoding" else value) for name, value in request.headers]
        return super()._forward(dataclasses.replace(request, headers=headers, body=wire.pack(unzstd(request.body))))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 10_000])
def test_what_comes_in_zstd_is_found_in_victoria_metrics(start_gate, tmp_path, pb, limit):
    store = VictoriaMetrics(tmp_path)
    stand_in = SnappyFor(store.write_url)
    try:
        gate = start_gate(f"--upstream.url={stand_in.url}", f"--maxHourlySeries={limit}")
        messages = [pb.WriteRequest.FromString(wire.unpack(body)) for body in recorded.bodies()]
        for message in recorded.moved_to(messages, int(time.time() * 1000) - 60_000):
            assert send(gate, sized(message.SerializeToString())).status == 204
        sent, stored = tee.samples(pb, stand_in.taken), store.samples()
        assert_found(sent, stored)
        if limit:
            assert limit <= len(sent) <= limit + leaks_allowed(recorded.SERIES - limit)
            assert gate.current() == limit
        else:
            assert (len(sent), tee.sample_count(sent)) == (recorded.SERIES, recorded.SAMPLES)
    finally:
        stand_in.stop()
        store.stop()

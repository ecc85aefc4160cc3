"""vmagent's zstd with a real store. The rest: tests/scenes/test_compression.py."""

import dataclasses

import pytest

import recorded
import tee
import wire
from recorded import leaks_allowed
from test_real_servers import assert_found
from world import time
from zstd_frame import HEADERS, sized, unzstd


class SnappyFor(tee.Tee):
    """Debian's VictoriaMetrics is older than its zstd protocol: this stands before it and speaks that."""

    def _forward(self, request):
        assert request.get("Content-Encoding") == "zstd"
        headers = [(name, "snappy" if name.lower() == "content-encoding" else value) for name, value in request.headers]
        return super()._forward(dataclasses.replace(request, headers=headers, body=wire.pack(unzstd(request.body))))


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 10_000])
def test_what_comes_in_zstd_is_found_in_victoria_metrics(start_gate, victoria_metrics, pb, limit):
    stand_in = SnappyFor(victoria_metrics.write_url)
    try:
        gate = start_gate(f"--upstream.url={stand_in.url}", f"--maxHourlySeries={limit}")
        messages = [pb.WriteRequest.FromString(wire.unpack(body)) for body in recorded.bodies()]
        for message in recorded.moved_to(messages, int(time.time() * 1000) - 60_000):
            assert gate.send(sized(message.SerializeToString()), HEADERS).status == 204
        sent, stored = tee.samples(pb, stand_in.taken), victoria_metrics.samples()
    finally:
        stand_in.stop()
    assert_found(sent, stored)
    if limit:
        assert limit <= len(sent) <= limit + leaks_allowed(recorded.SERIES - limit)
        assert gate.current() == limit
    else:
        assert (len(sent), tee.sample_count(sent)) == (recorded.SERIES, recorded.SAMPLES)

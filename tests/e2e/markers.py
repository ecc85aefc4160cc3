"""The markers that a gate writes to a stub upstream."""

import struct

import wire
from traffic import TENANT
from waiting import eventually
from world import socket

METRIC = "seriesgate_series_refused"


class Markers:
    """What a stub upstream was sent of them."""

    def __init__(self, upstream, pb):
        self.upstream, self._pb = upstream, pb

    @property
    def requests(self):
        return [each for each in list(self.upstream.requests) if METRIC.encode() in each.raw]

    def of(self, request):
        """[(labels, value, timestamp)] of one request. A value is "ends" where it is a stale marker."""
        message = self._pb.WriteRequest.FromString(request.raw)
        assert not message.metadata
        found = []
        for series in message.timeseries:
            labels = [(label.name.decode(), label.value.decode()) for label in series.labels]  # valid UTF-8
            names = [name for name, _ in labels]
            assert names == sorted(set(names)) and all(value for _, value in labels)
            assert len(series.samples) == 1 and not series.exemplars and not series.histograms
            value = series.samples[0].value
            stale = struct.pack("<d", value) == wire.STALE
            found.append((dict(labels), "ends" if stale else value, series.samples[0].timestamp))
        return found

    def next(self, count=1):
        """Waits for `count` requests with markers, and forgets them. @return {tenant or None: what of() says of them}"""
        requests = eventually(lambda: len(self.requests) >= count and self.requests, f"{count} requests with markers")
        assert len(requests) == count, [self.of(each) for each in requests]
        by_tenant = {request.get(TENANT): self.of(request) for request in requests}
        assert len(by_tenant) == count
        self.upstream.clear()
        return by_tenant


def gate_label(gate):
    """What it is called: the host and its process, where the port is any free one."""
    return f"{socket.gethostname()}:pid-{gate.pid}"

"""Requests that follow from a number, so that whoever knows the number knows every byte."""

import collections
import functools
import random
import struct

import wire
import wire_v2
from world import SIMULATED

TENANTS, TENANT_WEIGHTS = [None, "a", "b", "c"], [55, 25, 15, 5]
JOBS = 8
HEALTHY = 400  # series that come again and again
EXPLODING = 1_000_000
BIG = 1 << 29  # requests from this number on do not fit into a connection's buffers (tcp_wmem: 4 MiB)
BIG_SAMPLES = 70_000 if SIMULATED else 700_000  # a simulated connection takes 256 KiB

Piece = collections.namedtuple("Piece", "bytes series samples exemplars")  # series: its number, None if it is none
Request = collections.namedtuple("Request", "version zstd tenant raw pieces series samples exemplars")


def job_of(series):
    """The last of the jobs has half of all series."""
    return min(series % (2 * JOBS), JOBS - 1)


@functools.lru_cache(HEALTHY)
def _labels(series):
    return b"".join(wire.field(wire.LABELS, wire.label(name, value)) for name, value in
                    (("__name__", "m"), ("job", f"j{job_of(series)}"), ("n", str(series))))


def _many_samples(choose, count):
    """All of one time, so that it takes no time to make them."""
    one = wire.field(wire.SAMPLES, b"\x09" + bytes(8) + wire.number_field(2, 1_700_000_000_000))
    before, _, behind = one.partition(bytes(8))
    values = choose.randbytes(8 * count)
    return b"".join(before + values[at:at + 8] + behind for at in range(0, len(values), 8))


@functools.lru_cache(4)
def make_request(seed, number):
    """The request of that number: always the same."""
    choose = random.Random(seed << 40 | number)
    version = choose.choice((1, 1, 2))
    numbers = {choose.randrange(HEALTHY) if choose.random() < 0.6 else HEALTHY + choose.randrange(EXPLODING)
               for _ in range(choose.randint(1, 12))}
    symbols = wire_v2.Symbols()
    pieces = []
    for series in numbers:
        if number >= BIG:
            count = BIG_SAMPLES // len(numbers)
            samples = _many_samples(choose, count)
        else:
            count = 1 if choose.random() < 0.8 else 3
            samples = b"".join(
                wire.field(wire.SAMPLES, b"\x09" + struct.pack("<Q", choose.getrandbits(64)) +
                           wire.number_field(2, 1_700_000_000_000 + 10 * number + at)) for at in range(count))
        exemplars = 0
        if version == 1:
            record = wire.field(wire.TIMESERIES, _labels(series) + samples)
        else:
            entries = samples
            if choose.random() < 0.1:
                exemplars = 1
                entries += wire_v2.exemplar(symbols, trace=str(number))
            record = wire_v2.series(symbols, {"__name__": "m", "job": f"j{job_of(series)}", "n": str(series)}, entries)
        pieces.append(Piece(record, series, count, exemplars))
    if version == 2:
        pieces.insert(0, Piece(symbols.encode(), None, 0, 0))
    elif choose.random() < 0.1:
        pieces.append(Piece(wire.metadata(f"metric_{number}"), None, 0, 0))
    raw = b"".join(piece.bytes for piece in pieces)
    tenant = choose.choices(TENANTS, TENANT_WEIGHTS)[0]
    return Request(version, choose.random() < 0.3, tenant, raw, pieces, len(numbers),
                   sum(piece.samples for piece in pieces), sum(piece.exemplars for piece in pieces))


def kept_of(request, raw):
    """The pieces of the request that this body has in it; ValueError if it is anything but some of them, in order, and
    all that are no series."""
    if raw == request.raw:
        return request.pieces
    kept, at = [], 0
    for piece in request.pieces:
        if raw.startswith(piece.bytes, at):
            kept.append(piece)
            at += len(piece.bytes)
        elif piece.series is None:
            raise ValueError("something that is no series was cut out or changed")
    if at != len(raw):
        raise ValueError(f"from byte {at} on it is not what was sent")
    return kept


def read_fields(stream):
    """{name: value} of a header's fields, names in lower case; None if it ends before them."""
    fields = {}
    while (line := stream.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        fields[name.strip().lower()] = value.strip()
    return fields if line else None


def head_of(request, number, attempt, size):
    proto, version = ("", "0.1.0") if request.version == 1 else (";proto=io.prometheus.write.v2.Request", "2.0.0")
    tenant = f"X-Scope-OrgID: {request.tenant}\r\n" if request.tenant else ""
    return (f"POST /api/v1/write HTTP/1.1\r\nHost: gate\r\nContent-Type: application/x-protobuf{proto}\r\n"
            f"Content-Encoding: {'zstd' if request.zstd else 'snappy'}\r\n{tenant}"
            f"X-Prometheus-Remote-Write-Version: {version}\r\nX-Attempt: {number}.{attempt}\r\n"
            f"Content-Length: {size}\r\n\r\n").encode()

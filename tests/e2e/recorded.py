"""The recorded requests of tests/data, and the same requests moved in time."""

import math
from pathlib import Path

import wire

DATA = Path(__file__).resolve().parent.parent / "data"

SAMPLES = 32_000
SERIES = 31_817

HEADERS = [
    ("Content-Encoding", "snappy"),
    ("Content-Type", "application/x-protobuf"),
    ("User-Agent", "Prometheus/3.5.3+ds1"),
    ("X-Prometheus-Remote-Write-Version", "0.1.0"),
]


def bodies(folder="prometheus-3.5-v1"):
    """The compressed bodies of one folder, in the order they were sent."""
    return [path.read_bytes() for path in sorted((DATA / folder).glob("*.snappy"))]


def moved_to(kind, compressed_bodies, newest):
    """The bodies as messages of a generated class of either version, shifted so that their newest sample is at `newest` (ms)."""
    messages = [kind.FromString(wire.unpack(body)) for body in compressed_bodies]
    shift = newest - max(s.timestamp for m in messages for t in m.timeseries for s in t.samples)
    for message in messages:
        for timeseries in message.timeseries:
            for sample in timeseries.samples:
                sample.timestamp += shift
    return messages


def distinct(compressed_bodies):
    """The set of distinct series in the given bodies."""
    found = set()
    for body in compressed_bodies:
        found.update(wire.series_of(wire.unpack(body)))
    return found


def sample_count(compressed_bodies):
    """Samples in recorded bodies: a Prometheus sends one sample in each TimeSeries."""
    return sum(len(wire.series_of(wire.unpack(body))) for body in compressed_bodies)


def leaks_allowed(refused_series, false_positive_rate=0.0001):
    """False positives that p allows among so many refused series: once in a billion there are more. By Poisson."""
    mean = refused_series * false_positive_rate
    count, probability = 0, math.exp(-mean)
    at_most = probability
    while 1 - at_most > 1e-9:
        count += 1
        probability *= mean / count
        at_most += probability
    return count

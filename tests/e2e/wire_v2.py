"""Remote write 2 by hand, and the counts of its answers. Field numbers are those of remote write 2.0-rc.4."""

import functools

import wire
from wire import BYTES, field, fields, number_field, read_varint, varint

SYMBOLS, TIMESERIES = 4, 5  # of Request
LABELS_REFS, SAMPLES, HISTOGRAMS, EXEMPLARS, METADATA = 1, 2, 3, 4, 5  # of TimeSeries

HEADERS = [
    ("Content-Encoding", "snappy"),
    ("Content-Type", "application/x-protobuf;proto=io.prometheus.write.v2.Request"),
    ("User-Agent", "Prometheus/3.5.3"),
    ("X-Prometheus-Remote-Write-Version", "2.0.0"),
]
WRITTEN = [f"X-Prometheus-Remote-Write-{kind}-Written" for kind in ("Samples", "Histograms", "Exemplars")]


class Symbols:
    """A symbols table that grows as it is used."""

    def __init__(self):
        self.known = {b"": 0}

    def ref(self, text):
        text = text if isinstance(text, bytes) else text.encode()
        return self.known.setdefault(text, len(self.known))

    def refs(self, labels):
        pairs = sorted(labels.items()) if isinstance(labels, dict) else labels
        return b"".join(varint(self.ref(text)) for pair in pairs for text in pair)

    def encode(self):
        return b"".join(field(SYMBOLS, text) for text in self.known)


def series(symbols, labels, *entries):
    return field(TIMESERIES, field(LABELS_REFS, symbols.refs(labels)) + b"".join(entries))


def sample(value=1.0, timestamp=1_700_000_000_000):
    return field(SAMPLES, wire.sample(value, timestamp))


def histogram(timestamp=1_700_000_000_000):
    return field(HISTOGRAMS, number_field(1, 3) + wire.double_field(3, 1.5) + number_field(15, timestamp))


def exemplar(symbols, **labels):
    return field(EXEMPLARS, field(1, symbols.refs(labels)) + wire.double_field(2, 1.0) + number_field(3, 1))


def request(*labels):
    """One sample for each label set."""
    symbols = Symbols()
    body = b"".join(series(symbols, each, sample()) for each in labels)
    return symbols.encode() + body


def series_of(raw):
    """The label sets of a request's series, in order: as wire.series_of."""
    return list(_series_of(raw))


@functools.lru_cache(64)
def _series_of(raw):
    symbols = [payload for number, kind, payload, _, _ in fields(raw) if (number, kind) == (SYMBOLS, BYTES)]
    return [_identity(payload, symbols) for number, _, payload, _, _ in fields(raw) if number == TIMESERIES]


def without(raw, refused):
    """The request's bytes minus every series whose label set `refused(identity)` says yes to."""
    symbols = [payload for number, kind, payload, _, _ in fields(raw) if (number, kind) == (SYMBOLS, BYTES)]
    return b"".join(raw[start:end] for number, _, payload, start, end in fields(raw)
                    if number != TIMESERIES or not refused(_identity(payload, symbols)))


def _identity(timeseries, symbols):
    refs, at = [], 0
    packed = b"".join(payload for number, _, payload, _, _ in fields(timeseries) if number == LABELS_REFS)
    while at < len(packed):
        ref, at = read_varint(packed, at)
        refs.append(symbols[ref])
    return tuple(sorted((name, value) for name, value in zip(refs[::2], refs[1::2], strict=True) if value))


# --- through a gate

def write(gate, body, headers=()):
    return gate.send(body, [*HEADERS, *headers])


def written(reply):
    """The three counts as (samples, histograms, exemplars); None for each that is missing."""
    return tuple(None if reply.get(name) is None else int(reply.get(name)) for name in WRITTEN)


def counts(samples, histograms=0, exemplars=0):
    """The headers with which a store says them."""
    return list(zip(WRITTEN, map(str, (samples, histograms, exemplars)), strict=True))

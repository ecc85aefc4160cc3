"""Remote write 1 by hand: protobuf wire bytes that no generated class would write, and snappy blocks.

The generated classes are the reference for what a request means; this module is for what a request *is*: byte ranges,
malformed bytes, and fast identities of recorded series. Field numbers are those of remote write 1.0.
"""

import functools
import struct

import snappy

VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = 0, 1, 2, 3, 4, 5

TIMESERIES, METADATA = 1, 3  # of WriteRequest
LABELS, SAMPLES, EXEMPLARS, HISTOGRAMS = 1, 2, 3, 4  # of TimeSeries

STALE = struct.pack("<Q", 0x7FF0000000000002)
ODD_NAN = struct.pack("<Q", 0xFFF8DEADBEEF1234)


# --- snappy ---------------------------------------------------------------------------------------------------------

def pack(raw):
    """One snappy block, as senders write it."""
    return snappy.compress(raw) if raw else b"\x00"


def unpack(block):
    return snappy.decompress(block) if block not in (b"", b"\x00") else b""  # what is empty python-snappy may refuse


def declare(length, rest=b""):
    """A snappy block that declares `length` bytes, followed by whatever is given."""
    return varint(length) + rest


# --- protobuf wire bytes --------------------------------------------------------------------------------------------

@functools.lru_cache(1 << 12)
def varint(value, width=0):
    """`value` as a varint; with `width`, padded to that many bytes (not minimal, as no real sender writes it)."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    while len(out) < width:
        out[-1] |= 0x80
        out.append(0)
    return bytes(out)


@functools.lru_cache(1 << 12)
def tag(number, wire_type):
    return varint(number << 3 | wire_type)


def field(number, payload):
    """A length-delimited field."""
    return tag(number, BYTES) + varint(len(payload)) + payload


def number_field(number, value):
    return tag(number, VARINT) + varint(value & (1 << 64) - 1)


def double_field(number, value):
    """`value`: a float, or the eight bytes of one."""
    return tag(number, FIXED64) + (value if isinstance(value, bytes) else struct.pack("<d", value))


def label(name, value):
    return field(1, _bytes(name)) + field(2, _bytes(value))


def sample(value, timestamp):
    return double_field(1, value) + number_field(2, timestamp)


def exemplar(value, timestamp, **labels):
    texts = b"".join(field(1, label(n, v)) for n, v in labels.items())
    return texts + double_field(2, value) + number_field(3, timestamp)


def series(labels, *entries):
    """One WriteRequest.timeseries field. `labels`: a dict or pairs; `entries`: TimeSeries fields after the labels."""
    pairs = labels.items() if isinstance(labels, dict) else labels
    return field(TIMESERIES, b"".join(field(LABELS, label(n, v)) for n, v in pairs) + b"".join(entries))


def sampled(name, value=1.0, timestamp=1_700_000_000_000, **labels):
    """A series with one sample, its labels sorted: what a Prometheus sends for a scraped value."""
    return series(sorted({"__name__": name, **labels}.items()), field(SAMPLES, sample(value, timestamp)))


def metadata(name, kind=1, help_text="help"):
    return field(METADATA, number_field(1, kind) + field(2, _bytes(name)) + field(4, _bytes(help_text)))


def _bytes(text):
    return text if isinstance(text, bytes) else text.encode()


# --- reading --------------------------------------------------------------------------------------------------------

def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """Yields (number, wire type, payload or value, start, end) for each field of one well-formed message."""
    at = 0
    while at < len(data):
        start = at
        key, at = (data[at], at + 1) if data[at] < 0x80 else read_varint(data, at)
        kind = key & 7
        if kind == BYTES:
            size, at = (data[at], at + 1) if data[at] < 0x80 else read_varint(data, at)
            value = data[at:at + size]
            at += size
        elif kind == VARINT:
            value, at = read_varint(data, at)
        else:
            size = 8 if kind == FIXED64 else 4
            value = data[at:at + size]
            at += size
        yield key >> 3, kind, value, start, at


_identities = {}


def identity(timeseries):
    """The label set of one TimeSeries payload: sorted (name, value) pairs, empty values dropped."""
    known = _identities.get(timeseries)
    if known is None:
        pairs = []
        for number, _, payload, _, _ in fields(timeseries):
            if number == LABELS:
                name, value = _label(payload)
                if value:
                    pairs.append((name, value))
        known = _identities[timeseries] = tuple(sorted(pairs))
    return known


@functools.lru_cache(1 << 14)
def _label(payload):
    """(name, value)"""
    parts = {number: value for number, _, value, _, _ in fields(payload)}
    return parts.get(1), parts.get(2)


def series_of(raw):
    """The label sets of a request's series, in order, repeated as often as they stand there."""
    return [identity(payload) for number, _, payload, _, _ in fields(raw) if number == TIMESERIES]


def without(raw, refused):
    """The request's bytes minus every series whose label set `refused(identity)` says yes to."""
    return b"".join(raw[start:end] for number, _, payload, start, end in fields(raw)
                    if number != TIMESERIES or not refused(identity(payload)))

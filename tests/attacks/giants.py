"""Requests that are small on the wire and as large as may be in memory."""

import functools

import wire
import wire_v2
from gate import sanitized
from wire import field, varint

LONG = 64 * 1024

POINT = field(wire.SAMPLES, wire.sample(1.0, 1_700_000_000_000))


def scaled(count):
    """Fewer in a slow build."""
    return count // 16 if sanitized("asan", "tsan", "ubsan") else count


@functools.cache
def tiny_series(count):
    """So many different series `{a="00000"}` of remote write 1, with an empty sample: sixteen bytes each."""
    before, after = wire.series({"a": "....."}, field(wire.SAMPLES, b"")).split(b".....")
    return b"".join(before + b"%05x" % i + after for i in range(count))


def empty_entries(count):
    """Entries of remote write 1 with nothing in them: two bytes each."""
    return b"\x0a\x00" * count


def unordered(mib):
    """Series of 1000 labels in no order, of so many MiB: a few KB of zstd."""
    labels = b"".join(field(1, wire.label(name, "")) for name in "ba") * 500
    one = field(wire.TIMESERIES, labels + POINT)
    return one * ((mib << 20) // len(one))


def symbols(count):
    """A request of remote write 2 with so many empty symbols: two bytes each; and one series."""
    return b"\x22\x00" * count + wire_v2.request({"__name__": "up"})


def long_symbol_series(count, labels=1, text_bytes=LONG):
    """So many series of remote write 2, whose first labels `l0`, `l1`, ... all have one long value, and which differ in
    a short one: a few bytes for each series on the wire."""
    table = wire_v2.Symbols()
    long_ref = table.ref("x" * text_bytes)
    shared = b"".join(varint(table.ref(f"l{i}")) + varint(long_ref) for i in range(labels))
    name = varint(table.ref("z"))
    entries = []
    for i in range(count):
        refs = shared + name + varint(table.ref(f"{i}"))
        entries.append(field(wire_v2.TIMESERIES, field(wire_v2.LABELS_REFS, refs) + wire_v2.sample()))
    return table.encode() + b"".join(entries)


def unlike_long_series(count, text_bytes):
    """So many series of remote write 1, each with a label `l0` whose long value is like no other's."""
    pad = "x" * (text_bytes - 8)
    return b"".join(wire.series({"l0": f"{pad}{i:08x}"}, POINT) for i in range(count))

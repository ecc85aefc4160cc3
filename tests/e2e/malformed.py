"""Bodies and requests that a gate must refuse, each with the status it has to answer: data for test_bad_input.py."""

from wire import (BYTES, END_GROUP, EXEMPLARS, GROUP, HISTOGRAMS, LABELS, METADATA, SAMPLES, TIMESERIES, VARINT, declare,
                  double_field, exemplar, field, label, number_field, pack, sample, sampled, series, tag, varint)

GOOD = sampled("up", job="a")
NAMED = field(LABELS, label("__name__", "up"))


def in_series(entry):
    return field(TIMESERIES, NAMED + entry)


def snappy_bodies():
    """(name, body) for bodies that are no snappy block, or one over a bound. Others: tests/wire/snappy_test.cpp."""
    whole = pack(GOOD * 40)
    return [
        ("empty body", b""),
        ("not snappy", b"this is no snappy block at all"),
        ("plain protobuf", GOOD),
        ("framed snappy", b"\xff\x06\x00\x00sNaPpY\x01\x08\x00\x00\x00\x00\x00\x00" + GOOD),
        ("gzip", bytes.fromhex("1f8b0800000000000003") + whole),
        ("declares 4 GiB", declare(0xFFFFFFFF, b"\x00a")),
        ("declares 2^33-1", declare((1 << 33) - 1, b"\x00a")),
        ("declares more than 22 times its size", declare(22 * 400, pack(GOOD * 8)[1:])),
        ("declares one byte less", declare(len(GOOD) - 1, bytes([(len(GOOD) - 1) << 2]) + GOOD)),
        ("length without end", b"\x80\x80\x80"),
        ("copy from before the start", declare(8, b"\x01\x05")),
    ]


def messages():
    """(name, protobuf bytes) for one message of each kind that is malformed, ambiguous between parsers, or over a bound. Others:
    tests/wire, write_request_test.cpp and field_cursor_test.cpp."""
    body = GOOD[1:]  # the series without its one-byte tag
    return [
        ("metadata's name as a number", field(METADATA, number_field(2, 1))),
        ("a histogram's schema as bytes", in_series(field(HISTOGRAMS, field(4, b"\x00")))),
        ("a histogram's spans as a number", in_series(field(HISTOGRAMS, number_field(11, 1)))),
        ("group inside a label", in_series(field(LABELS, label("a", "b") + tag(99, GROUP) + tag(99, END_GROUP)))),
        ("end of a group that never began", GOOD + tag(99, END_GROUP)),
        ("tag of two bytes for one", b"\x8a\x00" + body),
        ("tag 2^32 and 0x0a", varint(1 << 32 | 0x0A) + body),
        ("field number 0", GOOD + tag(0, VARINT) + b"\x01"),
        ("wire type 6", GOOD + tag(99, 6) + b"\x00" * 8),
        ("timestamp over 64 bits", in_series(field(SAMPLES, tag(2, VARINT) + b"\xff" * 9 + b"\x7f"))),
        ("unknown field of eleven bytes", GOOD + tag(99, VARINT) + b"\x80" * 10 + b"\x01"),
        ("varint without end", GOOD + tag(99, VARINT) + b"\x80\x80"),
        ("series longer than the message", tag(TIMESERIES, BYTES) + varint(len(GOOD)) + GOOD[2:]),
        ("length 2^32 and the right one", tag(TIMESERIES, BYTES) + varint(1 << 32 | len(GOOD[2:])) + GOOD[2:]),
        ("name longer than its label", field(TIMESERIES, field(LABELS, tag(1, BYTES) + varint(200) + b"abc"))),
        ("packed doubles of 12 bytes", in_series(field(HISTOGRAMS, field(10, b"\x00" * 12)))),
        ("packed varints that end inside one", in_series(field(HISTOGRAMS, field(12, b"\x02\x80")))),
        ("2^20 and 1 series", field(TIMESERIES, b"") * ((1 << 20) + 1)),
        ("a series of version 2", GOOD + field(5, field(1, b"\x01\x02"))),
    ]


def broken_series():
    """Well-formed series that break a rule or a bound: (what, reason, bytes)."""
    value = field(SAMPLES, sample(1.0, 1))
    kib_256 = 256 << 10
    return [
        ("label without a name", "label_without_name", field(TIMESERIES, NAMED + field(LABELS, field(2, b"value")) + value)),
        ("label with an empty name", "label_without_name", series([("__name__", "up"), ("", "value")], value)),
        ("1025 labels", "too_many_labels", many_labels(1025)),
        ("label value of 256 KiB and 1", "label_too_long", series([("__name__", "up"), ("a", "v" * (kib_256 + 1))], value)),
        ("label name of 256 KiB and 1", "label_too_long", series([("__name__", "up"), ("n" * (kib_256 + 1), "v")], value)),
        ("nothing but a nameless label", "label_without_name", series([("", "value")])),
    ]


def many_labels(count):
    """A series with so many labels, __name__ among them."""
    pairs = [("__name__", "up"), *((f"l{i:05}", "v") for i in range(count - 1))]
    return series(pairs, field(SAMPLES, sample(1.0, 1)))


def rich_request():
    """A small request in which every kind of field occurs, and the offsets at which its top-level fields end."""
    span = number_field(1, 2) + number_field(2, 3)
    deltas = varint(2) + varint(300) + varint(1)
    histogram = (number_field(1, 300) + double_field(3, 1.5) + number_field(4, 6) + field(11, span) +
                 field(12, deltas) + number_field(15, 1_700_000_000_000))
    parts = [
        series({"__name__": "up", "job": "a"}, field(SAMPLES, sample(1.0, 1_700_000_000_000))),
        series({"__name__": "h"}, field(HISTOGRAMS, histogram),
               field(EXEMPLARS, exemplar(1.0, 1_700_000_000_000, trace_id="abc"))),
        field(METADATA, number_field(1, 1) + field(2, b"up") + field(4, b"help") + field(5, b"s")),
        number_field(2, 300),
        field(1000, b"extension"),
    ]
    ends, at = [], 0
    for part in parts:
        at += len(part)
        ends.append(at)
    return b"".join(parts), ends

"""Bodies and requests that a gate must refuse, each with the status it has to answer: data for test_bad_input.py."""

from wire import (BYTES, END_GROUP, EXEMPLARS, FIXED32, FIXED64, GROUP, HISTOGRAMS, LABELS, METADATA, SAMPLES,
                  TIMESERIES, VARINT, declare, double_field, exemplar, field, label, number_field, pack, sample,
                  sampled, series, tag, varint)

GOOD = sampled("up", job="a")
NAMED = field(LABELS, label("__name__", "up"))


def in_series(entry):
    return field(TIMESERIES, NAMED + entry)


def snappy_bodies():
    """(name, body) for bodies that are no snappy block, or one over a bound."""
    whole = pack(GOOD * 40)
    return [
        ("empty body", b""),
        ("not snappy", b"this is no snappy block at all"),
        ("plain protobuf", GOOD),
        ("framed snappy", b"\xff\x06\x00\x00sNaPpY\x01\x08\x00\x00\x00\x00\x00\x00" + GOOD),
        ("framed snappy, header only", b"\xff\x06\x00\x00sNaPpY"),
        ("gzip", bytes.fromhex("1f8b0800000000000003") + whole),
        ("declares 4 GiB", declare(0xFFFFFFFF, b"\x00a")),
        ("declares 4 GiB, 6-byte length", b"\xff\xff\xff\xff\xff\x01" + b"\x00a"),
        ("declares 2^33-1", declare((1 << 33) - 1, b"\x00a")),
        ("declares more than 22 times its size", declare(22 * 400, pack(GOOD * 8)[1:])),
        ("declares one byte more", declare(len(GOOD) + 1, bytes([(len(GOOD) - 1) << 2]) + GOOD)),
        ("declares one byte less", declare(len(GOOD) - 1, bytes([(len(GOOD) - 1) << 2]) + GOOD)),
        ("length without end", b"\x80\x80\x80"),
        ("copy from before the start", declare(8, b"\x01\x05")),
        ("bytes after the end", pack(GOOD) + b"\x00"),
    ]


def messages():
    """(name, protobuf bytes) for messages that are malformed, ambiguous between parsers, or over a bound."""
    return [
        *_wrong_wire_types(),
        *_groups(),
        *_tags(),
        *_varints(),
        *_lengths(),
        *_requests(),
        ("packed doubles of 12 bytes", in_series(field(HISTOGRAMS, field(10, b"\x00" * 12)))),
        ("packed varints that end inside one", in_series(field(HISTOGRAMS, field(12, b"\x02\x80")))),
    ]


def _wrong_wire_types():
    wrong = {
        "WriteRequest.timeseries": (lambda bad: bad, TIMESERIES, BYTES),
        "WriteRequest.metadata": (lambda bad: bad, METADATA, BYTES),
        "MetricMetadata.type": (lambda bad: field(METADATA, bad), 1, VARINT),
        "MetricMetadata.metric_family_name": (lambda bad: field(METADATA, bad), 2, BYTES),
        "MetricMetadata.help": (lambda bad: field(METADATA, bad), 4, BYTES),
        "MetricMetadata.unit": (lambda bad: field(METADATA, bad), 5, BYTES),
        "TimeSeries.labels": (in_series, LABELS, BYTES),
        "TimeSeries.samples": (in_series, SAMPLES, BYTES),
        "TimeSeries.exemplars": (in_series, EXEMPLARS, BYTES),
        "TimeSeries.histograms": (in_series, HISTOGRAMS, BYTES),
        "Label.name": (lambda bad: in_series(field(LABELS, label("a", "b") + bad)), 1, BYTES),
        "Label.value": (lambda bad: in_series(field(LABELS, label("a", "b") + bad)), 2, BYTES),
        "Sample.value": (lambda bad: in_series(field(SAMPLES, bad)), 1, FIXED64),
        "Sample.timestamp": (lambda bad: in_series(field(SAMPLES, bad)), 2, VARINT),
        "Exemplar.labels": (lambda bad: in_series(field(EXEMPLARS, bad)), 1, BYTES),
        "Exemplar.value": (lambda bad: in_series(field(EXEMPLARS, bad)), 2, FIXED64),
        "Exemplar.timestamp": (lambda bad: in_series(field(EXEMPLARS, bad)), 3, VARINT),
        "Exemplar.labels.name": (lambda bad: in_series(field(EXEMPLARS, field(1, bad))), 1, BYTES),
        "Histogram.count_int": (lambda bad: in_series(field(HISTOGRAMS, bad)), 1, VARINT),
        "Histogram.sum": (lambda bad: in_series(field(HISTOGRAMS, bad)), 3, FIXED64),
        "Histogram.schema": (lambda bad: in_series(field(HISTOGRAMS, bad)), 4, VARINT),
        "Histogram.positive_spans": (lambda bad: in_series(field(HISTOGRAMS, bad)), 11, BYTES),
        "Histogram.timestamp": (lambda bad: in_series(field(HISTOGRAMS, bad)), 15, VARINT),
        "BucketSpan.offset": (lambda bad: in_series(field(HISTOGRAMS, field(11, bad))), 1, VARINT),
        "BucketSpan.length": (lambda bad: in_series(field(HISTOGRAMS, field(8, bad))), 2, VARINT),
    }
    payloads = {VARINT: b"\x01", FIXED64: b"\x01" * 8, BYTES: b"\x00", FIXED32: b"\x01" * 4}
    for name, (wrap, number, right) in wrong.items():
        for kind, payload in payloads.items():
            if kind != right:
                yield f"{name} with wire type {kind}", wrap(tag(number, kind) + payload)


def _groups():
    def group(number, inside=b""):
        return tag(number, GROUP) + inside + tag(number, END_GROUP)

    return [
        ("group on timeseries", group(TIMESERIES, NAMED)),
        ("group on an unknown field", GOOD + group(99)),
        ("group inside a series", in_series(group(99))),
        ("group inside a label", in_series(field(LABELS, label("a", "b") + group(99)))),
        ("group inside metadata", field(METADATA, group(99))),
        ("end of a group that never began", GOOD + tag(99, END_GROUP)),
    ]


def _tags():
    body = GOOD[1:]  # the series without its one-byte tag
    return [
        ("tag of two bytes for one", b"\x8a\x00" + body),
        ("tag of five bytes for one", varint(0x0A, width=5) + body),
        ("tag of six bytes for one", varint(0x0A, width=6) + body),
        ("tag of ten bytes for one", varint(0x0A, width=10) + body),
        ("tag 2^32 and 0x0a", varint(1 << 32 | 0x0A) + body),
        ("tag 2^35 and 0x0a", varint(1 << 35 | 0x0A) + body),
        ("tag of two bytes for one inside a series", in_series(varint(SAMPLES << 3 | BYTES, width=2) + b"\x00")),
        ("field number 0", GOOD + tag(0, VARINT) + b"\x01"),
        ("field number 0 inside a series", in_series(tag(0, BYTES) + b"\x00")),
        ("field number 0 inside a label", in_series(field(LABELS, label("a", "b") + tag(0, BYTES) + b"\x00"))),
        ("wire type 6", GOOD + tag(99, 6) + b"\x00" * 8),
        ("wire type 7", GOOD + tag(99, 7) + b"\x00" * 8),
        ("a tag and nothing after it", GOOD + tag(99, VARINT)),
    ]


def _varints():
    eleven = b"\x80" * 10 + b"\x01"
    ten_over_64_bits = b"\xff" * 9 + b"\x7f"
    return [
        ("timestamp of eleven bytes", in_series(field(SAMPLES, tag(2, VARINT) + eleven))),
        ("timestamp over 64 bits", in_series(field(SAMPLES, tag(2, VARINT) + ten_over_64_bits))),
        ("unknown field of eleven bytes", GOOD + tag(99, VARINT) + eleven),
        ("varint without end", GOOD + tag(99, VARINT) + b"\x80\x80"),
        ("length of eleven bytes", tag(TIMESERIES, BYTES) + eleven + GOOD[2:]),
    ]


def _lengths():
    return [
        ("series longer than the message", tag(TIMESERIES, BYTES) + varint(len(GOOD)) + GOOD[2:]),
        ("length 2^64-1", tag(TIMESERIES, BYTES) + varint((1 << 64) - 1) + GOOD[2:]),
        ("length 2^32 and the right one", tag(TIMESERIES, BYTES) + varint(1 << 32 | len(GOOD[2:])) + GOOD[2:]),
        ("length 2^63 and the right one", tag(TIMESERIES, BYTES) + varint(1 << 63 | len(GOOD[2:])) + GOOD[2:]),
        ("label longer than its series", field(TIMESERIES, tag(LABELS, BYTES) + varint(200) + label("a", "b"))),
        ("name longer than its label", field(TIMESERIES, field(LABELS, tag(1, BYTES) + varint(200) + b"abc"))),
        ("sample value of four bytes", in_series(field(SAMPLES, tag(1, FIXED64) + b"\x00" * 4))),
        ("unknown field longer than the message", GOOD + tag(99, BYTES) + varint(5) + b"abcd"),
    ]


def _requests():
    return [
        ("2^20 and 1 series", field(TIMESERIES, b"") * ((1 << 20) + 1)),
        ("symbols of version 2", GOOD + field(4, b"up")),
        ("a series of version 2", GOOD + field(5, field(1, b"\x01\x02"))),
    ]


def broken_series():
    """Well-formed series that break a rule or a bound: (what, reason, bytes)."""
    value = field(SAMPLES, sample(1.0, 1))
    kib_256 = 256 << 10
    return [
        ("label without a name", "label_without_name", field(TIMESERIES, NAMED + field(LABELS, field(2, b"value")) + value)),
        ("label with an empty name", "label_without_name", series([("__name__", "up"), ("", "value")], value)),
        ("label with neither", "label_without_name", series([("__name__", "up"), ("", "")], value)),
        ("1025 labels", "too_many_labels", many_labels(1025)),
        ("10,000 labels", "too_many_labels", many_labels(10_000)),
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

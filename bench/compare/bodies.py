"""The requests of a load: the recorded ones, and the same with 1 % new series in each.

New series need another body for each request, and compressing them would cost the load more than the proxies. So one
series in a hundred gets a label `trace_id` whose value stands in the snappy block as a literal: load.lua writes another
value over it in each request, and as blocks have no checksum, that is all.
"""

import random
import string
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent.parent
sys.path.append(str(REPOSITORY / "tests/e2e"))

import recorded  # noqa: E402
import wire  # noqa: E402
import wire_v2  # noqa: E402

SAMPLES_A_REQUEST = 2000
NEW_EVERY = 100  # series
LABEL = b"trace_id"
VALUE_WIDTH = 16


@dataclass
class Protocol:
    name: str
    folder: str  # of tests/data
    headers: dict
    form: object  # wire or wire_v2

    def bodies(self):
        """The recorded bodies as they were sent."""
        return recorded.bodies(self.folder)

    def half(self):
        """The recorded bodies without every second of their distinct series. @return bodies, number of series"""
        raws = [wire.unpack(body) for body in self.bodies()]
        numbers = {}
        for raw in raws:
            for identity in self.form.series_of(raw):
                numbers.setdefault(identity, len(numbers))
        thinned = [wire.pack(self.form.without(raw, lambda identity: numbers[identity] % 2)) for raw in raws]
        return thinned, (len(numbers) + 1) // 2

    def single(self):
        """A body with one series that is not among the recorded ones."""
        if self.form is wire_v2:
            return wire.pack(wire_v2.request({"__name__": "seriesgate_compare"}))
        return wire.pack(wire.sampled("seriesgate_compare"))

    def exploding(self):
        """The recorded bodies with a trace id on every hundredth series. @return pairs: body, positions of the ids"""
        return [_exploding(wire.unpack(body), self.form) for body in self.bodies()]


PROTOCOLS = {
    "v1": Protocol("v1", "prometheus-3.5-v1", dict(recorded.HEADERS), wire),
    "v2": Protocol("v2", "prometheus-3.5-v2", dict(wire_v2.HEADERS), wire_v2),
}


def write(folder, protocol, bodies):
    """Writes requests for load.lua. `bodies`: pairs of a body and the positions that each request writes over."""
    folder.mkdir(parents=True)
    lines = [f"return {{width = {VALUE_WIDTH}, headers = {{"]
    lines += [f'  ["{name}"] = "{value}",' for name, value in protocol.headers.items()]
    lines.append("}, bodies = {")
    for number, (body, positions) in enumerate(bodies):
        (folder / f"{number:05}").write_bytes(body)
        lines.append(f'  {{file = "{number:05}", positions = {{{", ".join(map(str, positions))}}}}},')
    (folder / "requests.lua").write_text("\n".join([*lines, "}}", ""]))


# --- one series in a hundred with a trace id

def _exploding(raw, form):
    add = _with_trace_ids_v2 if form is wire_v2 else _with_trace_ids_v1
    for attempt in range(NEW_EVERY):  # a value may be cut by the end of a snappy fragment: then take other series
        dice = random.Random(attempt)
        ids = ["".join(dice.choices(string.ascii_letters, k=VALUE_WIDTH)).encode()
               for _ in range(SAMPLES_A_REQUEST // NEW_EVERY)]
        plain = add(raw, ids, attempt)
        body = wire.pack(plain)
        positions = [body.find(value) for value in ids]
        if min(positions) >= 0 and _can_be_written_over(body, plain, ids, positions):
            return body, sorted(positions)
    raise AssertionError("no body whose trace ids are literals")


def _can_be_written_over(body, plain, ids, positions):
    """Whether a change at `positions` changes the trace ids and nothing else: no copy elsewhere refers to them."""
    patched = bytearray(body)
    for value, position in zip(ids, positions):
        patched[position:position + VALUE_WIDTH] = value.swapcase()
        plain = plain.replace(value, value.swapcase())
    return wire.unpack(bytes(patched)) == plain


def _with_trace_ids_v1(raw, ids, first):
    ids, out, count = iter(ids), [], 0
    for number, _, payload, start, end in wire.fields(raw):
        if number == wire.TIMESERIES:
            if count % NEW_EVERY == first:
                payload = _labelled(payload, wire.field(wire.LABELS, wire.label(LABEL, next(ids))))
            count += 1
            out.append(wire.field(number, payload))
        else:
            out.append(raw[start:end])
    return b"".join(out)


def _labelled(payload, added):
    """A TimeSeries of remote write 1 with one more label, in its place by name."""
    labels, rest = [(LABEL, added)], b""
    for number, _, value, start, end in wire.fields(payload):
        if number == wire.LABELS:
            labels.append((next(wire.fields(value))[2], payload[start:end]))
        else:
            rest += payload[start:end]
    return b"".join(text for _, text in sorted(labels)) + rest


def _with_trace_ids_v2(raw, ids, first):
    symbols = [payload for number, _, payload, _, _ in wire.fields(raw) if number == wire_v2.SYMBOLS]
    name, refs = len(symbols), iter(range(len(symbols) + 1, len(symbols) + 1 + len(ids)))
    symbols += [LABEL, *ids]
    out, count = [wire.field(wire_v2.SYMBOLS, symbol) for symbol in symbols], 0
    for number, _, payload, start, end in wire.fields(raw):
        if number == wire_v2.TIMESERIES:
            if count % NEW_EVERY == first:
                payload = _referring(payload, symbols, (name, next(refs)))
            count += 1
            out.append(wire.field(number, payload))
        elif number != wire_v2.SYMBOLS:
            out.append(raw[start:end])
    return b"".join(out)


def _referring(payload, symbols, added):
    """A TimeSeries of remote write 2 with one more label, in its place by name."""
    out = []
    for number, _, value, start, end in wire.fields(payload):
        if number == wire_v2.LABELS_REFS:
            refs, at = [], 0
            while at < len(value):
                ref, at = wire.read_varint(value, at)
                refs.append(ref)
            pairs = sorted([*zip(refs[::2], refs[1::2]), added], key=lambda pair: symbols[pair[0]])
            out.append(wire.field(number, b"".join(wire.varint(ref) for pair in pairs for ref in pair)))
        else:
            out.append(payload[start:end])
    return b"".join(out)

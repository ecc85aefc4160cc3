"""Series by the dozen, which of them came out upstream, and how their names are shown."""

import re

import wire

TENANT = "X-Scope-OrgID"

#: What a terminal obeys, what ends a line, what turns text around; but for tab and line feed.
ORDERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def numbered(count, start=0, name="m", **labels):
    """`count` series that differ in the label n, as dicts of labels."""
    return [{"__name__": name, "n": str(n), **labels} for n in range(start, start + count)]


def histogram(name="latency", **labels):
    """Twelve series: ten buckets, sum and count."""
    buckets = [{"__name__": f"{name}_bucket", "le": str(bound), **labels} for bound in range(10)]
    return [*buckets, {"__name__": f"{name}_sum", **labels}, {"__name__": f"{name}_count", **labels}]


def body(series, timestamp=1_700_000_000_000):
    """One compressed request, a sample of 1 for each."""
    return wire.pack(b"".join(
        wire.series(sorted(labels.items()), wire.field(wire.SAMPLES, wire.sample(1.0, timestamp)))
        for labels in series))


def identity(labels):
    return tuple(sorted((name.encode(), value if isinstance(value, bytes) else value.encode())
                        for name, value in labels.items() if value))


def arrived(requests):
    """The series in requests upstream, in their order."""
    return [each for request in requests for each in wire.series_of(request.raw)]


def offer(gate, upstream, series, tenant=None, header=TENANT):
    """Sends the series in one request. @return those that arrived upstream, in the order given"""
    upstream.clear()
    reply = gate.send(body(series), [(header, tenant)] if tenant is not None else [])
    assert reply.status == 204, reply
    came = arrived(upstream.requests)
    present = set(came)
    passed = [labels for labels in series if identity(labels) in present]
    assert came == [identity(labels) for labels in passed]
    refused = len(series) - len(passed)
    assert reply.refused == ((refused, refused) if refused else None)
    return passed


def tenants(stats):
    """The tenants' budgets of /stats by name; each once."""
    found = {entry["tenant"]: entry for entry in stats["tenants"]}
    assert len(found) == len(stats["tenants"]), stats["tenants"]
    return found


def limits(stats, name=None):
    """The label limits' budgets of /stats by (name, values of the group); those of one limit by value alone, if a
    group has one label. Budgets by tenant have the tenant before the values."""
    found = {}
    for entry in stats["limits"]:
        tenant = (entry["tenant"],) if "tenant" in entry else ()
        key = (entry["name"], *tenant, *entry["group"].values())
        assert key not in found, f"{key} twice"
        found[key] = entry
    if name is None:
        return found
    mine = {key[1:]: entry for key, entry in found.items() if key[0] == name}
    return {key[0] if len(key) == 1 else key: entry for key, entry in mine.items()}


def figures(budget, window="hourly"):
    """(maxSeries, currentSeries, refusedSeries) of one budget, or of the whole from stats["windows"]."""
    of = budget[window]
    return of["maxSeries"], of["currentSeries"], of["refusedSeries"]


def shown(name):
    """A tenant or a group's value, as figures show it: see docs/stats.md."""
    out = ""
    for character in name.decode("utf-8", "surrogateescape"):
        code = ord(character)
        if 0xdc80 <= code <= 0xdcff:
            out += f"\\x{code - 0xdc00:02x}"
        elif ORDERS.match(character) or character in "\t\n":
            out += f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"
        else:
            out += "\\\\" if character == "\\" else character
    return out

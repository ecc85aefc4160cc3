#!/usr/bin/env python3
"""Sends one scrape of an invented platform to a gate: three tenants, six namespaces, 60 series a pod.

    scripts/example-traffic.py http://127.0.0.1:9201 [--release N] [--explode N] [--end]

The traffic of docs/limits.md. The same arguments send the same series. Another release has other pods, so all its
series are new. --end sends stale markers in place of samples, as Prometheus does when pods are gone. --explode gives `http_requests_total` in the namespace checkout a label `trace_id` with N values.
Prints how many series each namespace sent and how many of them the gate refused. Needs nothing but Python.
"""

import argparse
import http.client
import random
import struct
import sys
import time
import urllib.parse

NAMESPACES = [("shop", "checkout", 30), ("shop", "cart", 15), ("data", "search", 25), ("data", "reports", 7),
              ("infra", "kube-system", 90), ("infra", "monitoring", 12)]  # tenant, namespace, pods
HANDLERS = ("/", "/login", "/items")
CODES = ("200", "302", "404", "500", "503")
BOUNDS = (".005", ".01", ".025", ".05", ".1", ".25", ".5", "1", "2.5", "5", "10", "+Inf")
STALE = struct.pack("<Q", 0x7FF0000000000002)  # Prometheus' model/value/value.go
BATCH = 2000  # series in a request, as Prometheus sends them


def series_of(pod):
    """The 60 series of one pod, as label sets."""
    for name in ("up", "process_cpu_seconds_total", "process_resident_memory_bytes"):
        yield {**pod, "__name__": name}
    for handler in HANDLERS:
        for code in CODES:
            yield {**pod, "__name__": "http_requests_total", "handler": handler, "code": code}
        for bound in BOUNDS:
            yield {**pod, "__name__": "http_request_duration_seconds_bucket", "handler": handler, "le": bound}
        for part in ("sum", "count"):
            yield {**pod, "__name__": f"http_request_duration_seconds_{part}", "handler": handler}


def traffic(namespace, pod_count, release, trace_ids):
    """All series of one namespace; those with a trace id come last."""
    pods = [{"namespace": namespace, "pod": f"{namespace}-{release}-{n}"} for n in range(pod_count)]
    for pod in pods:
        yield from series_of(pod)
    dice = random.Random(release)
    for n in range(trace_ids):
        yield {**pods[n % pod_count], "__name__": "http_requests_total", "handler": "/", "code": "200",
               "trace_id": f"{dice.getrandbits(128):032x}"}


# --- remote write 1: protobuf in a snappy block

def varint(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out) + bytes([value])


def field(number, payload):
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def encode(series, milliseconds, value):
    """One WriteRequest.timeseries: the labels by name, and one sample."""
    labels = b"".join(field(1, field(1, name.encode()) + field(2, value.encode()))
                      for name, value in sorted(series.items()))
    sample = b"\x09" + value + b"\x10" + varint(milliseconds)
    return field(1, labels + field(2, sample))


def snappy_block(raw):
    """Valid snappy that does not compress: literals of at most 64 KiB."""
    parts = [raw[at:at + 65536] for at in range(0, len(raw), 65536)]
    return varint(len(raw)) + b"".join(struct.pack("<BH", 61 << 2, len(part) - 1) + part for part in parts)


def send(connection, tenant, batch, value):
    """@return how many series of the batch the gate refused"""
    now = int(time.time() * 1000)
    connection.request("POST", "/api/v1/write", snappy_block(b"".join(encode(series, now, value) for series in batch)),
                       {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
                        "X-Prometheus-Remote-Write-Version": "0.1.0", "X-Scope-OrgID": tenant})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status // 100 != 2:
        sys.exit(f"example-traffic: answered {answer.status}: {body.decode(errors='replace').strip()}")
    return int(answer.headers.get("X-Seriesgate-Refused-Series", 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url", help="of the gate: http://127.0.0.1:9201")
    parser.add_argument("--release", type=int, default=1, help="which pods (default 1)")
    parser.add_argument("--explode", type=int, default=0, metavar="N", help="so many trace ids in checkout")
    parser.add_argument("--end", action="store_true", help="the pods end: send stale markers")
    asked = parser.parse_args()
    value = STALE if asked.end else struct.pack("<d", 1.0)
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(asked.url).netloc, timeout=30)

    print(f"{'namespace':<12} {'sent':>6} {'refused':>8}")
    for tenant, namespace, pod_count in NAMESPACES:
        explosion = asked.explode if namespace == "checkout" else 0
        series = list(traffic(namespace, pod_count, asked.release, explosion))
        refused = sum(send(connection, tenant, series[at:at + BATCH], value) for at in range(0, len(series), BATCH))
        print(f"{namespace:<12} {len(series):>6} {refused:>8}")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"example-traffic: {error}")

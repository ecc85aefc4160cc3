"""Programs that are measured, healthy at first: what a scrape of them shows, and what it shows once a label explodes."""

import hashlib
import itertools
from dataclasses import dataclass

from answering import Answering


@dataclass
class Scene:
    """`healthy` and `exploding`: by job, lines of a scrape; the latter from numbers that are new at each scrape."""
    name: str
    healthy: dict
    exploding: dict
    is_exploding: object  # whether a series (its labels as a dict) is part of it
    finds: str  # the label, or "__name__"
    has_rule: bool = True
    senders: tuple = ("Prometheus", "vmagent", "newest-Prometheus", "newest-vmagent")
    rules: int = 1


def numbers(count, line):
    """At each scrape `count` lines of new numbers."""
    return lambda scrape: [line(number) for number in range(scrape * count, (scrape + 1) * count)]


def hexadecimal(number, digits):
    return hashlib.sha256(str(number).encode()).hexdigest()[:digits]


def letters(number, alphabet, count=8):
    digest = int(hexadecimal(number, 40), 16)
    return "".join(alphabet[digest // len(alphabet) ** place % len(alphabet)] for place in range(count))


LOWER = "abcdefghijklmnopqrstuvwxyz"
PATHS = [f'shop_requests_total{{path="/p{i}"}} 1' for i in range(40)]


def has(label, job="shop"):
    return lambda series: label in series and series.get("job") == job


def within(name, label="request_id", value=lambda number: hexadecimal(number, 16), count=300):
    """The label explodes inside one metric of one target: what has none of it is healthy."""
    return {"shop": numbers(count, lambda number: f'{name}{{path="/p{number % 40}",{label}="{value(number)}"}} 1')}


SCENES = [
    Scene("a label inside one target", {"shop": PATHS}, within("shop_requests_total"), has("request_id"), "request_id"),
    Scene("a UUID", {"shop": PATHS}, within("shop_requests_total", "trace", lambda n: "-".join(
        (hexadecimal(n, 8), hexadecimal(n, 4), hexadecimal(n, 12)))), has("trace"), "trace"),
    Scene("addresses of people", {"shop": PATHS}, within("shop_requests_total", "email", lambda n: f"u{n}@example.org"),
          has("email"), "email"),
    Scene("a label with a dot in its name", {"shop": PATHS},
          {"shop": numbers(300, lambda n: f'shop_requests_total{{path="/p{n % 40}","client.address"="{hexadecimal(n, 12)}"}} 1')},
          has("client.address"), "client.address", senders=("newest-Prometheus", "newest-vmagent")),
    *(Scene(f"a label called {label}", {"shop": PATHS + [f"null_total{{kind=\"{kind}\"}} 1" for kind in "abcdefgh"]},
            within("shop_requests_total", label), has(label), label) for label in ("null", "on", "y")),
    Scene("a label that healthy series have, too",
          {"shop": PATHS + [f'shop_requests_total{{request_id="{name}"}} 1' for name in ("none", "health", "batch")]},
          within("shop_requests_total"), lambda series: len(series.get("request_id", "")) == 16, "request_id"),
    Scene("values as healthy ones are",
          {"shop": PATHS + [f'shop_requests_total{{request_id="{hexadecimal(-i, 16)}"}} 1' for i in range(1, 30)]},
          within("shop_requests_total"), None, "request_id", has_rule=False),
    Scene("another job has the label for good reasons",
          {"shop": PATHS, "audit": [f'shop_requests_total{{request_id="{hexadecimal(i, 16)}"}} 1' for i in range(50)]},
          within("shop_requests_total"), has("request_id"), "request_id"),
    Scene("names with numbers beside such names", {"node": ["node_load1 1", "node_load5 1", "node_load15 1"]},
          {"node": numbers(300, lambda n: f"node_load{1000 + n % 9000} 1")},
          lambda series: len(series["__name__"]) == len("node_load1000"), "__name__"),
    Scene("ids in names", {"shop": PATHS}, {"shop": numbers(300, lambda n: f"user_{hexadecimal(n, 12)}_total 1")},
          lambda series: series["__name__"].startswith("user_"), "__name__"),
    Scene("names of random letters", {"shop": PATHS}, {"shop": numbers(300, lambda n: f"user_{letters(n, LOWER)}_total 1")},
          lambda series: series["__name__"].startswith("user_"), "__name__"),
    Scene("names of base 36", {"shop": PATHS},
          {"shop": numbers(300, lambda n: f"user_x{letters(n, LOWER + '0123456789')}_total 1")},
          lambda series: series["__name__"].startswith("user_"), "__name__"),
    Scene("too many buckets of one job",
          {"good": [f'latency_bucket{{le="{i}"}} 1' for i in range(12)], "bad": PATHS},
          {"bad": lambda scrape: [f'latency_bucket{{path="/{scrape * 5 + i // 80}",le="0.{i % 80:03}"}} 1' for i in range(400)]},
          lambda series: series["__name__"] == "latency_bucket" and series["job"] == "bad", "le"),
    Scene("bounds of buckets without end", {"shop": PATHS + [f'latency_bucket{{le="{i}"}} 1' for i in range(12)]},
          {"shop": numbers(300, lambda n: f'latency_bucket{{le="{n / 1000}"}} 1')}, None, "le", has_rule=False),
    Scene("one label in forty metrics", {"shop": PATHS},
          {"shop": numbers(1200, lambda n: f'kind_{"abcdefghij"[n % 10]}{"klmn"[n // 10 % 4]}_total{{session="{hexadecimal(n, 16)}"}} 1')},
          has("session"), "session"),
    Scene("two labels that change together in two metrics",
          {"shop": PATHS, "other": [f'calls_total{{path="/{i}"}} 1' for i in range(50)]},
          {"shop": numbers(400, lambda n: f'{("calls", "errors")[n % 2]}_total{{trace="{hexadecimal(n, 16)}",span="{hexadecimal(n, 8)}"}} 1')},
          has("trace"), "trace|span"),
    Scene("a label in hundreds of metrics", {"shop": PATHS},
          {"shop": numbers(400, lambda n: f'kind_{letters(n % 400, LOWER, 4)}_total{{version="{hexadecimal(n, 12)}"}} 1')},
          has("version"), "version"),
    Scene("two jobs at once", {"shop": PATHS, "web": ["web_up 1"], "other": ["other_up 1"]},
          {job: numbers(200, lambda n, job=job: f'requests_total{{id="{job}{hexadecimal(n, 16)}"}} 1') for job in ("shop", "web")},
          lambda series: "id" in series, "id"),
    Scene("two explosions at once", {"shop": PATHS, "web": ["web_up 1"]},
          {**within("shop_requests_total"), "web": numbers(300, lambda n: f'visits_total{{visitor="{hexadecimal(n, 16)}"}} 1')},
          lambda series: "request_id" in series or "visitor" in series, "request_id|visitor", rules=2),
]


class Target(Answering):
    """A program of one job: `lines`, and once it explodes what `exploding` says of the number of the scrape."""

    def __init__(self, lines, exploding=None):
        self.lines, self._exploding, self.is_exploding = lines, exploding, False
        self._count = itertools.count()
        super().__init__(self._figures)

    def _figures(self, _):
        more = self._exploding(next(self._count)) if self.is_exploding and self._exploding else []
        return "".join(line + "\n" for line in self.lines + more).encode()

"""What a store may do with a request, well and badly: how much of it it reads, what it says, and how it ends."""

import random
from dataclasses import dataclass
from typing import Callable

OK, MAYBE = "answered 2xx", "2xx, and its body cut"
NONE = "no whole answer in time"


@dataclass(frozen=True)
class Way:
    """`says(choose, counts)`: the bytes of the answer; `counts` are the header lines of remote write 2. `reads`: "all" of the
    request, "head" or "half"; `pause`: seconds before it says anything, between these; `ends`: "stays" open, or
    "closes", "resets", "hangs" (open, and silent), "is deaf" (and does not even read) or "floods" (`flood` again and
    again) after what it has said.
    `weight`: how often in 1,000 requests of a mixed run."""

    verdict: object
    says: Callable = lambda choose, counts: b""
    reads: str = "all"
    pause: tuple = None
    ends: str = "stays"
    flood: bytes = b""
    weight: int = 0


def _good(_, counts):
    return f"HTTP/1.1 204 No Content\r\n{counts}\r\n".encode()


def _with_body(_, counts):
    return f"HTTP/1.1 200 OK\r\n{counts}Content-Length: 13\r\n\r\nstored it all".encode()


def _chunked(_, counts):
    return f"HTTP/1.1 200 OK\r\n{counts}Transfer-Encoding: chunked\r\n\r\n6\r\nstored\r\n0\r\n\r\n".encode()


def _interim(choose, counts):
    return choose.choice((b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 102 Processing\r\n\r\n" * 3,
                          b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")) + _good(choose, counts)


def _error(status):
    def says(choose, _):
        retry = choose.choice(("", "Retry-After: 1\r\n"))
        return f"HTTP/1.1 {status} No\r\n{retry}Content-Length: 3\r\n\r\nno\n".encode()
    return says


def _cut(says, least, kept):
    """Without its end: at least so many bytes, and at least so many missing."""
    def cut(choose, counts):
        whole = says(choose, counts)
        return whole[:choose.randrange(least, len(whole) - kept)]
    return cut


def _cut_body(choose, counts):
    return _with_body(choose, counts)[:-choose.randrange(1, 12)]


def _text(data):
    return lambda choose, counts: data


MIXED = {
    "204": Way(OK, _good, weight=650),
    "200 chunked": Way(OK, _chunked, weight=60),
    "interim": Way(OK, _interim, weight=40),
    "says close": Way(OK, lambda choose, counts: _good(choose, counts + "Connection: close\r\n"), ends="closes", weight=20),
    "closes unasked": Way(OK, _good, ends="closes", weight=30),
    "500": Way(500, _error(500), weight=30),
    "503": Way(503, _error(503), weight=30),
    "429": Way(429, _error(429), weight=10),
    "400": Way(400, _error(400), weight=15),
    "closes": Way(NONE, ends="closes", weight=30),
    "resets": Way(NONE, ends="resets", weight=20),
    "cuts its head": Way(NONE, _cut(_good, 1, 4), ends="closes", weight=20),
    "cuts its body": Way(MAYBE, _cut_body, ends="closes", weight=10),
    "closes inside the request": Way(NONE, reads="head", ends="closes", weight=15),
    "slow": Way(OK, _good, pause=(0.01, 0.2), weight=15),
    "too slow": Way(NONE, _good, pause=(3.0, 3.0), weight=5),
}
"""Those of a mixed run; `upstream.timeout` is a second there."""

RUDE = {
    "resets inside the request": Way(NONE, reads="half", ends="resets"),
    "resets amid its head": Way(NONE, _cut(_good, 1, 4), ends="resets"),
    "cuts its chunks": Way(MAYBE, lambda choose, counts: _chunked(choose, counts)[:-choose.randrange(1, 14)], ends="closes"),
    "stops in its head": Way(NONE, _cut(_good, 1, 4), ends="hangs"),
    "stops in its body": Way(MAYBE, _cut_body, ends="hangs"),
    "says nothing": Way(NONE, ends="hangs"),
    "stops reading": Way(NONE, reads="half", ends="is deaf"),
    "just in time": Way(OK, _good, pause=(1.0, 1.2)),
    "garbage": Way(NONE, lambda choose, counts: choose.randbytes(300), ends="closes"),
    "another protocol": Way(NONE, _text(b"220 mail.example ESMTP ready\r\n"), ends="hangs"),
    "a status that is none": Way(NONE, _text(b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n")),
    "switches protocols": Way(NONE, _text(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n")),
    "endless headers": Way(NONE, _text(b"HTTP/1.1 200 OK\r\n"), ends="floods", flood=b"X-More: " + b"x" * 1000 + b"\r\n"),
    "an endless header": Way(NONE, _text(b"HTTP/1.1 200 OK\r\nX-Long: "), ends="floods", flood=b"x" * 4096),
    "a storm of interim answers": Way(NONE, ends="floods", flood=b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 10),
    "endless chunk extensions": Way(NONE, _text(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;"),
                                    ends="floods", flood=b"x" * 4096),
    "two answers": Way(OK, lambda choose, counts: _good(choose, counts) + _with_body(choose, counts)),
    "an error behind the answer": Way(OK, lambda choose, counts: _good(choose, counts) + _error(400)(choose, counts)),
    "more body than it said": Way(OK, lambda choose, counts: _with_body(choose, counts) + b"and more"),
    "an error before the body is read": Way(503, _error(503), reads="head", ends="closes"),
    "success before the body is read": Way(NONE, _with_body, reads="head", ends="resets"),
}

WAYS = {**MIXED, **RUDE}
_NAMES, _WEIGHTS = list(MIXED), [way.weight for way in MIXED.values()]


def mixed(arrival):
    """The ways of a mixed run, by weight."""
    return arrival.choose.choices(_NAMES, _WEIGHTS)[0]


def good(arrival):
    """Whatever a good store does."""
    return "204" if arrival.choose.random() < 0.8 else "200 chunked"


def chooser(seed, number, attempt, nth):
    return random.Random((seed << 60) ^ (number << 20) ^ (attempt << 4) ^ nth)

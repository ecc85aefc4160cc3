"""Answers in the wrapping of others: bytes of the store -> what the sender gets."""

import pytest

from recording_store import ACCEPTED, Last, RecordingStore
from smuggling import CHUNKED, NEXT, ONE, TWO

ANSWERS = {}
WITH_LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstored"
SECOND = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
IN_CHUNKS = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n%s\r\n6%s\r\nstored\r\n0\r\n%s\r\n"


def answer_rows(status, body, **named):
    """What the sender is told, and the body if it is the store's."""
    for name, data in named.items():
        assert name not in ANSWERS
        ANSWERS[name] = (data, status, body)


def with_fields(*fields, body=b"stored"):
    return b"\r\n".join([b"HTTP/1.1 200 OK", *fields]) + b"\r\n\r\n" + body


answer_rows(200, b"stored", **{
    "as it should be": WITH_LENGTH,
    "in chunks": IN_CHUNKS % (b"", b"", b""),
    "with extensions and trailers": IN_CHUNKS % (b"", b";a=\"b\"", b"Content-Type: x/y\r\nSet-Cookie: z\r\nConnection: close\r\n"),
    "to the end of the connection": Last(with_fields()),
    "of HTTP/1.0": Last(b"HTTP/1.0 200 OK\r\n\r\nstored"),
    "two answers in one": WITH_LENGTH + SECOND,
    "two answers, the first in chunks": IN_CHUNKS % (b"", b"", b"") + SECOND,
    "the same length twice": with_fields(b"Content-Length: 6", b"Content-Length: 6"),
    "more than the length": WITH_LENGTH + b"more",
    "bytes of a next answer": WITH_LENGTH + b"HTTP/1.1 200",
    "interim answers first": b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + WITH_LENGTH,
    "an interim answer with a length": b"HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\n\r\n" + WITH_LENGTH,
    "a control's look-alike in a field": with_fields(b"Content-Length: 6", b"X: a%0d%0aSet-Cookie: b"),
})
answer_rows(204, b"", **{
    "204": ACCEPTED,
    "204 with a length and a body": b"HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nevil",
    "204 with chunks": b"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nevil\r\n0\r\n\r\n",
    "204 and a second answer": ACCEPTED + SECOND,
    "204 with a second answer for a body": b"HTTP/1.1 204 No Content\r\nContent-Length: %d\r\n\r\n%s" % (len(SECOND), SECOND),
})
answer_rows(304, b"", **{"304 with a length and a body": b"HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\nevil"})
answer_rows(502, None, **{
    "CL and TE": with_fields(b"Content-Length: 6", CHUNKED, body=b"6\r\nstored\r\n0\r\n\r\n"),
    "TE and CL": with_fields(CHUNKED, b"Content-Length: 6", body=b"6\r\nstored\r\n0\r\n\r\n"),
    "two lengths": with_fields(b"Content-Length: 6", b"Content-Length: 4"),
    "two lengths in a list": with_fields(b"Content-Length: 6, 4"),
    "two TE": IN_CHUNKS % (CHUNKED + b"\r\n", b"", b""),
    "another coding": Last(with_fields(b"Transfer-Encoding: gzip")),
    "two codings": with_fields(b"Transfer-Encoding: gzip, chunked", body=b"6\r\nstored\r\n0\r\n\r\n"),
    "chunks of HTTP/1.0": b"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nstored\r\n0\r\n\r\n",
    "a folded field": with_fields(b"Content-Length: 6", b"X: y", b" Set-Cookie: z"),
    "bare CR in a field": with_fields(b"Content-Length: 6", b"X: y\rSet-Cookie: z"),
    "bare LF in a field": with_fields(b"Content-Length: 6", b"X: y\nSet-Cookie: z"),
    "NUL in a field": with_fields(b"Content-Length: 6", b"X: y\0"),
    "bare LF everywhere": WITH_LENGTH.replace(b"\r\n", b"\n"),
    "white space before a colon": with_fields(b"Content-Length : 6"),
    "no colon": with_fields(b"Content-Length: 6", b"evil"),
    "no name": with_fields(b"Content-Length: 6", b": evil"),
    "a length with a sign": with_fields(b"Content-Length: +6"),
    "a length over 64 bits": with_fields(b"Content-Length: 18446744073709551622"),
    "an empty length": with_fields(b"Content-Length:"),
    "a chunk's size with a sign": with_fields(CHUNKED, body=b"+6\r\nstored\r\n0\r\n\r\n"),
    "a chunk that goes on": with_fields(CHUNKED, body=b"6\r\nstoredx\r\n0\r\n\r\n"),
    "bare LF behind a chunk": with_fields(CHUNKED, body=b"6\r\nstored\n0\r\n\r\n"),
    "a length in a trailer": IN_CHUNKS % (b"", b"", b"Content-Length: 4\r\n"),
    "an empty line first": b"\r\n" + WITH_LENGTH,
    "an answer of HTTP/0.9": Last(b"stored"),
    "an answer of HTTP/2": b"\0\0\x12\x04\0\0\0\0\0" + bytes(18),
    "HTTP/1.2": WITH_LENGTH.replace(b"1.1", b"1.2"),
    "a status of two digits": b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
    "a status of four digits": b"HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
    **{f"{status}, a status that there is not": b"HTTP/1.1 %s OK\r\nContent-Length: 0\r\n\r\n" % status
       for status in (b"000", b"099", b"600", b"999")},
    "101": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n" + SECOND,
    "less than the length": Last(with_fields(b"Content-Length: 60")),
    "less than a chunk": Last(with_fields(CHUNKED, body=b"60\r\nstored\r\n")),
    "no last chunk": Last(with_fields(CHUNKED, body=b"6\r\nstored\r\n")),
    "a request": NEXT,
})


@pytest.fixture
def answering(start_gate):
    """A gate with one thread, so that it comes back to a connection that it keeps, and a store whose answers a test says."""
    with RecordingStore() as store:
        yield start_gate(config=f"upstream: {{url: '{store.url}', timeout: 10s}}\nserver: {{threads: 1}}\n"), store


def test_no_answer_is_taken_for_another(answering):
    gate, store = answering
    for name, (data, status, body) in ANSWERS.items():
        store.answer = lambda message, data=data: data
        reply = gate.send(ONE)
        assert reply.status == status, name
        if body is None:
            assert reply.get("Content-Type") == "text/plain; charset=utf-8", name
            assert b"evil" not in reply.body and b"Set-Cookie" not in reply.body, name
        else:
            assert reply.body == body, name
        assert reply.get("Set-Cookie") is None, name
        store.answer = lambda message: b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhonest"
        for _ in range(2):
            assert gate.send(TWO).body == b"honest", name
        assert [each.body for each in store.take()] == [ONE, TWO, TWO], name

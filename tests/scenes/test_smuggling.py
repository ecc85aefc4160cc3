"""Requests in the wrapping of others: bytes sent -> answers -> what the store saw, byte for byte.

Behind the bytes of every row comes one more whole request, as a smuggler would have it. Either both sides agree where it begins,
or nobody hears of it: the connection is closed. What the store sees is read by strict_http.py. "3.5" is RFC 9112, section 3.5.
"""

import random
import re

import pytest

import strict_http
import tables
import wire
from gate import Gate
from recording_store import ACCEPTED, RecordingStore
from smuggling import CHUNKED, HOST, MEDIA, NEXT, ONE, TWO, chunk, chunked, chunks, length_of, request
from world import socket

HOP = {"connection", "keep-alive", "proxy-connection", "proxy-authenticate", "proxy-authorization", "te", "trailer",
       "transfer-encoding", "upgrade", "host", "content-length", "expect"}

MEDIA_NAMES = {"content-type", "content-encoding"}

ONE_WORLD = True  # one gate and one store for all tables

FINAL_STATUS = re.compile(rb"HTTP/1\.[01] [2-5]")

#: The row is one sound request: it and the next are served.
BOTH = [204, 204], [ONE, TWO]
#: Where it ends is in doubt, or it is no HTTP: answered once, and nothing behind it is looked at.
DOUBT = [400], []

TABLE = {}  # what it is about: {the name of a row: (bytes, statuses, what the store saw)}


def about(what):
    """The rows that follow are one test."""
    TABLE[what] = {}


def rows(ending, **named):
    """`ending`: the statuses of all answers, and the bodies that the store saw."""
    for name, data in named.items():
        assert not any(name in table for table in TABLE.values())
        list(TABLE.values())[-1][name] = (data, *ending)


def each(ending, name, made):
    rows(ending, **{f"{name} {key!r}"[:70]: data for key, data in made.items()})


about("sound requests")
rows(BOTH, **{
    "as it should be": request(length_of(ONE)),
    "in chunks": chunked(chunks(ONE)),
    "in many chunks": chunked(chunks(*(bytes([byte]) for byte in ONE))),
})

# --- two measures (6.1, 6.3)

about("two measures")

both_measures = chunks(ONE)
rows(DOUBT, **{
    "CL.TE": request(length_of(both_measures), CHUNKED, body=both_measures),
    "TE.CL": request(CHUNKED, length_of(both_measures), body=both_measures),
    "CL.TE, the length of what stands before": request(b"Content-Length: 0", CHUNKED, body=both_measures),
    "TE.CL, a request in the chunk": request(CHUNKED, b"Content-Length: 4", body=chunks(NEXT)),
    "CL.TE, TE in capitals": request(length_of(both_measures), b"TRANSFER-ENCODING: CHUNKED", body=both_measures),
    "CL.TE of another coding": request(length_of(ONE), b"Transfer-Encoding: identity"),
    "two TE, both chunked": request(CHUNKED, CHUNKED, body=both_measures),
    "two TE, the first unknown": request(b"Transfer-Encoding: x", CHUNKED, body=both_measures),
    "two TE, the last unknown": request(CHUNKED, b"Transfer-Encoding: x", body=both_measures),
    "two TE, the first empty": request(b"Transfer-Encoding:", CHUNKED, body=both_measures),
    "HTTP/1.0 with TE": chunked(both_measures, line=b"POST /api/v1/write HTTP/1.0"),
    "HTTP/1.0 with TE that stays": chunked(both_measures, b"Connection: keep-alive", line=b"POST /api/v1/write HTTP/1.0"),
    "HTTP/1.0 with CL and TE": request(length_of(ONE), CHUNKED, line=b"POST /api/v1/write HTTP/1.0"),
})

each(DOUBT, "TE", {value: request(b"Transfer-Encoding:" + value, body=both_measures) for value in [
    b" xchunked", b" chunkedx", b" chunked, identity", b" identity, chunked", b" gzip, chunked", b" chunked, chunked",
    b" chunked,", b" ,chunked", b" chunked;q=1", b" \"chunked\"", b" 'chunked'", b" chunk ed", b" \x0bchunked",
    b" \x0cchunked", b" chunked\x0b", b" chunked\0", b" \0chunked", b" chunked\r", b" \rchunked", b" \nchunked", b" chunked\n",
    b"", b" identity", b" \xa0chunked", b" c\xc4\xa7unked", b"\r\n chunked", b" chunked\r\n , identity", b" chunked\x7f"]})
each(BOTH, "TE that is chunked,", {value: request(b"Transfer-Encoding:" + value, body=both_measures) for value in [
    b"chunked", b"\tchunked", b"  chunked  ", b" chunked\t", b" Chunked"]})
each(DOUBT, "a name like TE,", {name: request(name + b" chunked", body=both_measures) for name in [
    b"Transfer-Encoding :", b"Transfer-Encoding\t:", b" Transfer-Encoding:", b"\tTransfer-Encoding:", b"Transfer Encoding:",
    b"Transfer-Encoding\0:", b"\x0bTransfer-Encoding:", b"Transfer-Encoding\r:", b"X: y\nTransfer-Encoding:",
    b"X: y\rTransfer-Encoding:", b"X:\r\r\nTransfer-Encoding:", b"Transfer-Encoding", b"Transfer\xadEncoding:"]})
# Other names are other fields: no measure. A POST without one has no body, which is no remote write and leaves chunks behind.
each(([400, 400], []), "another field,", {name: request(name + b": chunked", body=both_measures) for name in [
    b"Transfer_Encoding", b"Transfer-Encodin", b"X-Transfer-Encoding", b"Transfer--Encoding", b"TE"]})

# --- lengths (8.6 of RFC 9110)

about("lengths")

each(DOUBT, "CL", {value: request(b"Content-Length:" + value.replace(b"N", b"%d" % len(ONE))) for value in [
    b" +N", b" -N", b" -0", b" 0xN", b" 0x1f", b" N.0", b" NeN", b" 1e1", b" N N", b" N, 5", b" 5, N", b" N,", b" ,N", b" N;", b" N\0",
    b" \x0bN", b" N\x0b", b" N\r", b" N\n", b"", b" ,", b" N,,N", b" \"N\"", b" N_0", b" \xb2", b"\r\n N", b" N\r\n 0", b" N\r\n\t",
    b" 18446744073709551616", b" 18446744073709551617", b" 99999999999999999999999", b" -1", b" NaN", b" N, +N", b" N;a"]})
# Known, and more than there may be (server.maxRequestBytes): the gate says so and closes.
each(DOUBT, "too large a CL,", {value: request(b"Content-Length: %d" % value) for value in [
    1 << 31, 1 << 32, (1 << 32) + len(ONE), (1 << 63) - 1, 1 << 63, (1 << 63) + len(ONE), (1 << 64) - 1]})
# 8.6: the same number again may be taken for that number. Only one goes on.
each(BOTH, "CL that is sound,", {value: request(b"Content-Length:" + value.replace(b"N", b"%d" % len(ONE))) for value in [
    b"N", b"\tN \t", b" 0N", b" 0000000000000000000000000N", b" N, N", b" N ,\tN", b" N, 0N"]})
rows(BOTH, **{"two CL, the same": request(length_of(ONE), length_of(ONE))})
rows(DOUBT, **{
    "two CL, the first is right": request(length_of(ONE), b"Content-Length: 0"),
    "two CL, the last is right": request(b"Content-Length: 0", length_of(ONE)),
    "two CL, one is empty": request(length_of(ONE), b"Content-Length:"),
    "two CL, one behind the other": request(length_of(ONE) + b"\rContent-Length: 0"),
})
each(DOUBT, "a name like CL,", {name: request(name + b" %d" % len(ONE)) for name in [
    b"Content-Length :", b"Content-Length\t:", b" Content-Length:", b"Content-Length\0:", b"Content Length:", b"\0Content-Length:"]})
each(([400, 400], []), "no length,", {name: request(name + b": %d" % len(ONE)) for name in [
    b"Content_Length", b"Content-Lengt", b"X-Content-Length"]})
rows(([400, 400], []), **{"no measure: no body, and what follows is no request": request()})

# --- lines (2.2, 5)

about("lines")

sound = request(length_of(ONE))
rows(DOUBT, **{
    "bare LF everywhere": sound.replace(b"\r\n", b"\n", sound.count(b"\r\n")),
    "bare LF behind the request line": sound.replace(b"\r\n", b"\n", 1),
    "bare CR behind the request line": sound.replace(b"\r\n", b"\r", 1),
    "bare LF at the end of a field": request(b"X: y\nX2: y", length_of(ONE)),
    "bare CR in a field": request(b"X: y\rX2: y", length_of(ONE)),
    "bare LF at the end of the header": sound.replace(b"\r\n\r\n", b"\r\n\n"),
    "two bare LF at the end of the header": sound.replace(b"\r\n\r\n", b"\n\n"),
    "LF CR": sound.replace(b"\r\n", b"\n\r", 1),
    "CR CR LF": sound.replace(b"\r\n", b"\r\r\n", 1),
    "an empty line first": b"\r\n" + sound,
    "a bare LF first": b"\n" + sound,
    "white space first": b" " + sound,
    "a folded field": request(b"X: y", b" z", length_of(ONE)),
    "a folded field, by a tab": request(b"X: y", b"\tz", length_of(ONE)),
    "a fold with nothing in it": request(b"X: y", b" ", length_of(ONE)),
    "a folded empty field": request(b"X:", b" Content-Length: 0", length_of(ONE)),
    "a fold before the first field": request(b"X: y", length_of(ONE), host=b" Host: gate"),
    "a field without a colon": request(b"X y", length_of(ONE)),
    "a field without a name": request(b": y", length_of(ONE)),
    "white space before the colon": request(b"X : y", length_of(ONE)),
})
each(DOUBT, "in a name", {bytes([byte]): request(b"X%sY: z" % bytes([byte]), length_of(ONE))
                          for byte in b"\0\x01\t\x0b\x1b \"(),/;<=>?@[\\]{}\x7f\x80\xff"})
each(DOUBT, "in a value", {bytes([byte]): request(b"X: y%sz" % bytes([byte]), length_of(ONE))
                           for byte in b"\0\x01\x08\x0a\x0b\x0c\x0d\x0e\x1b\x1f\x7f"})
each(BOTH, "in a value,", {bytes([byte]): request(b"X: y%sz" % bytes([byte]), length_of(ONE))
                           for byte in b"\t \"(),/:;<=>?@[\\]{}\x80\xff"})
each(DOUBT, "request line", {line: request(length_of(ONE), line=line) for line in [
    b"POST  /api/v1/write HTTP/1.1", b"POST /api/v1/write  HTTP/1.1", b"POST /api/v1/write HTTP/1.1 ",
    b"POST\t/api/v1/write HTTP/1.1", b"POST /api/v1/write\tHTTP/1.1", b"POST /api/v1/write HTTP/1.1\t", b"POST /api/v1/write",
    b"POST /api/v1/write ", b"/api/v1/write HTTP/1.1", b"POST HTTP/1.1", b" POST /api/v1/write HTTP/1.1", b"POST /api/v1/write http/1.1",
    b"POST /api/v1/write HTTP/1.2", b"POST /api/v1/write HTTP/2.0", b"POST /api/v1/write HTTP/0.9", b"POST /api/v1/write HTTP/11",
    b"POST /api/v1/write HTTP/1.10", b"POST /api/v1/write HTTP/01.1", b"POST /api/v1/write HTTP/1.1.", b"POST /api/v1/write HTTPS/1.1",
    b"POST /api/v1/write HTTP/+1.1", b"POST /api/v1/write HTTP/1.\xb9", b"P(ST /api/v1/write HTTP/1.1", b"POST: /api/v1/write HTTP/1.1",
    b"POST /api/v1/write\0 HTTP/1.1", b"POST /api/v1/wr\x01ite HTTP/1.1", b"POST /api/v1/write HTTP/1.1\0", b"POST /api/v1/wr ite HTTP/1.1",
    b"POST /api/v1/write\x7f HTTP/1.1", b"POST /api/v1/write HTTP/1.1\rX:", b"POST /api/v1/write\r HTTP/1.1"]})
rows(DOUBT, **{
    "HTTP/0.9": b"GET /metrics\r\n",
    "HTTP/0.9 for writing": b"POST /api/v1/write\r\n",
    "the preface of HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0",
    "a proxy's own header": b"PROXY TCP4 10.0.0.1 10.0.0.2 1234 80\r\n",
    "a hello of TLS": b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03" + bytes(64),
    "an answer": ACCEPTED,
})
rows(([431], []), **{
    "a very long request line": request(length_of(ONE), line=b"POST /api/v1/write?" + b"a" * 70_000 + b" HTTP/1.1"),
    "a very long method": b"P" * 70_000 + b" /api/v1/write HTTP/1.1\r\n",
    "a very long field": request(b"X: " + b"a" * 70_000, length_of(ONE)),
    "a hundred fields and more": request(*[b"X: y"] * 100, length_of(ONE)),
})
# Another target or method, and a body that has not been read: the connection ends.
each(([404], []), "another target,", {target: request(length_of(ONE), line=b"POST %s HTTP/1.1" % target) for target in [
    b"*", b"gate:80", b"/api/v1/./write", b"/api/v1/write%20", b"/api/v1/write%00", b"/api%2fv1/write", b"/%2e/api/v1/write",
    b"/api/v1/write;a=b", b"/api/v1/write#", b"/API/v1/write", b"/api\\v1\\write", b"/x/../api/v1/write", b"http:///api/v1/write",
    b"ftp://gate/api/v1/write", b"/api/v1/write\xff", b"http://user@gate/api/v1/write", b"http://other/api/v1/write"]})
each(BOTH, "the same target,", {target: request(length_of(ONE), line=b"POST %s HTTP/1.1" % target) for target in [
    b"/api/v1/write/", b"//api/v1/write", b"/%61pi/v1/write", b"http://gate/api/v1/write", b"http://gate:80//api/v1/write/"]})
rows(([405], []), **{"the root of the same host": request(length_of(ONE), line=b"POST http://gate HTTP/1.1")})
each(([405], []), "another method,", {method: request(length_of(ONE), line=b"%s /api/v1/write HTTP/1.1" % method) for method in [
    b"PUT", b"post", b"Post", b"POSTS", b"PATCH", b"DELETE", b"TRACE", b"CONNECT", b"PO-ST", b"X"]})
rows(([404], []), **{"CONNECT to a host": request(length_of(ONE), line=b"CONNECT gate:80 HTTP/1.1")})

# --- chunks (7.1)

about("chunks")

half = len(ONE) // 2
each(DOUBT, "size of a chunk", {size: chunked(chunk(ONE, size.replace(b"N", b"%x" % len(ONE))) + b"0\r\n\r\n") for size in [
    b"+N", b"-N", b"-1", b"0xN", b" N", b"\tN", b"N ", b"N\t", b"", b"Ng", b"N.0", b"N,N", b"N N", b"N\0", b"\0N", b"10000000000000000",
    b"1%016x" % len(ONE), b"ffffffffffffffffff", b"N\x0b", b"N;", b"N; ", b"N;=", b"N;a=", b"N;;a", b"N;a=b;", b"N;a b", b"N:a=b",
    b"N;a=\"b\nc\"", b"N;a=\"b\0c\"", b"N;\na", b"N;a\n", b"N;a\rb", b"N\r", b"N\n0", b"N;a=\"\n\"", b"N;a=\"b\x1bc\"", b"N;a=\"\\\n\""]})
each(BOTH, "size of a chunk,", {size: chunked(chunk(ONE, size.replace(b"N", b"%x" % len(ONE))) + b"0\r\n\r\n") for size in [
    b"0N", b"000000000000000000000000N", b"N;a", b"N;a=b", b"N;a=\"b;c\"", b"N ; a = b", b"N;a;b=c", b"N;a=\"\\\"\""]})
each(DOUBT, "last chunk", {last: chunked(chunk(ONE) + last + b"\r\n\r\n") for last in [
    b"0x0", b"-0", b"0 ", b" 0", b"0;", b"0;a=\"\n\"", b"0\n", b"00x", b"0;a=\"\r\n\"", b"0\0"]})
each(BOTH, "last chunk,", {last: chunked(chunk(ONE) + last + b"\r\n\r\n") for last in [b"0", b"000", b"0;a", b"0;a=\"b\""]})
each(DOUBT, "between chunks", {end: chunked(chunk(ONE[:half], end=end) + chunk(ONE[half:]) + b"0\r\n\r\n") for end in [
    b"", b"\n", b"\r", b"\n\n", b"\n\r", b"xx", b"\r\r\n", b" \r\n", b"x\r\n", b"\0\r\n", b"\r\n\r\n"]})
rows(DOUBT, **{
    "chunk with bare LF behind its size": chunked(b"%x\n%s\r\n0\r\n\r\n" % (len(ONE), ONE)),
    "chunk with bare CR behind its size": chunked(b"%x\r%s\r\n0\r\n\r\n" % (len(ONE), ONE)),
    "last chunk with bare LF": chunked(chunk(ONE) + b"0\n\n"),
    "last chunk with LF at the end": chunked(chunk(ONE) + b"0\r\n\n"),
    "last chunk with LF behind its size": chunked(chunk(ONE) + b"0\n\r\n"),
    "one byte more than announced": chunked(chunk(ONE + b"x", b"%x" % len(ONE)) + b"0\r\n\r\n"),
    "extension of 9 KB": chunked(b"%x;a=%s\r\n%s\r\n0\r\n\r\n" % (len(ONE), b"b" * 9000, ONE)),
    "size of 9 KB": chunked(b"%s%x\r\n%s\r\n0\r\n\r\n" % (b"0" * 9000, len(ONE), ONE)),
    "trailers of 9 KB": chunked(chunks(ONE, last=b"0\r\nX: %s\r\n\r\n" % (b"y" * 9000))),
    "trailer with bare LF": chunked(chunks(ONE, last=b"0\r\nX: y\n\r\n\r\n")),
    "trailer with bare CR": chunked(chunks(ONE, last=b"0\r\nX: y\rz\r\n\r\n")),
    "trailer without a colon": chunked(chunks(ONE, last=b"0\r\nX\r\n\r\n")),
    "trailer with NUL": chunked(chunks(ONE, last=b"0\r\nX: \0\r\n\r\n")),
    "Content-Length in a trailer": chunked(chunks(ONE, last=b"0\r\nContent-Length: 5\r\n\r\n")),
    "Transfer-Encoding in a trailer": chunked(chunks(ONE, last=b"0\r\nTransfer-Encoding: chunked\r\n\r\n")),
    "no size behind a chunk": chunked(chunk(ONE) + b"\r\n"),
})
rows(BOTH, **{
    "trailer that folds: it is dropped": chunked(chunks(ONE, last=b"0\r\nX: y\r\n z\r\n\r\n")),
    "trailers": chunked(chunks(ONE, last=b"0\r\nX: y\r\nX-Scope-OrgID: other\r\n\r\n")),
    "Host in a trailer": chunked(chunks(ONE, last=b"0\r\nHost: other\r\n\r\n")),
    "Connection in a trailer": chunked(chunks(ONE, last=b"0\r\nConnection: close\r\n\r\n")),
})
rows(([204, 400], [ONE]), **{
    "bytes behind the last chunk": chunked(chunks(ONE)) + b"\r\n",
    "bytes behind the body": request(length_of(ONE)) + b"\r\n",
    "a chunk behind the last one": chunked(chunks(ONE)) + chunk(TWO),
    "NUL behind the body": request(length_of(ONE)) + b"\0",
})

rows(([204, 405], [ONE]), **{"bytes before the next method": request(length_of(ONE)) + b"OST"})

# --- what follows a rejected request

about("what follows a rejected request")

rows(([400, 204], [TWO]), **{
    "a body that does not decode": request(b"Content-Length: 3", body=b"bad"),
    "chunks that do not decode": chunked(chunks(b"bad")),
})
rows(([415, 204], [TWO]), **{"another medium": request(b"Content-Type: text/plain", length_of(ONE)).replace(MEDIA[1] + b"\r\n", b"")})
rows(([404, 204], [TWO]), **{"no such path, and no body": request(b"Content-Length: 0", line=b"POST /none HTTP/1.1", body=b"")})
rows(([404], []), **{"no such path, and chunks": chunked(chunks(ONE), line=b"POST /none HTTP/1.1")})
rows(([200, 204], [TWO]), **{"GET without a body": request(line=b"GET /api/v1/write HTTP/1.1", body=b"")})
rows(([204, 204], [TWO]), **{"OPTIONS without a body": request(line=b"OPTIONS /api/v1/write HTTP/1.1", body=b"")})
rows(([200], []), **{"GET with a body": request(length_of(ONE), line=b"GET /api/v1/write HTTP/1.1")})
rows(([204], []), **{"OPTIONS with a body": request(length_of(ONE), line=b"OPTIONS /api/v1/write HTTP/1.1")})
rows(([200, 204], [TWO]), **{
    "GET with a length": request(length_of(ONE), line=b"GET /health HTTP/1.1"),
    "GET in chunks": chunked(chunks(ONE), line=b"GET /health HTTP/1.1"),
    "GET with a request in its body": request(length_of(NEXT), line=b"GET /health HTTP/1.1", body=NEXT),
    "GET without": request(line=b"GET /health HTTP/1.1", body=b""),
    "HEAD with a length": request(length_of(ONE), line=b"HEAD /health HTTP/1.1"),
    "HEAD with a request in its body": request(length_of(NEXT), line=b"HEAD /health HTTP/1.1", body=NEXT),
})
rows(DOUBT, **{
    "GET with CL and TE": request(length_of(ONE), CHUNKED, line=b"GET /health HTTP/1.1"),
    "HEAD with two CL": request(length_of(ONE), b"Content-Length: 0", line=b"HEAD /health HTTP/1.1"),
})
rows(([], []), **{
    "a body that is longer than what comes": request(b"Content-Length: %d" % (len(ONE) + len(NEXT) + 1)),
    "a chunk that is longer than what comes": chunked(chunk(ONE, b"%x" % 5000)),
    "a huge chunk": chunked(chunk(ONE, b"ffffffffffffffff")),
    "a quoted extension without an end": chunked(chunk(ONE, b"%x;a=\"" % len(ONE)) + b"0\r\n\r\n"),
    "a last chunk with such an extension": chunked(chunk(ONE) + b"0;a=\"\r\n\r\n"),
})
# The next request is the end of this one's body: one request, which does not decode.
rows(([400], []), **{"a body that has the next request in it": request(b"Content-Length: %d" % (len(ONE) + len(NEXT)))})

# --- Host (3.2), Expect (10.1.1 of RFC 9110), Connection (9.6), Upgrade

about("Host, Expect, Connection, Upgrade")

rows(DOUBT, **{
    "no Host": request(length_of(ONE), host=None),
    "two Host": request(HOST, length_of(ONE)),
    "two Host, in other cases": request(b"hOST: other", length_of(ONE)),
    "absolute-form without Host": request(length_of(ONE), line=b"POST http://gate/api/v1/write HTTP/1.1", host=None),
})
each(DOUBT, "Host", {value: request(length_of(ONE), host=b"Host: " + value) for value in [
    b"gate other", b"gate/path", b"user@gate", b"gate\\", b"gate?", b"gate#", b"\"gate\"", b"gate\xff", b"<gate>", b"gate, other"]})
each(BOTH, "Host,", {value: request(length_of(ONE), host=b"Host: " + value) for value in [b"", b"gate:80", b"[::1]:80", b"x.test"]})
rows(BOTH, **{
    "Expect without waiting": request(length_of(ONE), b"Expect: 100-continue"),
    "Expect of something else": request(length_of(ONE), b"Expect: 200-ok"),
    "Expect that is nearly it": request(length_of(ONE), b"Expect: 100-continue, 100-continue"),
    "Expect, and chunks": chunked(chunks(ONE), b"Expect: 100-continue"),
    "Connection names Content-Length": request(length_of(ONE), b"Connection: Content-Length"),
    "Connection names Host": request(length_of(ONE), b"Connection: Host, Content-Type, Content-Encoding"),
    "Connection names Transfer-Encoding": chunked(chunks(ONE), b"Connection: Transfer-Encoding"),
    "Upgrade: h2c": request(length_of(ONE), b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk"),
    "Upgrade: websocket": request(length_of(ONE), b"Connection: Upgrade", b"Upgrade: websocket", b"Sec-WebSocket-Key: x"),
    "TE: trailers": request(length_of(ONE), b"TE: trailers", b"Connection: TE"),
    "X-HTTP-Method-Override": request(length_of(ONE), b"X-HTTP-Method-Override: GET"),
    "X-Original-URL": request(length_of(ONE), b"X-Original-URL: /admin", b"X-Rewrite-URL: /admin"),
    "Connection: keep-alive, twice": request(length_of(ONE), b"Connection: keep-alive", b"Connection: keep-alive"),
})
rows(([204], [ONE]), **{
    "Connection: close": request(length_of(ONE), b"Connection: close"),
    "Connection: close, keep-alive": request(length_of(ONE), b"Connection: close, keep-alive"),
    "Connection: keep-alive, and close in a second line": request(length_of(ONE), b"Connection: keep-alive", b"Connection: CLOSE"),
    "HTTP/1.0": request(length_of(ONE), line=b"POST /api/v1/write HTTP/1.0"),
    "HTTP/1.0 without Host": request(length_of(ONE), line=b"POST /api/v1/write HTTP/1.0", host=None),
    "HTTP/1.0 with Expect": request(length_of(ONE), b"Expect: 100-continue", line=b"POST /api/v1/write HTTP/1.0"),
})
rows(BOTH, **{
    "HTTP/1.0 that stays": request(length_of(ONE), b"Connection: keep-alive", line=b"POST /api/v1/write HTTP/1.0"),
})


# --- the table's test

class Front:
    """A gate before a store that keeps every byte."""

    def __init__(self, folder):
        self.store = RecordingStore()
        config = folder / "gate.yaml"
        config.write_text(f"upstream: {{url: '{self.store.url}'}}\nserver: {{threads: 2, maxRequestBytes: 1MiB}}\n")
        self.gate = Gate(config_file=config)

    def exchange(self, data, answers=0):
        """Sends the bytes, and the end of the connection once so many answers are there: a sender that ends it sooner may be
        taken for one that has given up. @return all that comes back, until the gate ends it"""
        with socket.create_connection(self.gate.address, 20) as connection:
            answered, ended = b"", False
            try:
                connection.sendall(data)
                while True:
                    if not ended and len(FINAL_STATUS.findall(answered)) >= answers:
                        ended = True
                        connection.shutdown(socket.SHUT_WR)
                    came = connection.recv(65536)
                    if not came:
                        return answered
                    answered += came
            except OSError:
                return answered  # it has seen enough

    def stop(self):
        self.store.take()
        self.gate.stop()
        self.store.stop()


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    made = Front(tmp_path_factory.mktemp("front"))
    yield made
    made.stop()


def by_name(fields):
    """The order of lines with different names means nothing (5.3 of RFC 9110)."""
    return sorted(fields, key=lambda field: field[0].lower())


def assert_like_the_sender_meant(seen, meant):
    """What the store saw is what was sent, but for what belongs to one hop and the gate's own lines."""
    assert (seen.start, seen.body) == (("POST", "/api/v1/write", 1), meant.body)
    # What the body is goes on in one spelling (test_legal_http.py).
    assert seen.get("content-type") in (None, b"application/x-protobuf")
    assert seen.get("content-encoding") in (None, b"snappy")
    declared = {name.strip().lower() for value in meant.all("connection") for name in value.decode("latin-1").split(",")}
    kept = {"content-type", "content-encoding", "authorization", "x-prometheus-remote-write-version", "x-scope-orgid",
            "thanos-tenant", "via"}
    passing = [(name, value) for name, value in meant.fields
               if name.lower() not in HOP | MEDIA_NAMES and (name.lower() not in declared or name.lower() in kept)]
    *others, (last, via) = [(name, value) for name, value in seen.fields if name.lower() not in HOP | MEDIA_NAMES]
    assert by_name(others) == by_name(passing)
    assert last == "Via" and via.startswith(b"1.1 seriesgate-")
    assert seen.get("content-length") == b"%d" % len(seen.body)
    assert not seen.all("transfer-encoding")


@pytest.mark.parametrize("rows_about", TABLE.values(), ids=TABLE)
def test_where_a_request_ends_is_never_in_doubt(front, rows_about):
    unasked = front.store.take()

    def ends_where_it_should(data, statuses, stored):
        unasked.extend(front.store.take())
        answered = front.exchange(data + NEXT, len(statuses))
        methods = [part.split(b" ", 1)[0].decode("latin-1") for part in (data, NEXT)]
        answers = [answer for answer in strict_http.read_answers(answered, methods) if answer.start[1] != 100]
        assert [answer.start[1] for answer in answers] == statuses
        seen = front.store.take()
        assert [message.body for message in seen] == stored
        meant, _ = strict_http.read_requests(data + NEXT)
        for message in seen:
            assert message.fields[0] == ("Host", front.store.host.encode())
            assert_like_the_sender_meant(message, next(each for each in meant if each.body == message.body))

    samples = front.gate.stats["samples"]["received"]
    tables.check_rows(rows_about, ends_where_it_should, front.gate)
    assert unasked + front.store.take() == []
    assert front.gate.stats["samples"]["received"] - samples == sum(len(stored) for _, _, stored in rows_about.values())


def test_no_row_was_lost():
    assert sum(map(len, TABLE.values())) >= 434


# --- the same by chance: a strict reading of what was sent has each request that the store saw, and in this order

SEEDS = 160
SEEDS_PER_TEST = 20
REQUESTS_PER_SEED = 25
PIECES = [b"\r", b"\n", b"\r\n", b"\0", b" ", b"\t", b":", b",", b";", b"=", b"\"", b"\\", b"0", b"1", b"f", b"x", b"-", b"+", b"\x0b",
          b"\x7f", b"\x80", b"\xff", b"0\r\n\r\n", b"\r\n\r\n", b"chunked", b"Content-Length: 0\r\n", b"Content-Length: 5\r\n",
          b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: x\r\n", b"Connection: close\r\n", b"Connection: x-y\r\n",
          b"Expect: 100-continue\r\n", b"Host: b\r\n", b"X-Y: z\r\n", b"Trailer: x\r\n", b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n", NEXT]


def seldom_sound(chance, at):
    """A few requests, whole and in chunks, then bytes of them changed: mostly in what frames them."""
    made = []
    for each in range(chance.randint(1, 4)):
        body = wire.pack(wire.sampled("up", job=f"{at}.{each}"))
        if chance.random() < 0.5:
            cuts = sorted(chance.sample(range(1, len(body)), chance.randint(0, 3)))
            parts = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)])]
            last = chance.choice([b"0\r\n\r\n", b"0;x\r\n\r\n", b"0\r\nX: y\r\n\r\n"])
            made.append(chunked(chunks(*parts, last=last), b"X-Y: z"))
        else:
            made.append(request(b"X-Y: z", length_of(body), body=body))
    data = bytearray(b"".join(made))
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
        spots = [at for at, byte in enumerate(data) if byte in b"\r\n:"] if chance.random() < 0.7 else range(len(data))
        spot = min(len(data), chance.choice(spots) + chance.randint(0, 2))
        length = chance.choice([0, 0, 1, 1, 2, chance.randint(0, 40)])
        data[spot:spot + length] = chance.choice([b"", chance.choice(PIECES), data[spot:spot + length] * 2])
    return bytes(data)


def in_order(seen, meant):
    """Pairs each request seen with the one meant, none twice; fails if there is none left."""
    left = iter(meant)
    for message in seen:
        yield message, next((each for each in left if each.body == message.body), None)


@pytest.mark.parametrize("first", range(0, SEEDS, SEEDS_PER_TEST))
def test_the_store_sees_what_a_strict_reading_of_the_sent_bytes_has(front, first):
    def sees_it(seed):
        chance = random.Random(seed)
        for at in range(REQUESTS_PER_SEED):
            data = seldom_sound(chance, f"{seed}.{at}") + NEXT
            front.store.take()
            answered = front.exchange(data)
            meant, end = strict_http.read_requests(data)
            seen = front.store.take()
            for message, original in in_order(seen, meant):
                assert original is not None, (data, message)
                assert_like_the_sender_meant(message, original)
            answers = [each for each in strict_http.read_answers(answered, [each.start[0] for each in meant])
                       if each.start[1] != 100]
            accepted = sum(each.start[1] == 204 for each in answers)
            assert accepted == len(seen), data
            assert len(answers) <= len(meant) + (end is not None), data

    tables.check_rows(tables.named(range(first, first + SEEDS_PER_TEST)), sees_it, front.gate)

"""What HTTP allows and honest senders write is taken: the table of docs/operation.md, "The HTTP that is taken", row by row."""

import recorded
import strict_http
from smuggling import CHUNKED, HOST, MEDIA, NEXT, ONE, TWO, chunk, chunks, length_of
from tables import check_rows
from test_smuggling import front  # noqa: F401 (a fixture)

ONE_WORLD = True

STORED = [204, 204], [ONE, TWO]
V2 = b"application/x-protobuf;proto=io.prometheus.write.v2.Request"


def write(*fields, line=b"POST /api/v1/write HTTP/1.1", host=HOST, media=tuple(MEDIA), body=ONE, measure=None):
    lines = [line, *([host] if host else []), *media, *fields, measure or length_of(body)]
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def to(target):
    return write(line=b"POST %s HTTP/1.1" % target)


def of_type(text):
    return write(media=(b"Content-Type: " + text, b"Content-Encoding: snappy"))


def encoded(text):
    return write(media=(b"Content-Type: application/x-protobuf", *([b"Content-Encoding:" + text] if text is not None else [])))


def ask(line, *fields, host=HOST):
    return b"\r\n".join([line, *([host] if host else []), *fields]) + b"\r\n\r\n"


ROWS = {
    # methods (RFC 9110, 9.1, 9.3)
    "OPTIONS of the root, as HAProxy's httpchk": (ask(b"OPTIONS / HTTP/1.0", host=None), [204], []),
    "OPTIONS of everything": (ask(b"OPTIONS * HTTP/1.1"), [204, 204], [TWO]),
    "OPTIONS of a path of ingestion": (ask(b"OPTIONS /api/v1/write HTTP/1.1"), [204, 204], [TWO]),
    "GET of a path of ingestion, as Vector": (ask(b"GET /api/v1/write HTTP/1.1", *MEDIA), [200, 204], [TWO]),
    "HEAD of a path of ingestion": (ask(b"HEAD /api/v1/write HTTP/1.1"), [200, 204], [TWO]),
    # targets (RFC 9112, 3.2; RFC 3986, 6.2.2)
    "absolute form": (to(b"http://gate/api/v1/write"), *STORED),
    "absolute form, upper case and port": (to(b"HTTP://GATE:80/api/v1/write?x=1"), *STORED),
    "absolute form of HTTP/1.0 without Host": (write(line=b"POST http://gate/api/v1/write HTTP/1.0", host=None), [204], [ONE]),
    "absolute form without a path": (ask(b"GET http://gate HTTP/1.1"), [200, 204], [TWO]),
    "a query": (to(b"/api/v1/write?extra=a%20b&&c"), *STORED),
    "an empty query": (to(b"/api/v1/write?"), *STORED),
    "two slashes": (to(b"//api//v1/write"), *STORED),
    "a slash at the end": (to(b"/api/v1/write/"), *STORED),
    "what needs no percent": (to(b"/api/v1/%77rite"), *STORED),
    "VictoriaMetrics' prefix": (to(b"/prometheus/api/v1/write"), *STORED),
    # Host (RFC 9112, 3.2)
    "an empty Host": (write(host=b"Host:"), *STORED),
    "a Host with port": (write(host=b"host:\tGATE.example:9201 "), *STORED),
    "a Host in brackets": (write(host=b"Host: [2001:db8::1]:9201"), *STORED),
    "HTTP/1.0 without Host": (write(line=b"POST /api/v1/write HTTP/1.0", host=None), [204], [ONE]),
    # connections (RFC 9112, 9.3)
    "HTTP/1.0 that stays": (write(b"Connection: Keep-Alive", line=b"POST /api/v1/write HTTP/1.0"), *STORED),
    "a list in Connection": (write(b"Connection: , keep-alive ,,"), *STORED),
    "Connection: close in a list": (write(b"Connection: x, Close"), [204], [ONE]),
    # bodies (RFC 9110, 10.1.1; RFC 9112, 7.1)
    "Expect": (write(b"expect:  100-CONTINUE "), *STORED),
    "chunks with extensions": (write(measure=CHUNKED, body=chunk(ONE[:9], b"9 ; a=b;c=\"d;e\"") + chunk(ONE[9:], b"%X;f" % (len(ONE) - 9))
                                     + b"000;g\r\n\r\n"), *STORED),
    "chunks with trailers": (write(measure=CHUNKED, body=chunks(ONE, last=b"0\r\nX-Checksum: a\r\nX-Empty:\r\n\r\n")), *STORED),
    "Chunked": (write(measure=b"transfer-encoding:Chunked", body=chunks(ONE)), *STORED),
    # what the body is (RFC 9110, 5.6, 8.3, 8.4)
    "no Content-Type": (write(media=(b"Content-Encoding: snappy",)), *STORED),
    "an empty Content-Type": (of_type(b""), *STORED),
    "a Content-Type in capitals": (of_type(b"APPLICATION/X-Protobuf"), *STORED),
    "another parameter": (of_type(b"application/x-protobuf; charset=utf-8"), *STORED),
    "a quoted parameter": (of_type(b"application/x-protobuf ;\tPROTO=\"prometheus.WriteRequest\""), *STORED),
    "the type of old clients": (of_type(b"application/vnd.google.protobuf"), *STORED),
    "no Content-Encoding": (encoded(None), *STORED),
    "an empty Content-Encoding": (encoded(b""), *STORED),
    "a Content-Encoding in capitals": (encoded(b" SNAPPY\t"), *STORED),
    "empty elements of a list": (encoded(b" ,snappy, ,"), *STORED),
}


def test_what_http_allows_is_taken(front):  # noqa: F811
    def is_taken(data, statuses, stored):
        front.store.take()
        answered = front.exchange(data + NEXT, len(statuses))
        methods = [part.split(b" ", 1)[0].decode() for part in (data, NEXT)]
        answers = [each for each in strict_http.read_answers(answered, methods) if each.start[1] != 100]
        assert [each.start[1] for each in answers] == statuses
        seen = front.store.take()
        assert [message.body for message in seen] == stored
        for message in seen:
            assert message.get("content-type") in (None, b"application/x-protobuf")
            assert message.get("content-encoding") in (None, b"snappy")

    check_rows(ROWS, is_taken, front.gate)


def test_version_2_is_told_by_its_name_however_it_is_spelt(front):  # noqa: F811
    v2 = recorded.bodies("prometheus-3.5-v2")[0]

    def is_version_2(spelt):
        front.store.take()
        data = write(media=(b"Content-Type: application/x-protobuf" + spelt, b"Content-Encoding: snappy"), body=v2)
        assert b" 204 " in front.exchange(data, 1)
        message, = front.store.take()
        assert (message.get("content-type"), message.body) == (V2, v2)

    check_rows({text.decode(): (text,) for text in [
        b";proto=io.prometheus.write.v2.Request", b"; proto=io.prometheus.write.v2.Request",
        b" ;\tPROTO = \"io.prometheus.write.v2.Request\"; charset=utf-8"]}, is_version_2, front.gate)

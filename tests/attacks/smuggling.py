"""Write requests, written by hand."""

import recorded
import wire

ONE, TWO = (wire.pack(wire.sampled("up", job=job)) for job in ("one", "two"))
LINE = b"POST /api/v1/write HTTP/1.1"
HOST = b"Host: gate"
MEDIA = [b"%s: %s" % (name.encode(), value.encode()) for name, value in recorded.HEADERS]
CHUNKED = b"Transfer-Encoding: chunked"


def length_of(body):
    return b"Content-Length: %d" % len(body)


def request(*fields, body=ONE, line=LINE, host=HOST):
    return b"\r\n".join([line, *([host] if host else []), *MEDIA, *fields]) + b"\r\n\r\n" + body


def chunk(body, size=None, end=b"\r\n"):
    return (b"%x" % len(body) if size is None else size) + b"\r\n" + body + end


def chunks(*parts, last=b"0\r\n\r\n"):
    return b"".join(chunk(part) for part in parts) + last


def chunked(body, *fields, line=LINE):
    return request(CHUNKED, *fields, body=body, line=line)


NEXT = request(length_of(TWO), body=TWO)

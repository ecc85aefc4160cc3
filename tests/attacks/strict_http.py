"""HTTP/1.1 messages read by the letter of RFC 9112, and by nothing of the gate: who reads otherwise is wrong.

What the grammar allows is taken, also where it is odd (zeros before a length, extensions of chunks); every leniency that the
RFC only permits (bare LF, folded lines in a header, white space before a colon, an empty line first) is refused.
"""

import re
from dataclasses import dataclass

TOKEN = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
REQUEST_LINE = re.compile(rb"(%s) ([\x21-\x7e]+) HTTP/1\.([01])" % TOKEN)
STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9]) [\t\x20-\x7e\x80-\xff]*")
FIELD = re.compile(rb"(%s):[ \t]*((?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?)[ \t]*" % TOKEN)
LENGTHS = re.compile(rb"[0-9]+(?:[ \t]*,[ \t]*[0-9]+)*")
HOST = re.compile(rb"[0-9A-Za-z\-._~%!$&'()*+,;=:\[\]]*")
QUOTED = rb'"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t \x21-\x7e\x80-\xff])*"'
CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]+)((?:[ \t]*;[ \t]*%s(?:[ \t]*=[ \t]*(?:%s|%s))?)*)" % (TOKEN, TOKEN, QUOTED))
FRAMING = {"content-length", "transfer-encoding"}


class Malformed(Exception):
    """These bytes are no message."""


class Incomplete(Exception):
    """More bytes are needed."""


@dataclass
class Message:
    start: tuple  # of a request: method, target, minor version; of an answer: minor version, status
    fields: list  # [(name, value)] as they stand there, in order
    body: bytes
    to_end: bool = False  # the body goes to the end of the connection

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name]

    def get(self, name):
        values = self.all(name)
        assert len(values) <= 1, f"{name} is there {len(values)} times"
        return values[0] if values else None


def read_request(data):
    """The first request in `data`. @return (Message, bytes it takes)"""
    line, lines, at = _head(data)
    match = REQUEST_LINE.fullmatch(line)
    if not match:
        raise Malformed(f"request line {line[:60]!r}")
    fields = [_field(each) for each in lines]
    message = Message((match[1].decode(), match[2].decode(), int(match[3])), fields, b"")
    hosts = message.all("host")
    if len(hosts) > 1 or (not hosts and message.start[2] == 1) or not all(HOST.fullmatch(host) for host in hosts):
        raise Malformed("Host")
    codings, lengths = message.all("transfer-encoding"), message.all("content-length")
    if codings:
        if lengths or [coding.lower() for coding in codings] != [b"chunked"] or message.start[2] == 0:
            raise Malformed("Transfer-Encoding")
        message.body, at = _chunked(data, at)
    else:
        message.body, at = _counted(data, at, _length(lengths))
    return message, at


def read_requests(data):
    """All whole requests, and why there is none after them: Malformed, Incomplete or None (the end)."""
    found = []
    while data:
        try:
            message, size = read_request(data)
        except (Malformed, Incomplete) as end:
            return found, end
        found.append(message)
        data = data[size:]
    return found, None


def read_answer(data, method="POST"):
    """The first answer in `data`, all there is of a connection that has ended. @return (Message, bytes it takes)"""
    line, lines, at = _head(data)
    match = STATUS_LINE.fullmatch(line)
    if not match:
        raise Malformed(f"status line {line[:60]!r}")
    message = Message((int(match[1]), int(match[2])), [_field(each) for each in lines], b"")
    codings, lengths = message.all("transfer-encoding"), message.all("content-length")
    status = message.start[1]
    if status < 200 or status in (204, 304) or method == "HEAD":
        if codings or (status != 304 and method != "HEAD" and lengths):
            raise Malformed(f"a body's measure with {status}")
    elif codings:
        if lengths or codings != [b"chunked"]:
            raise Malformed("Transfer-Encoding")
        message.body, at = _chunked(data, at)
    elif lengths:
        message.body, at = _counted(data, at, _length(lengths))
    else:
        message.body, at, message.to_end = data[at:], len(data), True
    return message, at


def read_answers(data, methods=()):
    """All answers on a connection that has ended: nothing else may be there. `methods`: those asked for; POST, if not named."""
    found, methods = [], list(methods)
    while data:
        message, size = read_answer(data, methods[0] if methods else "POST")
        if message.start[1] >= 200:
            methods = methods[1:]
        found.append(message)
        data = data[size:]
    return found


def _head(data):
    end = data.find(b"\r\n\r\n")
    whole = data if end < 0 else data[:end]
    if re.search(rb"\r(?!\n)|(?<!\r)\n|\0", whole.removesuffix(b"\r")):
        raise Malformed("a line's end")
    if end < 0:
        raise Incomplete("header")
    first, *rest = whole.split(b"\r\n")
    return first, rest, end + 4


def _field(line):
    match = FIELD.fullmatch(line)
    if not match:
        raise Malformed(f"field {line[:60]!r}")
    return match[1].decode(), match[2]


def _length(lengths):
    if not all(LENGTHS.fullmatch(length) for length in lengths):
        raise Malformed("Content-Length")
    numbers = {int(number) for length in lengths for number in length.split(b",")}
    if len(numbers) > 1 or any(number >= 1 << 64 for number in numbers):
        raise Malformed("Content-Length")
    return numbers.pop() if numbers else 0


def _counted(data, at, size):
    if len(data) - at < size:
        raise Incomplete("body")
    return data[at:at + size], at + size


def _line(data, at):
    end = data.find(b"\r\n", at)
    if end < 0:
        raise Incomplete("line")
    return data[at:end], end + 2


def _chunked(data, at):
    body = b""
    while True:
        line, at = _line(data, at)
        match = CHUNK_LINE.fullmatch(line)
        if not match or int(match[1], 16) >= 1 << 64:
            raise Malformed(f"chunk line {line[:60]!r}")
        size = int(match[1], 16)
        if size == 0:
            break
        chunk, at = _counted(data, at, size)
        body += chunk
        if data[at:at + 2] != b"\r\n":
            raise Malformed("end of a chunk") if len(data) >= at + 2 else Incomplete("end of a chunk")
        at += 2
    return body, _after_trailers(data, at)


def _after_trailers(data, at):
    """Nobody hears of trailers, so one that folds decides nothing."""
    name = None
    while True:
        line, at = _line(data, at)
        if not line:
            return at
        if re.search(rb"[\r\n\0]", line):
            raise Malformed("a trailer's end")
        if name is None or line[:1] not in (b" ", b"\t"):
            name, _ = _field(line)
        if name.lower() in FRAMING:
            raise Malformed("framing in a trailer")

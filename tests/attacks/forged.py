"""Values that would like to be lines of the log, keys of JSON, rows of a page, or orders to a terminal."""

import contextlib
import re

import pytest

import log_lines
from documents import log_lines as documented
from traffic import ORDERS
from waiting import eventually

LABEL_VALUES = {
    "new line and level": b"x\nts=2026-01-01T00:00:00Z level=error msg=\"cannot serve\" err=forged",
    "quotes": b"x\" level=error msg=\"cannot serve\" err=\"",
    "backslash before a quote": b"x\\\" level=error \\",
    "carriage return": b"x\rts=2026 level=error",
    "colours": b"\x1b[31mred\x1b[0m\x1b[2J\x1b[1A",
    "title and clipboard": b"\x1b]0;title\x07\x1b]52;c;eA==\x07",
    "C1": "\u009b31m\u009d0;title\u009c\u0085".encode(),
    "JSON": b"x\"},{\"level\":\"error\",\"msg\":\"forged\"}",
    "NUL": b"x\0level=error",
    "no UTF-8": b"\xff\xfe\xc3(\xed\xa0\x80\xf8\x88\x80\x80\x80\xc0\xaf",
    "cut character": b"x\xe2\x80",
    "separators": "x\u2028level=error\u2029y".encode(),
    "right to left": "x\u202eetirw \u2066cannot serve\u2069\u200f\u061c".encode(),
    "metric": b"x\"} 1\nseriesgate_up 0\n# HELP",
    "HTML": b"<script>alert(1)</script></td></table>",
    "YAML": b"x\n- y: &a [*a, !!python/object]",
    "looks escaped": b"\\n\\x1b[31m\\u202e\\xff",
    "printf": b"%n%s%d{}{0}{:x}${jndi:ldap://x/a}",
    "tab": b"a\tb",
}

#: As far as a header can have them: the rest is no HTTP (test_smuggling.py).
HEADER_VALUES = {name: value for name, value in LABEL_VALUES.items() if not re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", value)}


def in_log(value):
    """A text as the log's reader has it: bytes that are no UTF-8 as \\xff, all else as it was."""
    return "".join(f"\\x{ord(each) - 0xdc00:02x}" if "\udc80" <= each <= "\udcff" else each
                   for each in value.decode("utf-8", "surrogateescape"))


def assert_sound(gate, form):
    """Every line is one event of docs/logs.md, at its level, with its keys. @return the events"""
    text = gate.log_bytes.decode("utf-8")  # fails if it is none
    assert not ORDERS.search(text) and "\t" not in text
    lines = text.split("\n")
    assert lines.pop() == ""
    assert text.splitlines() == lines, "who goes by other ends of lines sees others"
    known = {**documented(1), **documented(2)}
    events = [log_lines.parse(line) for line in lines]
    for line, event in zip(lines, events):
        assert line.startswith("{") == (form == "json")
        _, level, keys = known[event["msg"]]
        assert (event["level"], list(event)[3:]) == (level, keys), line
    return events


@pytest.fixture(params=["logfmt", "json"])
def form(request):
    return request.param


def decoded(text):
    """A header as bytes, as the client's library wants it."""
    return text.decode("latin-1")


# --- names of users, and a gate that says all of them

TOKEN = "one-that-there-is"


def text_of(value):
    """Nothing, if it is none."""
    with contextlib.suppress(UnicodeDecodeError):
        return value.decode()


TEXTS = {name: text for name, value in LABEL_VALUES.items() if (text := text_of(value)) is not None}
#: What a web configuration takes for a name, and what it does not.
NAMES = {name: text for name, text in TEXTS.items() if not re.search("[\x00-\x1f\x7f:]", text)}
NO_NAMES = {name: text for name, text in TEXTS.items() if name not in NAMES}


@pytest.fixture
def start(start_gate, upstream, form, tmp_path):  # noqa: F811
    """start(text of a web configuration): a gate with it, all of whose requests are in the log."""
    def started(web):
        (tmp_path / "web.yml").write_text(web)
        (tmp_path / "token").write_text(TOKEN)
        return start_gate(config=f"upstream: {{url: '{upstream.url}'}}\nlog: {{format: {form}, level: debug}}\n"
                                 f"web: {{config: {{file: '{tmp_path}/web.yml'}}}}\n"
                                 "tenants: {default: {maxHourlySeries: 9}}\n")

    return started


def told_of(gate, count, form):  # noqa: F811
    """@return the lines about so many requests, and those about rejected ones"""
    eventually(lambda: len(gate.said("request answered")) == count, "a line for each request")
    events = assert_sound(gate, form)
    return [[event for event in events if event["msg"] == msg] for msg in ("request answered", "requests rejected")]


def assert_one_line(reply):
    text = reply if isinstance(reply, str) else reply.body.decode()
    assert not ORDERS.search(text) and len(text.splitlines()) == 1, text

"""Names, values, headers, paths and answers that would like to be lines of the log, keys of JSON, rows of a page, or orders to a
terminal. Each event stays one line, and whoever parses it reads what was meant."""

import json
import re

import pytest

import exposition
import log_lines
import recorded
import wire
from client import WRITE, head, post
from documents import log_lines as documented
from servers import check_metrics
from tables import check_rows
from traffic import ORDERS, body, numbered, shown
from upstream import Answer
from waiting import eventually

pytestmark = pytest.mark.one_thread

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


@pytest.fixture
def talkative(start_talkative):
    return start_talkative()


@pytest.fixture
def start_talkative(start_gate, upstream, form):
    """A gate that says all that it can."""
    return lambda: start_gate(config=f"""
upstream: {{url: '{upstream.url}', forwardQuery: [asked]}}
log: {{format: {form}, level: debug}}
onLimit: reject
tenants: {{default: {{maxHourlySeries: 1000}}}}
limits: [{{name: per-path, each: [path], perTenant: true, maxHourlySeries: 1}}]
""")


def decoded(text):
    """A header as bytes, as the client's library wants it."""
    return text.decode("latin-1")


def test_label_values_stay_values(talkative, form):
    for value in LABEL_VALUES.values():
        reply = talkative.send(body(numbered(2, path=value)))
        assert reply.status == 400
        answer = reply.body.decode("utf-8")
        assert not ORDERS.search(answer) and len(answer.splitlines()) == 1 and "per-path" in answer
    talkative.send(wire.pack(wire.series([(b"__name__", b"up"), (b"path", b"p"), (LABEL_VALUES["JSON"], b"1")],
                                         wire.field(wire.SAMPLES, wire.sample(1.0, 1)))))
    eventually(lambda: talkative.said("series refused"), "a line about one")
    events = assert_sound(talkative, form)
    stats = json.loads(talkative.get("/stats").body)
    assert {entry["group"]["path"] for entry in stats["limits"]} == {shown(value) for value in LABEL_VALUES.values()} | {"p"}
    told = [event for event in events if event["msg"] == "series refused"]
    assert 'path="' in told[0]["group"] and 'path="' in told[0]["example"]


def test_tenants_stay_names(start_talkative, form):
    def stays_a_name(value):
        gate = start_talkative()  # each has one of its own: of many, the log names the first that was rejected
        headers = [("X-Scope-OrgID", decoded(value))]
        assert gate.send(body(numbered(1, path="a")), headers).status == 204
        assert gate.send(b"no snappy", headers).status == 400
        assert gate.send(body(numbered(2, path="a")), headers).status == 400  # one of them is refused
        eventually(lambda: len(gate.said("request answered")) == 3, "a line for each request")
        named = [event["tenant"] for event in assert_sound(gate, form) if "tenant" in event]
        assert set(named) <= {in_log(value), shown(value)} and len(named) == 5
        stats = json.loads(gate.get("/stats").body)
        assert [entry["tenant"] for entry in stats["tenants"]] == [shown(value)]
        gate.stop()

    check_rows(HEADER_VALUES, stays_a_name)


def test_other_headers_paths_and_methods_stay_where_they_are(talkative, form):
    for value in HEADER_VALUES.values():
        talkative.send(b"bad", [("User-Agent", decoded(value)), ("Content-Type", decoded(value))])
        talkative.send(b"bad", [("Content-Encoding", decoded(value))])
        talkative.send(b"bad", [("Via", decoded(value)), ("Connection", "close")])
    targets = [b"/%s" % value.replace(b" ", b"%20").replace(b"\t", b"%09") for value in HEADER_VALUES.values()]
    for target in targets + [b"/%0alevel=error", b"/%1b[31m", b"/\xe2\x80\xae", b"/" + b"a" * 5000]:
        for line in (b"POST %s HTTP/1.1" % target, b"GET %s HTTP/1.1" % target, b"POST /api/v1/write?%s=1 HTTP/1.1" % target,
                     b"GET /stats?%s=1 HTTP/1.1" % target, b"GET /stats?tenant=%s HTTP/1.1" % target):
            with talkative.raw() as connection:
                connection.send(line + b"\r\nHost: gate\r\nContent-Length: 0\r\n\r\n")
                reply = connection.reply()
                assert reply.status >= 200
                if reply.status >= 400:
                    assert reply.first_line.isascii() and reply.first_line.isprintable(), reply.body
    for method in (b"LEVEL=ERROR", b"GET\x1b[31m", b"\xe2\x80\xae", b"P" * 5000):
        with talkative.raw() as connection:
            connection.send(method + b" /api/v1/write HTTP/1.1\r\nHost: gate\r\nContent-Length: 0\r\n\r\n")
            reply = connection.reply()
            assert reply.status in (400, 405) and reply.first_line.isascii() and reply.first_line.isprintable()
    assert len(assert_sound(talkative, form)) > 100


def test_what_the_store_says_stays_what_it_says(talkative, upstream, form):
    for status in (400, 503):
        for value in LABEL_VALUES.values():
            upstream.default = Answer(status, [], value)
            reply = talkative.send(body(numbered(1)))
            assert (reply.status, reply.body) == (status, value)  # the sender's to read
    eventually(lambda: len(talkative.said("the store rejected requests")) == 2, "a line for each status")
    events = assert_sound(talkative, form)
    assert [event["err"] for event in events if event["msg"] == "the store rejected requests"] == ["x", "x"]


def test_the_first_line_of_the_store_is_read_back(start_gate, upstream, form):
    """With a status for each value: each status has lines of its own."""
    gate = start_gate(config=f"upstream: {{url: '{upstream.url}'}}\nlog: {{format: {form}}}\n")

    def is_read_back(status, value):
        upstream.default = Answer(status, [("Retry-After", "7\" level=error x=\"")], value)
        assert gate.send(body(numbered(1))).status == status

        def about_it(events):
            return [each for each in events if each["msg"] == "the store rejected requests" and str(each["status"]) == str(status)]

        eventually(lambda: about_it(gate.events), "a line about it")
        event, = about_it(assert_sound(gate, form))
        assert event["retry_after"] == "7\" level=error x=\""
        assert event["err"] == in_log(re.split(b"[\r\n]", value)[0])

    check_rows({name: (status, value) for status, (name, value) in enumerate(LABEL_VALUES.items(), 430)}, is_read_back, gate)


def test_figures_and_pages_give_no_orders(talkative, form):
    tenants = [decoded(value) for value in HEADER_VALUES.values()]
    for at, value in enumerate(LABEL_VALUES.values()):
        headers = [("X-Scope-OrgID", tenants[at % len(tenants)])]
        talkative.send(body(numbered(2, path=value)), headers)
    for path in ("/", "/stats", "/stats?limit=3", "/metrics", "/config"):
        text = talkative.get(path).body.decode("utf-8")
        assert not ORDERS.search(text), path
    metrics = talkative.get("/metrics").body
    check_metrics(metrics)
    series = exposition.parse(metrics)
    seen = {dict(labels)["tenant"] for name, labels in series if name == "seriesgate_tenant_series_current"}
    assert seen == {shown(value) for value in HEADER_VALUES.values()}
    groups = {dict(labels)["group"] for name, labels in series if name == "seriesgate_limit_series_current"}
    quoted = {shown(value).replace('"', '\\"') for value in LABEL_VALUES.values()}
    assert groups == {f'{{path="{value}"}}' for value in quoted}
    assert "seriesgate_up" not in {name for name, _ in series}
    assert_sound(talkative, form)


def test_bytes_that_are_no_http_leave_no_mark(talkative, form):
    for value in LABEL_VALUES.values():
        for data in (value + b"\r\n\r\n", b"GET " + value, b"GET / HTTP/1.1\r\n" + value + b": x\r\n\r\n",
                     head(headers=[("Host2", "x")]).replace(b"Host2", value), b"\x16\x03\x01" + value):
            with talkative.raw() as connection:
                connection.send_what_it_takes(data)
                connection.socket.shutdown(1)
                answer = connection.read_to_end()
                assert not ORDERS.search(answer.decode("utf-8").replace("\r\n", "\n"))
    eventually(lambda: talkative.said("requests rejected"), "a line about one")
    events = assert_sound(talkative, form)
    assert [event["reason"] for event in events if event["msg"] == "requests rejected"].count("invalid_http") == 1


def test_a_configuration_with_such_names_is_shown_as_what_it_is(start_gate, upstream, form):
    names = {name: in_log(value) for name, value in LABEL_VALUES.items() if name not in ("no UTF-8", "cut character", "printf")}
    overrides = "".join(f"    {json.dumps(value)}: {{maxHourlySeries: {at}}}\n" for at, value in enumerate(names.values(), 1))
    text = (f"upstream: {{url: '{upstream.url}'}}\nlog: {{format: {form}, level: debug}}\ntenants:\n  overrides:\n" + overrides)
    gate = start_gate(config=text)
    config = gate.get("/config").body.decode("utf-8")
    assert not ORDERS.search(config)
    again = start_gate(config="\n".join(line for line in config.split("\n") if not line.startswith("listen:")))
    assert again.get("/config").body.decode("utf-8").split("tenants:")[1] == config.split("tenants:")[1]
    reply = gate.reload(text.replace("maxHourlySeries: ", "maxHourlySeries: 9"))
    assert reply.status == 200 and not ORDERS.search(reply.body.decode("utf-8")), reply.body
    assert len(reply.body.decode("utf-8").splitlines()) == 1 + len(names)
    reply = gate.reload(text.replace("maxHourlySeries: ", "maxHourlySeries: x"))
    assert reply.status == 400 and not ORDERS.search(reply.body.decode("utf-8")), reply.body
    for each in (gate, again):
        assert_sound(each, form)


def test_a_sound_request_after_all_this_is_served(talkative, upstream):
    talkative.send(b"bad", [("X-Scope-OrgID", decoded(LABEL_VALUES["quotes"]))])
    with talkative.raw() as connection:
        connection.send(post(recorded.bodies("metadata-v1")[0], path=WRITE))
        assert connection.reply().status == 204

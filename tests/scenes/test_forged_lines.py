"""Names, values, headers, paths and answers that would like to be lines of the log, keys of JSON, rows of a page, or orders to a
terminal. Each event stays one line, and whoever parses it reads what was meant."""

import base64
import json
import re

import pytest

import exposition
import recorded
import wire
from client import WRITE, head
from forged import (  # noqa: F401 (fixtures)
    HEADER_VALUES, LABEL_VALUES, NAMES, TOKEN, assert_one_line, assert_sound, decoded, form, in_log, start, text_of,
    told_of)
from secure import connection
from servers import check_metrics
from tables import check_rows
from traffic import ORDERS, body, numbered, shown
from upstream import Answer
from waiting import eventually
from web_files import BOB, basic, bearer, users


@pytest.fixture
def talkative(start_talkative):
    return start_talkative()


@pytest.fixture
def start_talkative(start_gate, upstream, form):  # noqa: F811
    """A gate that says all that it can."""
    return lambda: start_gate(config=f"""
upstream: {{url: '{upstream.url}', forwardQuery: [asked]}}
log: {{format: {form}, level: debug}}
onLimit: reject
tenants: {{default: {{maxHourlySeries: 1000}}}}
limits: [{{name: per-path, each: [path], perTenant: true, maxHourlySeries: 1}}]
""")


def test_label_values_stay_values(talkative, form):  # noqa: F811
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


def test_tenants_stay_names(start_talkative, form):  # noqa: F811
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


def test_other_headers_paths_and_methods_stay_where_they_are(talkative, form):  # noqa: F811
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


def test_what_the_store_says_stays_what_it_says(talkative, upstream, form):  # noqa: F811
    for status in (400, 503):
        for value in LABEL_VALUES.values():
            upstream.default = Answer(status, [], value)
            reply = talkative.send(body(numbered(1)))
            assert (reply.status, reply.body) == (status, value)  # the sender's to read
    eventually(lambda: len(talkative.said("the store rejected requests")) == 2, "a line for each status")
    events = assert_sound(talkative, form)
    assert [event["err"] for event in events if event["msg"] == "the store rejected requests"] == ["x", "x"]


def test_the_first_line_of_the_store_is_read_back(start_gate, upstream, form):  # noqa: F811
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


def test_figures_and_pages_give_no_orders(talkative, form):  # noqa: F811
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


def test_bytes_that_are_no_http_leave_no_mark(talkative, form):  # noqa: F811
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


# --- users, tokens and certificates: those that somebody says to have, and those that he has

GOOD = body(numbered(1))
LOGGED = 100  # bytes of a user's name in the line about a rejection


def test_whoever_one_says_to_be_is_a_name(start, form):  # noqa: F811
    def is_a_name(value):
        claimed = value.split(b":")[0]
        gate = start(users(BOB))  # each has one of its own: of many, the log names the first that was rejected
        reply = gate.send(GOOD, [("Authorization", "Basic " + base64.b64encode(claimed + b":x").decode())])
        assert reply.status == 401 and claimed not in reply.body
        assert_one_line(reply)
        (told,), (rejected,) = told_of(gate, 1, form)
        assert told["user"] == in_log(claimed)
        assert (rejected["reason"], rejected["user"]) == ("unauthenticated", in_log(claimed[:LOGGED]))
        gate.stop()

    check_rows(LABEL_VALUES, is_a_name)


def test_what_is_no_token_is_nowhere(start, form):  # noqa: F811
    gate = start("bearer_tokens: [{name: shop, token_file: token}]\n" + users(BOB))
    values = [decoded(value) for value in HEADER_VALUES.values()]
    for value in values:
        for header in (bearer(value), bearer(TOKEN + value), ("Authorization", value), ("Authorization", "Basic " + value)):
            assert gate.send(GOOD, [header]).status == 401
    told, (rejected,) = told_of(gate, 4 * len(values), form)
    assert {event["user"] for event in told} == {rejected["user"]} == {""}
    assert not [each for each in (TOKEN, "jndi", "script", "forged") if each in gate.log]


def test_users_and_tenants_of_the_web_configuration_stay_names(start, form, upstream):  # noqa: F811
    assert len(NAMES) >= 6
    hashed = "".join(f"  {json.dumps(name)}: {BOB[2]}\n" for name in NAMES.values())
    bound = "".join(f"  {json.dumps(name)}: {json.dumps(name)}\n" for name in NAMES.values())
    gate = start(f"basic_auth_users:\n{hashed}  ops: {BOB[2]}\ntenants:\n{bound}admin_users: [ops]\n")
    for name in NAMES.values():
        who = basic(name, BOB[1])
        with gate.client() as client:
            assert client.write(GOOD, [who]).status == 204
            for reply in (client.write(GOOD, [who, ("X-Scope-OrgID", "other")]),
                          client.request("GET", "/stats", headers=[who])):
                assert reply.status == 403
                assert_one_line(reply)
    told, rejected = told_of(gate, 3 * len(NAMES), form)
    assert sorted(event["user"] for event in told) == sorted(3 * list(NAMES.values()))
    assert [event["user"] for event in rejected] == [next(iter(NAMES.values()))]
    assert [request.all("X-Scope-OrgID") for request in upstream.requests] == [
        [decoded(name.encode())] for name in NAMES.values()]
    with gate.client() as client:
        answer = client.request("GET", "/stats", headers=[basic("ops", BOB[1])])
    assert not ORDERS.search(answer.body.decode())
    assert {entry["tenant"] for entry in json.loads(answer.body)["tenants"]} == {
        shown(name.encode()) for name in NAMES.values()}


def test_names_in_certificates_stay_names(start, form, secured, tmp_path):  # noqa: F811
    """Of those who show one; printable ASCII or none. Our own are an authority's to choose, too."""
    secured.web(f"ingestion_users: [{BOB[0]}]\n", client_auth_type="RequireAndVerifyClientCert",
                client_ca_file=str(secured.authority.certificate))
    gate = start((tmp_path / "web.yml").read_text())
    users_meant = []
    for value in LABEL_VALUES.values():
        text = text_of(value)
        common = value if text and "\0" not in text and len(text) <= 64 else b"agent"
        made = connection(gate.address, secured.trusting(secured.authority.issue_odd(common, value)))
        made.request("POST", WRITE, GOOD, dict(recorded.HEADERS))
        answer = made.getresponse()
        assert answer.status == 403
        assert_one_line(answer.read().decode())
        made.close()
        users_meant.append(next((name.decode() for name in (value, common) if re.fullmatch(rb"[ -~]+", name)), ""))
    assert len(set(users_meant)) > 6 and {"", "agent"} <= set(users_meant)
    for name in (b"x\nts=1 level=error", b"x\" level=error", b"\x1b[31mred"):
        secured.install(secured.authority.issue_odd(name))
    eventually(lambda: gate.said("TLS files taken"), "one of them is taken", 30)
    told, (rejected,) = told_of(gate, len(LABEL_VALUES), form)
    assert sorted(event["user"] for event in told) == sorted(users_meant)
    assert rejected["user"] == users_meant[0]

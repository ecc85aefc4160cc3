"""Who may ask, and whose budget it is. curl, and the time that passwords take: tests/e2e/test_web_config.py."""

import json

import pytest

import exposition
import wire
from client import RawConnection, head, post
from tables import check_rows, crossed
from waiting import eventually
from web_files import ALICE, BOB, EMPTY, LONG, ODD, OPS, basic, bearer, users

BODY = wire.pack(wire.sampled("up", job="a"))
TENANT = "X-Scope-OrgID"


def ask(gate, path="/stats", headers=(), method="GET"):
    with gate.client() as client:
        return client.request(method, path, headers=headers)


def rejected(gate, reason, *credentials):
    metrics = exposition.parse(ask(gate, "/metrics", credentials).body)
    return metrics["seriesgate_requests_rejected_total", frozenset({("reason", reason)})]


# --- credentials

CREDENTIALS = {
    "none": ([], 401),
    "the right ones": ([basic(ALICE)], 200),
    "another user's password": ([basic("alice", BOB[1])], 401),
    "no password": ([basic("alice", "")], 401),
    "a user that there is not": ([basic("eve", "secret")], 401),
    "no user": ([basic("", "secret")], 401),
    "a user in capitals": ([basic("Alice", "secret")], 401),
    "an empty password that is right": ([basic(EMPTY)], 200),
    "72 bytes": ([basic(LONG)], 200),
    "72 bytes and some that bcrypt does not see": ([basic("long", "p" * 72 + "x")], 200),
    "71 bytes": ([basic("long", "p" * 71)], 401),
    "129 bytes": ([basic("long", "p" * 129)], 401),
    "a colon and a letter of UTF-8": ([basic(ODD)], 200),
    "a zero behind the password": ([basic("alice", "secret\0")], 401),
    "twice": ([basic(ALICE), basic(ALICE)], 401),
    "two": ([basic(ALICE), bearer("t0ken")], 401),
    "a token": ([bearer("t0ken")], 200),
    "the other token of that name": ([bearer("n3xt")], 200),
    "another token": ([bearer("t0keN")], 401),
    "half a token": ([bearer("t0ke")], 401),
    "a token as password": ([basic("ci", "t0ken")], 401),
    "a password as token": ([bearer("secret")], 401),
    "a hash as token": ([bearer(ALICE[2])], 401),
    "a hash as password": ([basic("alice", ALICE[2])], 401),
    "no base64": ([("Authorization", "Basic alice:secret")], 401),
    "another scheme": ([("Authorization", "Digest " + basic(ALICE)[1][6:])], 401),
    "without a scheme": ([("Authorization", basic(ALICE)[1][6:])], 401),
    "in another header": ([("Proxy-Authorization", basic(ALICE)[1])], 401),
    "a large one": ([("Authorization", "Basic " + "QUFB" * 10_000)], 401),
}


@pytest.fixture
def many_users(guarded, tmp_path):
    (tmp_path / "a.token").write_text("t0ken\n")
    (tmp_path / "b.token").write_text("n3xt")
    return guarded(users(ALICE, BOB, OPS, LONG, EMPTY, ODD) + "bearer_tokens: [{name: ci, token_file: a.token}, "
                   "{name: ci, token_file: b.token}]\n")


def test_what_proves_a_user(many_users):
    gate = many_users
    for kind, (headers, status) in CREDENTIALS.items():
        for repeated in range(2):  # checked, then remembered
            reply = ask(gate, headers=headers)
            assert reply.status == status, (kind, repeated, reply)
            if status == 401:
                assert reply.all("WWW-Authenticate") == ['Basic realm="seriesgate"', 'Bearer realm="seriesgate"'], kind
                assert reply.body == b"not authenticated: the gate asks for a user and password, or a token, that it knows\n"
    denied = sum(status == 401 for _, status in CREDENTIALS.values())
    assert rejected(gate, "unauthenticated", bearer("t0ken")) == 2 * denied
    assert ask(gate, headers=[bearer("t0ken")]).status == 200
    for secret in (ALICE[1] + "'", ALICE[2], "t0ken", "n3xt", "bobpw"):
        assert secret not in gate.log


def test_credentials_of_any_bytes_are_no_trouble(guarded):
    gate = guarded(users(BOB))
    for value, status in ((b"Basic " + b"A" * 60_000, 401), (b"Basic \xff\xfe", 401), (b"Basic =", 401), (b"Bearer \x80", 401),
                          (b"Basic OjpfOg", 401), (b"Basic\t", 401), (b" Basic   ", 401), (b"Basic ====", 401),
                          (b"Bearer " + b"t" * 5000, 401), (b"basic AAAA", 401), (b"Basic a\0b", 400)):
        with RawConnection(gate.address) as sender:
            sender.send(b"GET /stats HTTP/1.1\r\nHost: gate\r\nAuthorization: " + value + b"\r\n\r\n")
            assert sender.reply("GET").status == status, value


def test_nothing_is_told_to_who_has_no_credentials(guarded, upstream):
    gate = guarded(users(BOB))

    def is_turned_away(method, path):
        assert ask(gate, path, method=method).status == 401
        assert upstream.requests == []

    rows = crossed(["GET", "HEAD", "POST", "PUT"], ["/", "/stats", "/metrics", "/config", "/health", "/-/healthy", "/-/ready",
                                                    "/nowhere", "/api/v1/write", "/stats?tenant=x"])
    check_rows(rows, is_turned_away)
    assert gate.running
    assert rejected(gate, "unauthenticated", basic(BOB)) == len(rows) == 40


def test_a_connection_is_good_for_more_than_one_user(guarded):
    gate = guarded(users(ALICE, BOB))
    with gate.client() as client:
        for header, status in [(basic(ALICE), 200), (basic("alice", "x"), 401), (basic(BOB), 200), (None, 401)] * 3:
            assert client.request("GET", "/stats", headers=[header] if header else []).status == status


def test_who_asks_first_is_told_before_the_body(guarded, upstream):
    gate = guarded(users(BOB))
    with RawConnection(gate.address) as sender:
        sender.send(head(headers=[("Expect", "100-continue"), ("Content-Length", len(BODY))]))
        reply = sender.reply()
    assert (reply.status, reply.get("Connection")) == (401, "close")
    with RawConnection(gate.address) as sender:
        sender.send(post(BODY, headers=[("Expect", "100-continue"), basic(BOB)])[:-len(BODY)])
        sender.continues()
        sender.send(BODY)
        assert sender.reply().status == 204
    assert len(upstream.requests) == 1


def test_a_large_body_is_not_read_of_who_is_not_let_in(guarded):
    gate = guarded(users(BOB))
    with RawConnection(gate.address) as sender:
        sender.send(head(headers=[("Content-Length", 30_000_000)]))
        assert sender.reply().status == 401


# --- sides

def test_ingestion_and_admin_have_their_own_users(guarded, upstream):
    gate = guarded(users(ALICE, BOB, OPS) + "ingestion_users: [bob]\nadmin_users: [ops]\n")
    assert gate.send(BODY, [basic(BOB)]).status == 204
    reply = gate.send(BODY, [basic(OPS)])
    assert (reply.status, reply.body) == (403, b'forbidden: the user ops may not use remote write\n')
    assert gate.send(BODY, [basic(ALICE)]).status == 403
    assert ask(gate, headers=[basic(OPS)]).status == 200
    reply = ask(gate, headers=[basic(BOB)])
    assert (reply.status, reply.body) == (403, b'forbidden: the user bob may not use the admin endpoints\n')
    assert ask(gate, "/-/reload", [basic(BOB)], "POST").status == 403
    assert ask(gate, "/-/reload", [basic(OPS)], "POST").status == 200
    assert len(upstream.requests) == 1
    assert rejected(gate, "forbidden", basic(OPS)) == 4
    said = gate.said("requests rejected", reason="forbidden")
    assert (said[0]["user"], said[0]["sender"], said[0]["status"]) == ("ops", "127.0.0.1", "403")


def test_probes_may_ask_without_credentials_where_that_is_configured(guarded):
    gate = guarded(users(BOB) + "auth_excluded_paths: [/-/healthy, /-/ready]\n")
    assert ask(gate, "/-/healthy").status == 200
    assert ask(gate, "/-/healthy?x", headers=[basic("eve", "x")]).status == 200
    eventually(lambda: ask(gate, "/-/ready").status == 200, "it is ready")
    for path in ("/-/healthy/", "/-/healthy/../../stats", "//-/healthy", "/-/Healthy", "/-/healthy%2f", "/health"):
        assert ask(gate, path).status == 401, path


# --- tenants

def test_a_users_requests_belong_to_its_tenant(guarded, upstream):
    gate = guarded(users(ALICE, BOB) + "tenants: {bob: shop}\n", "--maxHourlySeries=1000")
    assert gate.send(BODY, [basic(BOB)]).status == 204
    assert gate.send(BODY, [basic(BOB), (TENANT, "shop")]).status == 204
    assert gate.send(BODY, [basic(BOB), (TENANT, "shop"), (TENANT, "shop")]).status == 204
    assert [request.all(TENANT) for request in upstream.requests] == [["shop"]] * 3
    for other in ("bank", "", "SHOP", "shop,bank"):
        reply = gate.send(BODY, [basic(BOB), (TENANT, other)])
        assert (reply.status, reply.body) == (403, b'forbidden: the user bob writes for the tenant shop only\n'), other
    assert gate.send(BODY, [basic(ALICE), (TENANT, "bank")]).status == 204
    assert upstream.requests[3].all(TENANT) == ["bank"]
    assert len(upstream.requests) == 4


def test_the_budget_is_the_tenants_whatever_the_header_says(tmp_path, start_gate, upstream):
    web = tmp_path / "web.yml"
    web.write_text(users(BOB, OPS) + "tenants: {bob: shop, ops: bank}\n")
    gate = start_gate(f"--upstream.url={upstream.url}", f"--web.config.file={web}",
                      config="tenants: {overrides: {shop: {maxHourlySeries: 1}, bank: {maxHourlySeries: 3}}}\n")
    three = wire.pack(b"".join(wire.sampled("up", job=str(at)) for at in range(3)))
    assert gate.send(three, [basic(BOB)]).refused == (2, 2)
    assert gate.send(three, [basic(OPS)]).refused is None
    assert gate.said("series refused", tenant="shop")


def test_two_tenants_in_one_request_are_an_error_in_every_configuration(gate, guarded, upstream):
    def is_an_error(at, *credentials):
        reply = at.send(BODY, [*credentials, (TENANT, "shop"), (TENANT, "bank")])
        assert (reply.status, reply.body) == (400, b"malformed HTTP: two tenant headers that differ\n")
        assert upstream.requests == []

    is_an_error(gate)
    assert gate.send(BODY, [(TENANT, "shop"), (TENANT.lower(), "shop")]).status == 204
    gate.stop()
    upstream.clear()
    is_an_error(guarded(users(BOB) + "tenants: {bob: shop}\n"), basic(BOB))


# --- what goes on

def test_the_gates_credentials_do_not_reach_the_store(guarded, upstream, tmp_path):
    (tmp_path / "t").write_text("t0ken")
    gate = guarded(users(BOB) + "bearer_tokens: [{name: ci, token_file: t}]\n")
    for header in (basic(BOB), bearer("t0ken")):
        assert gate.send(BODY, [header, ("X-Other", "1")]).status == 204
        assert gate.send(b"", [header], "/api/v1/write?get_vm_proto_version=1").status == 204
    assert len(upstream.requests) == 4
    assert not any(request.all("Authorization") for request in upstream.requests)
    assert upstream.requests[0].all("X-Other") == ["1"]


def test_a_web_configuration_without_users_leaves_authorization_to_the_store(guarded, upstream):
    gate = guarded("http_server_config: {headers: {X-Frame-Options: deny}}\n")
    reply = gate.send(BODY, [basic(BOB)])
    assert (reply.status, reply.all("X-Frame-Options")) == (204, ["deny"])
    assert upstream.requests[0].all("Authorization") == [basic(BOB)[1]]


def test_every_answer_has_the_headers_of_the_web_configuration(guarded):
    headers = {"Strict-Transport-Security": "max-age=31536000", "X-Frame-Options": "SAMEORIGIN",
               "X-XSS-Protection": "0", "X-Content-Type-Options": "nosniff",
               "Content-Security-Policy": "frame-ancestors 'none'"}
    gate = guarded(users(BOB) + f"http_server_config: {{http2: false, headers: {json.dumps(headers)}}}\n")
    bob = [basic(BOB)]
    for credentials, path in (([], "/stats"), (bob, "/stats"), (bob, "/nowhere"), (bob, "/metrics")):
        reply = ask(gate, path, credentials)
        for name, value in headers.items():
            assert reply.all(name) == [value]
    page = ask(gate, "/", [basic(BOB)])
    assert len(page.all("Content-Security-Policy")) == 1


# --- tenants in the path, as vminsert has them

PATH = "/insert/{account}/prometheus/api/v1/write"
LIMIT = "tenants: {path: '%s', default: {maxHourlySeries: 1}}\n" % PATH

ONE, TWO = (wire.pack(wire.sampled("up", job=job)) for job in ("one", "two"))


def path_of(account):
    return PATH.replace("{account}", account)


def at(upstream, path=PATH):
    return f"--upstream.url=http://{upstream.host}{path}"


def test_the_path_says_whose_budget_it_is_and_goes_on(start_gate, upstream):
    gate = start_gate(at(upstream), config=LIMIT)
    for account in ("0", "7", "7:1"):
        for body, refused in (ONE, None), (TWO, (1, 1)):
            assert gate.send(body, path=path_of(account)).refused == refused
    assert [request.target for request in upstream.requests] == [path_of(account) for account in ("0", "7", "7:1")]
    assert [request.all(TENANT) for request in upstream.requests] == [["0"], ["7"], ["7:1"]]
    assert {each["tenant"] for each in gate.stats["tenants"]} == {"0", "7", "7:1"}


def test_one_account_has_one_budget_however_it_is_written(start_gate, upstream):
    gate = start_gate(at(upstream), config=LIMIT)
    assert gate.send(ONE, path=path_of("7")).refused is None
    for account in ("07", "7:0", "007:00", "7%3A0", "7%3a0"):
        assert gate.send(TWO, path=path_of(account)).refused == (1, 1)
        assert gate.send(ONE, path=path_of(account)).refused is None
    assert {request.target for request in upstream.requests} == {path_of("7")}


def test_what_would_be_another_path_to_the_store_is_nobodys(start_gate, upstream):
    gate = start_gate(at(upstream), config=LIMIT)
    for path in [*map(path_of, ("..", "%2e%2e", "7%2f8", "7:8:9")), "/x/../insert/7/prometheus/api/v1/write"]:
        assert gate.send(ONE, path=path).status == 404, path
    assert upstream.requests == []


def test_a_header_that_names_another_tenant_is_400(start_gate, upstream):
    gate = start_gate(at(upstream), config=LIMIT)
    reply = gate.send(ONE, [(TENANT, "8")], path=path_of("7"))
    assert (reply.status, reply.first_line) == (400, "two tenants: 7 in the path, 8 in X-Scope-OrgID")
    for named in ("", "7:1", "a"):
        assert gate.send(ONE, [(TENANT, named)], path=path_of("7")).status == 400
    assert upstream.requests == []
    for named in ("7", "7:0", "07"):
        assert gate.send(ONE, [(TENANT, named)], path=path_of("7")).status == 204
        assert upstream.requests[-1].all(TENANT) == ["7"]


def test_the_tenant_of_a_header_goes_into_the_url_or_nowhere(start_gate, upstream):
    gate = start_gate(at(upstream))
    assert gate.send(ONE, [(TENANT, "7:1")]).status == 204
    assert upstream.requests[-1].target == path_of("7:1")
    for named in ("", "7:0", "07", "a", "7/../8", "7?a=b", "7 8"):
        reply = gate.send(ONE, [(TENANT, named)])
        assert reply.status == 400 and "cannot stand in the URL of the store" in reply.first_line
    assert gate.send(ONE).status == 400
    assert len(upstream.requests) == 1
    with gate.client() as client:
        assert client.request("POST", "/api/v1/write?get_vm_proto_version=1", b"").status == 400
        client.request("POST", "/api/v1/write?get_vm_proto_version=1", b"", [(TENANT, "7")])
    assert upstream.requests[-1].target == path_of("7") + "?get_vm_proto_version=1"


def test_a_store_that_goes_by_the_header_gets_it(start_gate, upstream):
    gate = start_gate(at(upstream, "/api/v1/push"), config=LIMIT)
    assert gate.send(ONE, path=path_of("7")).status == 204
    assert (upstream.requests[0].target, upstream.requests[0].all(TENANT)) == ("/api/v1/push", ["7"])


def test_a_user_writes_for_its_tenant_alone(start_gate, upstream, tmp_path):
    (tmp_path / "web.yml").write_text(users(ALICE, BOB) + "tenants: {alice: '7'}\n")
    gate = start_gate(f"--web.config.file={tmp_path}/web.yml", at(upstream), config="tenants: {path: '%s'}\n" % PATH)

    def send(user, path, headers=()):
        return gate.send(ONE, [basic(user), *headers], path=path).status

    assert send(ALICE, path_of("7")) == 204
    assert send(ALICE, "/api/v1/write") == 204
    assert send(ALICE, path_of("8")) == 403
    assert send(ALICE, path_of("8"), [(TENANT, "7")]) == 400
    assert send(BOB, path_of("8")) == 204
    assert gate.send(ONE, path=path_of("7")).status == 401
    assert [request.target for request in upstream.requests] == [path_of("7"), path_of("7"), path_of("8")]

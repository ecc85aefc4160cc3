"""Tenants in the path, as vminsert has them: whose budget it is, and where it goes."""

import wire
from tables import check_rows
from web_files import ALICE, BOB, basic, users

TENANT = "X-Scope-OrgID"
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

    def is_404(path):
        assert gate.send(ONE, path=path).status == 404

    check_rows({path: (path,) for path in [
        path_of(account) for account in ("", "multitenant", ".", "..", "%2e%2e", "7/8", "7%2f8", "7:8:9", "7:", ":7", "+7", "-7",
                                         "7.0", "4294967296", "%37%2f", "{account}", "7;a", "7%00", "7@a", "a")
    ] + ["/insert/7/prometheus/api/v1/import", "/insert/7/8/prometheus/api/v1/write", "/select/7/prometheus/api/v1/write",
         "/insert/7/prometheus/api/v1/write/../../delete", "/x/../insert/7/prometheus/api/v1/write"]}, is_404, gate)
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

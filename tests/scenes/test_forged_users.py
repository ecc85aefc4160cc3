"""Users, tokens and certificates whose names would like to be lines of the log or orders to a terminal: those that somebody says
to have, and those that he has."""

import base64
import json
import re

import recorded
from client import WRITE
from forged import HEADER_VALUES, LABEL_VALUES, decoded, form, in_log  # noqa: F401 (a fixture)
from forged_users import NAMES, TOKEN, assert_one_line, start, text_of, told_of  # noqa: F401 (a fixture)
from secure import Secured, connection
from tables import check_rows
from traffic import ORDERS, body, numbered, shown
from waiting import eventually
from web_files import BOB, basic, bearer, users

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


def test_names_in_certificates_stay_names(start, form, tmp_path):  # noqa: F811
    """Of those who show one; printable ASCII or none. Our own are an authority's to choose, too."""
    secured = Secured(tmp_path)
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

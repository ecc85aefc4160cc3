"""Names that would like to be lines of the log: those that a configuration has, and those that it does not take.
Others: tests/scenes/test_forged_lines.py."""

import json

import pytest

from forged import LABEL_VALUES, NO_NAMES, assert_one_line, assert_sound, form, in_log, start  # noqa: F401 (fixtures)
from gate import run
from traffic import ORDERS
from waiting import eventually
from web_files import BOB, users

pytestmark = pytest.mark.one_thread


def test_a_configuration_with_such_names_is_shown_as_what_it_is(start_gate, upstream, form):  # noqa: F811
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
    assert reply.body.decode("utf-8").splitlines() == ["configuration reloaded", "tenants.overrides"]
    reply = gate.reload(text.replace("maxHourlySeries: ", "maxHourlySeries: x"))
    assert reply.status == 400 and not ORDERS.search(reply.body.decode("utf-8")), reply.body
    for each in (gate, again):
        assert_sound(each, form)


# --- users

def test_what_is_no_name_is_a_mistake_of_one_line(start, form, tmp_path, upstream):  # noqa: F811
    gate = start(users(BOB))
    for way in ("basic_auth_users: {{{}: '" + BOB[2] + "'}}", "bearer_tokens: [{{name: {}, token_file: token}}]",
                "ingestion_users: [{}]", "tenants: {{{}: shop}}"):
        for text in NO_NAMES.values():
            (tmp_path / "bad.yml").write_text(way.format(json.dumps(text)) + "\n")
            done = run("--check-config", f"--upstream.url={upstream.url}", f"--web.config.file={tmp_path}/bad.yml")
            assert done.returncode == 1, (way, text)
            assert_one_line(done.stdout + done.stderr)
    (tmp_path / "web.yml").write_text(f"ingestion_users: {json.dumps(list(NO_NAMES.values()))}\n")
    eventually(lambda: gate.said("web configuration not reread"), "it is told of", 30)
    events = assert_sound(gate, form)
    assert [event["msg"] for event in events].count("web configuration not reread") >= 1

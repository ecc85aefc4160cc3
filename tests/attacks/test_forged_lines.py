"""Names of a configuration that would like to be lines of the log: two gates. Others: tests/scenes/test_forged_lines.py."""

import json

import pytest

from forged import LABEL_VALUES, assert_sound, form, in_log  # noqa: F401 (a fixture)
from traffic import ORDERS

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

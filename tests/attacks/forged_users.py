"""Names of users that would like to be lines of the log or orders to a terminal, and a gate that says all of them."""

import contextlib
import re

import pytest

from forged import LABEL_VALUES, assert_sound, form  # noqa: F401 (a fixture)
from traffic import ORDERS
from waiting import eventually

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

"""GET /: the page for people, with names on it that senders have chosen."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from gate import run
from traffic import body, numbered, offer
from traffic import shown as shown_name

LIMITS = """
maxHourlySeries: 1000
tenants: {mode: observe, default: {maxHourlySeries: 4}}
limits: [{name: per-path, each: [path, job], perTenant: true, maxHourlySeries: 9}]
"""


class Page(HTMLParser):
    """What a browser would make of it: elements, what links lead to, the text of cells by row."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.rows, self.styles, self._open = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "a":
            self.links.append(dict(attributes)["href"])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in ("meta", "link"):
            self._open.append(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if "td" in self._open or "th" in self._open:
            self.rows[-1][-1] += data
        if self._open and self._open[-1] == "style":
            self.styles.append(data)


def page(gate):
    reply = gate.get("/")
    assert reply.status == 200
    return Page(reply.body.decode())


def test_the_page_says_what_the_gate_is_and_where_to_look(gate):
    text = gate.get("/").body.decode()
    version = gate.stats["version"]
    assert f"<h1>seriesgate {version}</h1>" in text and version in run("--version").stdout
    assert re.search(r"<p>Up for \d+ s, mode: enforce\.</p>", text)
    links = Page(text).links
    assert {"/-/healthy", "/-/ready", "/stats", "/metrics", "/config"} <= set(links)
    for link in links:
        assert gate.get(link).status == 200, link


def test_its_headers_let_nothing_run_load_or_frame_it(gate):
    reply = gate.get("/")
    assert reply.get("Content-Type") == "text/html; charset=utf-8"
    assert reply.get("X-Content-Type-Options") == "nosniff"
    style, = Page(reply.body.decode()).styles
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert reply.get("Content-Security-Policy") == (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
    with gate.client() as client:
        head = client.request("HEAD", "/")
        assert (head.status, head.body) == (200, b"")
        assert head.get("Content-Security-Policy") == reply.get("Content-Security-Policy")
        assert client.get("/?from=somewhere").status == 200


@pytest.mark.parametrize("method", ["POST", "DELETE", "OPTIONS"])
def test_it_is_there_to_be_read(gate, method):
    with gate.client() as client:
        reply = client.request(method, "/")
    assert (reply.status, reply.get("Allow")) == (405, "GET, HEAD")


def test_it_shows_windows_and_the_ten_with_the_most_demand(limited, upstream):
    gate = limited(LIMITS)
    for n in range(1, 13):
        offer(gate, upstream, numbered(n, job="j", path=f"/{n}"), f"team-{n}")
    rows = page(gate).rows
    assert rows[1][:4] == ["hour", str(sum(min(n, 9) for n in range(1, 13))), "1000", str(1 + 2 + 3)]
    assert rows[2][:3] == ["day", rows[1][1], "not limited"]
    tenants = [row for row in rows if row[0].startswith("team-")]
    assert [row[0] for row in tenants] == [f"team-{n}" for n in range(12, 2, -1)]
    assert tenants[0] == ["team-12", "observe", "4", "4", "8", "9", "not limited", "0"]
    groups = [row for row in rows if row[0] == "per-path"]
    assert [row[2] for row in groups] == [f"team-{n}" for n in range(12, 2, -1)]
    assert groups[0] == ["per-path", "path=/12, job=j", "team-12", "enforce", "9", "9", "3", "9", "not limited", "0"]


HOSTILE = [b"<script>alert(1)</script>", b"</td></table><h1>", b"\"onmouseover=\"x", b"<!--", b"]]>", b"&lt;b&gt;", b"\xff<b>",
           b"<img src=x onerror=alert(1)>", b"\xe2\x80\xaeevil", b"javascript:alert(1)", b"</style><style>*{}"]


def test_no_name_becomes_part_of_the_page(limited, upstream):
    gate = limited(LIMITS)
    usual = page(gate)
    for name in HOSTILE[:10]:
        gate.send(body(numbered(2, path=name, job=name)), [("X-Scope-OrgID", name.decode("latin-1"))])
    shown = page(gate)
    assert set(shown.tags) <= set(usual.tags) | {"bdi"}
    assert (shown.links, shown.styles, shown.tags.count("h1")) == (usual.links, usual.styles, 1)
    expected = {shown_name(name) for name in HOSTILE[:10]}
    assert {row[0] for row in shown.rows} >= expected
    assert {row[1] for row in shown.rows} >= {f"path={name}, job={name}" for name in expected}


def test_control_characters_are_shown_and_not_sent(limited, upstream):
    gate = limited(LIMITS)
    offer(gate, upstream, numbered(2, path=b"a\x00\x1b\x07\r\nb\x7f", job="j"))
    shown = gate.get("/").body
    assert b"path=a\\x00\\x1b\\x07\\x0d\\x0ab\\x7f, job=j" in shown
    assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", shown)


def test_it_is_as_new_as_its_question(limited, upstream):
    gate = limited(LIMITS)
    for n in range(1, 4):
        offer(gate, upstream, numbered(1, start=n), "t")
        assert page(gate).rows[1][1] == str(n)

"""GET /: the page for people, with names on it that senders have chosen."""

import base64
import hashlib
import re
from html.parser import HTMLParser

from traffic import body, numbered, offer
from traffic import shown as shown_name
from waiting import eventually

LIMITS = """
maxHourlySeries: 1000
tenants: {mode: observe, default: {maxHourlySeries: 4}}
limits: [{name: per-path, each: [path, job], perTenant: true, maxHourlySeries: 9}]
"""


class Page(HTMLParser):
    """What a browser would make of it without scripts. All that opens closes, and has no style or script of its own."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.texts, self._open = [], [], [], []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        assert not [name for name, _ in attributes if name.startswith("on") or name == "style"], attributes
        self.tags.append(tag)
        self.links += [value for name, value in attributes if name == "href" and tag == "a"]
        if tag not in ("meta", "link", "input", "wbr"):
            self._open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def page(gate):
    reply = gate.get("/")
    assert reply.status == 200
    return reply.body.decode()


def test_the_page_says_what_the_gate_is_and_where_to_look(gate):
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    text = page(gate)
    assert f"<h1>seriesgate <small>{gate.stats['version']}</small></h1>" in text
    shown = Page(text)
    for said in (r"mode: enforce", r"up for \d+ s, as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC",
                 r"Nothing is refused this hour"):
        assert re.search(rf"\b{said}\b", "".join(shown.texts)), said
    assert {"-/healthy", "-/ready", "stats", "metrics", "config", "api/v1/findings", "api/v1/top", "api/v1/refused"} <= set(
        shown.links)
    for link in shown.links:
        if not link.startswith("#"):
            assert gate.get("/" + link).status == 200, link


def hash_of(text):
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def test_its_headers_let_nothing_but_its_own_script_run_and_nothing_load_or_frame_it(gate):
    reply = gate.get("/")
    assert reply.get("Content-Type") == "text/html; charset=utf-8"
    assert reply.get("X-Content-Type-Options") == "nosniff"
    text = reply.body.decode()
    style, = re.findall(r"<style>(.*?)</style>", text, re.S)
    script, = re.findall(r"<script[^>]*>(.*?)</script>", text, re.S)
    assert reply.get("Content-Security-Policy") == (
        f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(script)}; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'")
    with gate.client() as client:
        head = client.request("HEAD", "/")
        assert (head.status, head.body) == (200, b"")
        assert head.get("Content-Security-Policy") == reply.get("Content-Security-Policy")
        assert client.get("/?from=somewhere").status == 200


def test_it_shows_windows_and_the_budgets_with_the_most_demand(limited, upstream):
    gate = limited(LIMITS)
    for n in range(1, 13):
        offer(gate, upstream, numbered(n, job="j", path=f"/{n}"), f"team-{n}")
    text = page(gate)
    admitted = sum(min(n, 9) for n in range(1, 13))
    for said in ("Data is withheld: 6 new series refused this hour", f"<strong>{admitted}</strong> of 1,000 series",
                 f"<dd>{1000 - admitted}</dd>", f"<strong>{admitted}</strong> series, not limited",
                 "24 of 24, those with the most demand; the fullest first."):
        assert said in text
    row = ("<tr><th scope=\"row\">{}</th><td><bdi>{}</bdi></td><td><bdi>team-12</bdi></td>"
           "<td>{}</td><td>{}</td><td>{}</td>")
    assert row.format("<em>tenant</em>", "", "observe", 4, 4) in text
    assert row.format("<bdi>per-path</bdi>", "path=/12, job=j", "enforce", 9, 9) in text
    assert re.findall(r"<bdi>path=[^<]*</bdi></td><td><bdi>team-(\d+)", text) == [str(n) for n in range(12, 0, -1)]


HOSTILE = [b"<script>alert(1)</script>", b"</td></table><h1>", b"\"onmouseover=\"x", b"<!--", b"]]>", b"&lt;b&gt;", b"\xff<b>",
           b"<img src=x onerror=alert(1)>", b"\xe2\x80\xaeevil", b"javascript:alert(1)"]


def test_no_name_becomes_part_of_the_page(limited):
    gate = limited(LIMITS)
    usual = Page(page(gate))
    for name in HOSTILE:
        gate.send(body(numbered(2, path=name, job=name)), [("X-Scope-OrgID", name.decode("latin-1"))])
    shown = Page(page(gate))
    added = {"abbr", "bdi", "code", "form", "label", "input", "button", "caption", "em", "strong", "table", "tbody", "thead", "tr",
             "td", "th", "time", "wbr"}
    assert set(shown.tags) <= set(usual.tags) | added
    assert [tag for tag in shown.tags if tag in ("h1", "img", "script", "style")] == ["style", "script", "h1"]
    assert [link for link in shown.links if "/" not in link and not link.startswith("#") and link not in usual.links] == []
    for name in map(shown_name, HOSTILE):
        assert {name, f"path={name}, job={name}"} <= set(shown.texts)


def test_it_is_as_new_as_its_question(limited, upstream):
    gate = limited(LIMITS)
    for n in range(1, 4):
        offer(gate, upstream, numbered(1, start=n), "t")
        assert f"<strong>{n}</strong> of 1,000 series" in page(gate)


def test_tenants_have_a_table_where_senders_name_any(limited, upstream):
    gate = limited(LIMITS)
    offer(gate, upstream, numbered(1))
    assert ">Tenants<" not in page(gate)
    offer(gate, upstream, numbered(2, start=1), "team-a")
    shown = Page(page(gate)).texts
    assert "Tenants" in shown and "team-a" in shown

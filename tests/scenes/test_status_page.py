"""GET /: the page for people, with names on it that senders have chosen."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

from traffic import body, numbered, offer
from traffic import shown as shown_name
from waiting import eventually

LIMITS = """
maxHourlySeries: 1000
tenants: {mode: observe, default: {maxHourlySeries: 4}}
limits: [{name: per-path, each: [path, job], perTenant: true, maxHourlySeries: 9}]
"""


class Page(HTMLParser):
    """What a browser would make of it without scripts: elements, what links lead to, texts by the id of the element, the
    text of cells by row."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.rows, self.styles, self.scripts, self.texts = [], [], [], [], [], {}
        self._open = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        assert not [name for name in attributes if name.startswith("on") or name == "style"], attributes
        self.tags.append(tag)
        if tag == "a":
            self.links.append(attributes["href"])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in ("meta", "link", "input"):
            self._open.append((tag, attributes.get("id")))
            if "id" in attributes:
                assert attributes["id"] not in self.texts, f"{attributes['id']} twice"
                self.texts[attributes["id"]] = ""

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self._open.pop()[0] == tag

    def handle_data(self, data):
        tags = [tag for tag, _ in self._open]
        if "td" in tags or "th" in tags:
            self.rows[-1][-1] += data
        for _, name in self._open:
            if name is not None:
                self.texts[name] += data
        if tags and tags[-1] in ("style", "script"):
            (self.styles if tags[-1] == "style" else self.scripts).append(data)

    def budgets(self):
        """The rows of their table."""
        return [row for row in self.rows if len(row) == 12][1:]

    def window(self, name):
        """What is said of "This hour" or "Today": {what: number or words}."""
        text = self.texts["windows"]
        text = text[text.index(name + "\n"):]
        text = text[:text.index("ends at")]
        found = dict(re.findall(r"^(refused|would be refused|reserved|room)[^\n0-9]*?((?:about )?[\d,]+|not limited)$",
                                text, re.M))
        found["admitted"], found["of"] = re.search(r"^([\d,]+)(?: of ([\d,]+))? series", text, re.M).groups()
        return found


def page(gate):
    reply = gate.get("/")
    assert reply.status == 200
    return Page(reply.body.decode())


def test_the_page_says_what_the_gate_is_and_where_to_look(gate):
    eventually(lambda: gate.get("/-/ready").status == 200, "it is ready")
    text = gate.get("/").body.decode()
    version = gate.stats["version"]
    assert f"<h1>seriesgate {version}</h1>" in text
    shown = Page(text)
    assert shown.texts["mode"] == "mode: enforce"
    assert re.fullmatch(r"up for \d+ s, as of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC", shown.texts["as-of"])
    assert shown.texts["verdict"] == "Nothing is refused this hour"
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
    shown = Page(reply.body.decode())
    style, = shown.styles
    script, = shown.scripts
    assert reply.get("Content-Security-Policy") == (
        f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(script)}; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
        "trusted-types 'none'")
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


def test_it_shows_windows_and_the_budgets_with_the_most_demand(limited, upstream):
    gate = limited(LIMITS)
    for n in range(1, 13):
        offer(gate, upstream, numbered(n, job="j", path=f"/{n}"), f"team-{n}")
    shown = page(gate)
    admitted = str(sum(min(n, 9) for n in range(1, 13)))
    assert shown.texts["verdict"] == "Data is withheld: 6 new series refused this hour"
    assert shown.window("This hour") == {"admitted": admitted, "of": "1,000", "refused": "6", "reserved": "0",
                                         "room": str(1000 - int(admitted))}
    assert shown.window("Today") == {"admitted": admitted, "of": None, "refused": "0", "reserved": "0",
                                     "room": "not limited"}
    assert shown.texts["budget-count"] == "24 of 24, those with the most demand."
    rows = shown.budgets()
    assert len(rows) == 24
    assert rows[0] == ["tenant", "", "team-12", "observe", "4", "4", "100 %", "8", "9", "–", "", "0"]
    assert next(row for row in rows if row[0] == "per-path") == [
        "per-path", "path=/12, job=j", "team-12", "enforce", "9", "9", "100 %", "3", "9", "–", "", "0"]
    assert [row[2] for row in rows if row[0] == "per-path"] == [f"team-{n}" for n in range(12, 0, -1)]


HOSTILE = [b"<script>alert(1)</script>", b"</td></table><h1>", b"\"onmouseover=\"x", b"<!--", b"]]>", b"&lt;b&gt;", b"\xff<b>",
           b"<img src=x onerror=alert(1)>", b"\xe2\x80\xaeevil", b"javascript:alert(1)", b"</style><style>*{}"]


def test_no_name_becomes_part_of_the_page(limited, upstream):
    gate = limited(LIMITS)
    usual = page(gate)
    for name in HOSTILE[:10]:
        gate.send(body(numbered(2, path=name, job=name)), [("X-Scope-OrgID", name.decode("latin-1"))])
    shown = page(gate)
    added = {"bdi", "code", "form", "label", "input", "button", "caption", "em", "strong", "table", "tbody", "thead", "tr",
             "td", "th"}
    assert set(shown.tags) <= set(usual.tags) | added
    assert (shown.styles, shown.scripts) == (usual.styles, usual.scripts)
    assert [tag for tag in shown.tags if tag in ("h1", "img", "script", "style")] == ["style", "script", "h1"]
    assert [link for link in shown.links if "/" not in link and not link.startswith("#") and link not in usual.links] == []
    expected = {shown_name(name) for name in HOSTILE[:10]}
    assert {row[2] for row in shown.budgets()} >= expected
    assert {row[1] for row in shown.budgets()} >= {f"path={name}, job={name}" for name in expected}


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
        assert page(gate).window("This hour")["admitted"] == str(n)

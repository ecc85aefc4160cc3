"""GET / in a real browser, for everybody: without scripts, in the dark, on a phone, by keyboard, read aloud, on paper;
and with budgets by the thousand, and names that senders have chosen to do harm."""

import pytest

from browser import ENTER, SHIFT, TAB
from browser import explode, exploded, open_page, rows  # noqa: F401
from traffic import TENANT, body, numbered

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def test_without_scripts_everything_essential_is_there_and_no_button_is(exploded):
    _, shown = exploded(scripts=False)
    assert shown.text("#verdict") == "Data is withheld: 2,500 new series refused this hour"
    assert "\nWhy: the global limit has no room this hour.\n" in shown.text("#now")
    assert shown.text(".culprit").startswith("label trace_id of http_requests_total has ")
    assert shown.text("#hour-1-relabel").startswith("- source_labels: ['__name__'")
    assert ["per-job", "job=shop", "", "enforce", "500", "1,000", "50 %", "0", "500", "–", "", "0"] in rows(shown)
    assert shown.text("#windows").count("500 of 500 series") == 1
    assert [len(each.find_elements("css selector", "g")) for each in shown.all(".chart svg")] == [60, 24] and len(shown.all("#refused tbody tr")) == 20
    assert [each.text for each in shown.all("button") if each.is_displayed()] == []
    assert not shown.find("#budget-controls").is_displayed()


def test_dark_and_light_are_as_the_system_says_and_can_be_read(exploded):
    _, shown = exploded()
    grounds = {}
    for scheme in ("light", "dark"):
        shown.scheme(scheme)
        grounds[scheme] = brightness(shown.run("return getComputedStyle(document.body).backgroundColor"))
        for selector in ("#verdict", ".culprit", ".quiet", "td.bad", "dt", "a", "thead th", "pre"):
            assert contrast(shown, selector) >= 4.5, (scheme, selector)
    assert grounds["light"] > 0.8 and grounds["dark"] < 0.05


def brightness(color):
    """Relative luminance. Source: WCAG 2.1."""
    parts = [float(part) / 255 for part in color[color.index("(") + 1:-1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(shown, selector):
    text, ground = shown.run("""
        let each = document.querySelector(arguments[0]);
        const text = getComputedStyle(each).color;
        while (getComputedStyle(each).backgroundColor === "rgba(0, 0, 0, 0)") each = each.parentElement;
        return [text, getComputedStyle(each).backgroundColor];""", selector)
    lighter, darker = sorted((brightness(text), brightness(ground)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def test_on_a_phone_nothing_is_wider_than_the_screen(exploded):
    _, shown = exploded(job="j" * 300, namespace="n" * 300)
    for width in (320, 390):
        shown.size(width, 800, mobile=True)
        shown.refresh()
        assert shown.run("return document.documentElement.scrollWidth") == width
        assert shown.run("const box = document.getElementById('budget-box'); return box.scrollWidth > box.clientWidth")
        tall = [each.size["height"] for each in shown.all("button") if each.is_displayed()]
        assert tall and min(tall) >= 24  # WCAG 2.2, target size


def test_the_keyboard_reaches_everything_and_is_seen(exploded):
    gate, shown = exploded()
    shown.until(lambda: shown.all("th[data-by] button"), "the script has begun")

    def focused():
        return shown.run("const it = document.activeElement; return it.id || it.parentElement.dataset?.by || it.className")

    shown.keys(TAB)
    assert focused() == "skip"
    assert shown.find(".skip").rect["x"] >= 0
    shown.keys(ENTER)
    shown.keys(TAB)
    assert focused() == "hour-1-relabel-copy"
    assert shown.run("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    seen = []
    for _ in range(60):
        seen.append(focused())
        shown.keys(TAB)
        if focused() == "dayRefused":
            break
    assert [each for each in ("hour-1-relabel-copy", "hour-1-relabel", "hour-1-limit-copy", "hour-1-limit",
                              "budget-filter", "budget-spent", "budget-box", "limit") if each not in seen] == []
    shown.keys(ENTER)
    assert shown.find("th[data-by=dayRefused]").get_attribute("aria-sort") == "descending"
    assert focused() == "dayRefused"
    shown.run("document.getElementById('hour-1-relabel-copy').focus()")
    gate.send(body(numbered(1, start=5)))
    before = shown.text("#verdict")
    shown.refresh()
    assert shown.text("#verdict") != before and focused() == "hour-1-relabel-copy"
    shown.keys(SHIFT + TAB)
    assert focused() == "main" or focused() == "skip"


def test_screen_readers_find_their_way(exploded):
    gate, shown = exploded(count=400)
    shown.until(lambda: shown.all("th[data-by] button"), "the script has begun")
    assert [len(shown.all(each)) for each in ("h1", "main", "header", "html[lang=en]")] == [1, 1, 1, 1]
    assert shown.run("""return [...document.querySelectorAll("section, [role=region], table")].filter((each) => {
        const name = each.getAttribute("aria-labelledby");
        return !(name ? document.getElementById(name)?.textContent : each.querySelector("caption")?.textContent);
    }).map((each) => each.outerHTML)""") == []
    levels = shown.run("return [...document.querySelectorAll('h1,h2,h3,h4')].map((each) => Number(each.localName[1]))")
    assert all(after - before <= 1 for before, after in zip(levels, levels[1:])), levels
    assert "new and " in shown.find(".chart svg[role=img]").get_attribute("aria-label")
    assert shown.find("#said").get_attribute("role") == "status"
    # What has changed is said, once.
    explode(gate, 1000)
    shown.refresh()
    said = shown.run("return document.getElementById('said').textContent")
    assert said == "Data is withheld: 500 new series refused this hour"
    tree = shown.command("Accessibility.getFullAXTree")["nodes"]
    unnamed = [node for node in tree if not node.get("ignored") and node["role"]["value"] in
               ("button", "link", "searchbox", "checkbox", "image") and not node.get("name", {}).get("value")]
    assert unnamed == []


def test_it_can_be_printed(exploded):
    _, shown = exploded()
    shown.command("Emulation.setEmulatedMedia", media="print")
    assert [each.text for each in shown.all("button") if each.is_displayed()] == []
    assert shown.find("#hour-1-relabel").is_displayed() and shown.find("#budget-rows").is_displayed()


# --- budgets and names

MANY = """
maxHourlySeries: 100000
tenants: {default: {maxHourlySeries: 40}}
limits: [{name: per-path, each: [path], maxHourlySeries: 1000}]
"""


def test_budgets_are_sorted_and_filtered_and_stay_so(limited, open_page):
    gate = limited(MANY)
    for n in range(1, 61):
        gate.send(body(numbered(n, path=f"/{n % 7}")), [(TENANT, f"team-{n}")])
    shown = open_page(gate)
    shown.until(lambda: shown.text("#budget-count").startswith("1 to 67 of 67"), "the table is there")
    assert [row[2] for row in rows(shown)[:9] if row[0] == "tenant"][0] == "team-60"

    def head(by):
        return shown.find(f"th[data-by={by}] button")

    def sorted_by():
        return {each.get_attribute("data-by"): each.get_attribute("aria-sort") for each in shown.all("th[aria-sort]")}

    head("tenant").click()
    assert sorted_by() == {"tenant": "ascending"}
    head("tenant").click()
    assert sorted_by() == {"tenant": "descending"} and rows(shown)[0][2] == "team-9"
    head("hourRefused").click()
    assert sorted_by() == {"hourRefused": "descending"}
    assert [(row[2], row[7]) for row in rows(shown)[:3]] == [("team-60", "20"), ("team-59", "19"), ("team-58", "18")]
    head("hourUsed").click()
    assert rows(shown)[0][6] == "100 %" and rows(shown)[-1][6] == "2 %"

    shown.find("#budget-filter").send_keys("TEAM-5")
    assert {row[2] for row in rows(shown)} == {"team-5"} | {f"team-{n}" for n in range(50, 60)}
    assert shown.text("#budget-count") == "1 to 11 of 11 (67 in all)"
    shown.find("#budget-spent").click()
    assert {row[2] for row in rows(shown)} == {f"team-{n}" for n in range(50, 60)}
    # What has come meanwhile is shown, and nothing of this is lost.
    gate.send(body(numbered(100, path="/x")), [(TENANT, "team-555")])
    head("hourRefused").click()
    shown.find("#budget-filter").send_keys("")
    shown.run("document.getElementById('budget-filter').focus()")
    shown.refresh()
    shown.until(lambda: rows(shown)[0][2] == "team-555", "the newcomer is there")
    assert shown.run("return document.activeElement.id") == "budget-filter"
    assert shown.run("return document.getElementById('budget-filter').value") == "TEAM-5"
    assert sorted_by() == {"hourRefused": "descending"}
    shown.find("#budget-filter").clear()
    shown.find("#budget-filter").send_keys("nobody")
    assert rows(shown) == [["No budget matches."]] and shown.text("#budget-count") == "0 of 0 (69 in all)"


@pytest.mark.timeout(180)
def test_ten_thousand_budgets_stay_usable(limited, open_page):
    gate = limited("limits: [{name: per-namespace, each: [namespace], maxGroups: 20000, maxHourlySeries: 1000}]\n")
    for start in range(0, 10_000, 1000):
        gate.send(body([{"__name__": "m", "namespace": f"namespace-{n}", "n": str(i)}
                        for n in range(start, start + 1000) for i in range(1 + n // 5000)]))
    assert len(gate.get("/").body) < 200 * 1024
    shown = open_page(gate)
    shown.until(lambda: shown.text("#budget-count") == "1 to 100 of 10,001", "all of them are there", 30)
    assert len(rows(shown)) == 100

    shown.command("Performance.enable", timeDomain="threadTicks")  # of its processor, not of the clock

    def worked():
        return {each["name"]: each["value"] for each in shown.command("Performance.getMetrics")["metrics"]}["TaskDuration"]

    def took(script):
        """Seconds of work until it is done and painted."""
        before = worked()
        shown.driver.execute_async_script("const done = arguments[arguments.length - 1];" + script +
                                          "; requestAnimationFrame(() => requestAnimationFrame(done))")
        return worked() - before

    assert 0 < took("document.querySelector('th[data-by=group] button').click()") < 2, "sorted"
    assert [row[1] for row in rows(shown)[:2]] == ["", "namespace=namespace-0"]  # a tenant's has no group
    assert (took("const box = document.getElementById('budget-filter'); box.value = 'namespace-77';"
                 "box.dispatchEvent(new Event('input'))") < 2), "filtered"
    assert len(rows(shown)) == 100 and shown.text("#budget-count") == "1 to 100 of 111 (10,001 in all)"
    shown.find("#budget-on").click()
    assert len(rows(shown)) == 11 and not shown.find("#budget-on").is_enabled()
    shown.find("#budget-back").click()
    assert len(rows(shown)) == 100 and not shown.find("#budget-back").is_enabled()


HOSTILE = ["<script>document.title='bad'</script>", "<img src=x onerror=\"document.title='bad'\">", "</td></table><h1>bad",
           "\u202eevil\u2066", "\u0000\u001b[31m\u0007", "javascript:document.title='bad'", "{{constructor}}", "&lt;b&gt;"]


def test_no_name_becomes_markup_in_page_or_script(limited, open_page):
    gate = limited("maxHourlySeries: 1000\ntenants: {default: {maxHourlySeries: 3}}\n"
                   "limits: [{name: per-path, each: [path], maxHourlySeries: 2}]\n")
    shown = open_page(gate)
    elements = "return [...new Set([...document.querySelectorAll('*')].map((each) => each.localName))].sort()"
    for name in HOSTILE:
        gate.send(body(numbered(5, path=name, job=name, **{"__name__": name or "m"})),
                  [(TENANT, "".join(c for c in name if c.isprintable() and c.isascii()) or "odd"),
                   ("User-Agent", "".join(c for c in name if c.isprintable() and c.isascii()) or "odd")])
    explode(gate, path=HOSTILE[0])
    for _ in range(2):
        shown.refresh()
        shown.until(lambda: len(rows(shown)) >= len(HOSTILE), "the budgets are there")
        assert shown.run("return document.title") == "! seriesgate withholds"
        assert not {"img", "iframe", "object"} & set(shown.run(elements))
        assert shown.run("return document.querySelectorAll('script').length") == 1
        assert [len(shown.all(each)) for each in ("h1", "main", "table#budget-table")] == [1, 1, 1]
        groups = {row[1] for row in rows(shown)}
        assert {"path=<script>document.title='bad'</script>", "path=\\u202eevil\\u2066", "path=\\x00\\x1b[31m\\x07",
                "path=&lt;b&gt;"} <= groups
        text = shown.run("return document.body.textContent")
        assert not [each for each in "\u202e\u2066\u0000\u001b\u0007" if each in text]
        gate.send(body(numbered(1, start=99, path="one more")))


def test_long_values_are_cut_and_shown_whole_when_asked_for(limited, open_page):
    gate = limited("maxHourlySeries: 2\nlimits: [{name: per-path, each: [path], maxHourlySeries: 1000}]\n")
    path = "/" + "p" * 900 + "/end"
    gate.send(body(numbered(2, path=path)))
    gate.send(body([{"__name__": "m", "job": "a \"b\"", "namespace": "shop", "big": "x" * 65536}]))
    shown = open_page(gate)
    shown.until(lambda: shown.all("#budget-rows details"), "a name is cut")
    assert len(shown.text("#budget-rows summary")) < 120
    shown.find("#budget-rows summary").click()
    assert shown.text("#budget-rows details > bdi") == "path=" + path
    shown.refresh()
    assert shown.text("#budget-rows details > bdi") == "path=" + path  # whoever reads it is not disturbed
    assert len(gate.get("/").body) < 100 * 1024
    assert len(shown.text("#refused tbody tr")) < 700
    shown.may_complain = lambda message: "favicon.ico" in message  # JSON names no icon
    shown.find("#refused tbody a").click()
    shown.until(lambda: "x" * 65536 in shown.run("return document.body.textContent"), "all of it is shown")

"""GET / in a real browser, for everybody: without scripts, in the dark, on a phone, by keyboard, read aloud, on paper."""

import pytest

from browser import ENTER, SHIFT, TAB
from page_scenes import LIMITED, explode, open_page, rows  # noqa: F401
from traffic import body, numbered

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


def test_without_scripts_everything_essential_is_there_and_no_button_is(limited, open_page):
    gate = limited(LIMITED)
    explode(gate)
    shown = open_page(gate, scripts=False)
    assert shown.text("#verdict") == "Data is withheld: 2,500 new series refused this hour"
    assert "\nWhy: the global limit has no room this hour.\n" in shown.text("#now")
    assert shown.text(".culprit").startswith("label trace_id of http_requests_total has ")
    assert shown.text("#hour-1-relabel").startswith("- source_labels: ['__name__'")
    assert ["per-job", "job=shop", "", "enforce", "500", "1,000", "50 %", "0", "500", "–", "", "0"] in rows(shown)
    assert shown.text("#windows").count("500 of 500 series") == 1
    assert [len(each.find_elements("css selector", "g")) for each in shown.all(".chart svg")] == [60, 24] and len(shown.all("#refused tbody tr")) == 20
    assert [each.text for each in shown.all("button") if each.is_displayed()] == []
    assert not shown.find("#budget-controls").is_displayed()


def test_dark_and_light_are_as_the_system_says_and_can_be_read(limited, open_page):
    gate = limited(LIMITED)
    explode(gate)
    shown = open_page(gate)
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


@pytest.mark.parametrize("width", [320, 390])
def test_on_a_phone_nothing_is_wider_than_the_screen(limited, open_page, width):
    gate = limited(LIMITED)
    explode(gate, job="j" * 300, namespace="n" * 300)
    shown = open_page(gate)
    shown.size(width, 800, mobile=True)
    shown.refresh()
    assert shown.run("return document.documentElement.scrollWidth") == width
    assert shown.run("const box = document.getElementById('budget-box'); return box.scrollWidth > box.clientWidth")
    tall = [each.size["height"] for each in shown.all("button") if each.is_displayed()]
    assert tall and min(tall) >= 24  # WCAG 2.2, target size


def test_the_keyboard_reaches_everything_and_is_seen(limited, open_page):
    gate = limited(LIMITED)
    explode(gate)
    shown = open_page(gate)
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


def test_screen_readers_find_their_way(limited, open_page):
    gate = limited(LIMITED)
    explode(gate, 400)
    shown = open_page(gate)
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


def test_it_can_be_printed(limited, open_page):
    gate = limited(LIMITED)
    explode(gate)
    shown = open_page(gate)
    shown.command("Emulation.setEmulatedMedia", media="print")
    assert [each.text for each in shown.all("button") if each.is_displayed()] == []
    assert shown.find("#hour-1-relabel").is_displayed() and shown.find("#budget-rows").is_displayed()

"""GET / in a real browser: what an operator sees, copies and is told. Debian's Chromium without a window."""

import pytest
import yaml

from answering import Answering
from gate import run
from page_pictures import make_pictures
from browser import explode, exploded, open_page, rows  # noqa: F401
from servers import Prometheus, free_port, scraping
from waiting import eventually
from web_files import ALICE, users
from world import time

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("browser")]


@pytest.mark.timeout(180)
def test_an_explosion_in_a_real_chain_is_shown_with_its_culprit_and_a_remedy(start_gate, open_page, keep, tmp_path):
    """That what is pasted stops it: test_remedies.py."""
    series = 0
    pages = "".join(f'checkouts_total{{page="/{i}"}} 1\n' for i in range(10))
    target = keep(Answering(lambda _: (pages + "".join(f'checkouts_total{{session="{i:08x}"}} 1\n' for i in range(series))).encode()))
    gate = start_gate("--upstream.url=discard:", "--maxHourlySeries=1500")
    keep(Prometheus(tmp_path, scraping({"checkout": f"127.0.0.1:{target.server_port}"}, f"{gate.url}/api/v1/write")))
    eventually(lambda: gate.current() >= 10, "the first series are through", 30)
    shown = open_page(gate, refreshes=True)
    assert shown.text("#verdict") == "Nothing is refused this hour"
    series = 4000
    shown.until(lambda: shown.run("return document.querySelector('#now').classList.contains('withheld')")
                and shown.all("#hour-1-relabel"), "the page says so by itself", 45)
    shown.until(lambda: "4,0" in shown.text(".culprit"), "all of them have come", 30)
    said = shown.text(".culprit")
    assert said.startswith("label session of checkouts_total has ")
    assert " of job checkout, from 127.0.0.1 (Prometheus/" in said
    assert shown.run("return document.title") == "! seriesgate withholds"
    assert yaml.safe_load(shown.text("#hour-1-relabel")) == [
        {"source_labels": ["__name__", "job", "session"], "regex": "checkouts_total;checkout;.+", "action": "drop"}]
    taken = tmp_path / "limit.yaml"
    taken.write_text("upstream: {url: 'discard:'}\nlimits:\n" + shown.text("#hour-1-limit"))
    assert run(f"--config.file={taken}", "--check-config").returncode == 0


def press_copy(shown, selector):
    """Its button says that it has copied, for two seconds: an observer sees it."""
    shown.run("""
        const button = document.querySelector(arguments[0]);
        window.seen = [];
        new MutationObserver(() => seen.push(button.textContent)).observe(button, {childList: true});""", selector)
    shown.find(selector).click()
    shown.until(lambda: "Copied" in shown.run("return seen"), "it says so")


def test_the_remedy_is_copied(exploded):
    gate, shown = exploded()
    origin = f"http://127.0.0.1:{gate.admin_address[1]}"
    shown.command("Browser.grantPermissions", origin=origin,
                  permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    press_copy(shown, "#hour-1-relabel-copy")
    assert shown.run("return document.getElementById('said').textContent") == "Copied"

    def clipboard():
        return shown.driver.execute_async_script("navigator.clipboard.readText().then(arguments[0], arguments[0])")

    assert clipboard() == shown.run("return document.getElementById('hour-1-relabel').textContent")
    assert clipboard().startswith("- source_labels: ['__name__', 'job', 'trace_id']\n")
    # Where the page comes by plain HTTP from another machine there is no such clipboard.
    shown.run("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    press_copy(shown, "#hour-1-limit-copy")
    shown.run("delete navigator.clipboard")
    assert clipboard().startswith("- name: 'http_requests_total'\n")
    shown.until(lambda: shown.text("#hour-1-limit-copy") == "Copy", "it can be copied again")


def test_a_series_that_was_refused_is_explained_and_so_is_one_that_is_typed(exploded):
    _, shown = exploded("maxHourlySeries: 500\nlimits: [{name: per-job, each: [job], maxHourlySeries: 400}]\n", path='a "b" \\c')
    address = shown.driver.current_url
    shown.find("#refused-box a.why").click()
    shown.until(lambda: shown.text("#explain-answer").startswith("refused: refused lately"), "the refused one")
    assert 'path="a \\"b\\" \\\\c"' in shown.find("#explain-series").get_attribute("value")
    assert shown.run("return [...document.querySelectorAll('#explain-answer tbody tr')].map((row) => row.cells[0].textContent)") == [
        "global", "tenant", "per-job"]
    box = shown.find("#explain-series")
    box.clear()
    box.send_keys(f'http_requests_total{{job="shop",instance="10.1.0.0:80",trace_id="{0:032x}",path="a \\"b\\" \\\\c"}}', "\n")
    shown.until(lambda: shown.text("#explain-answer").startswith("known: "), "one that is known")
    box.clear()
    box.send_keys('up{job=~"a"}', "\n")
    shown.until(lambda: "every label needs an '='" in shown.text("#explain-answer"), "one that is no series")
    shown.may_complain = lambda message: "a status of 400" in message
    assert shown.driver.current_url == address  # the policy sends no form anywhere


def test_what_is_full_and_refuses_nothing_is_not_red(exploded):
    _, shown = exploded("ignoreLabels: [trace_id]\nmaxIgnoredValues: 4\n"
                        "limits: [{name: seen, each: [job], maxHourlySeries: 100, mode: observe}]\n")
    shown.until(lambda: shown.text("#budget-count").startswith("1 to"), "the script has painted them")
    assert {"ignored-values", "seen"} <= {row[0] for row in rows(shown)}
    assert shown.all("#budget-rows .u95") and not shown.all("#budget-rows .u100, #budget-rows .bad")
    shown.find("#explain-series").send_keys('m{job="shop",trace_id="another"}', "\n")
    shown.until(lambda: shown.text("#explain-answer").startswith("admitted"), "it would be admitted")
    assert "100 of 100" in shown.text("#explain-answer") and not shown.all("#explain-answer .bad")


def test_a_gate_that_cannot_be_reached_is_told_and_found_again(limited, open_page, start_gate, upstream):
    listen = f"--listen=127.0.0.1:{free_port()}"
    gate = limited("maxHourlySeries: 500\n", listen)
    explode(gate)
    shown = open_page(gate)
    shown.may_complain = lambda message: "ERR_CONNECTION_" in message or "ERR_EMPTY_RESPONSE" in message
    assert not shown.find("#lost").is_displayed()
    gate.stop()
    shown.run("document.dispatchEvent(new Event('visibilitychange'))")
    shown.until(lambda: shown.find("#lost").is_displayed(), "the page says so")
    assert shown.text("#lost").startswith("The gate cannot be reached: it does not answer.")
    assert shown.text("#verdict") == "Data is withheld: 2,500 new series refused this hour"
    start_gate(f"--upstream.url={upstream.url}", listen)
    shown.run("document.dispatchEvent(new Event('visibilitychange'))")
    shown.until(lambda: not shown.find("#lost").is_displayed(), "it is there again")
    assert shown.text("#verdict") == "Nothing is refused this hour"


def test_it_refreshes_itself_while_it_is_seen(start_gate, open_page):
    gate = start_gate("--upstream.url=discard:", "--maxHourlySeries=500")
    shown = open_page(gate, refreshes=True)
    assert shown.text("#verdict") == "Nothing is refused this hour"
    explode(gate)
    shown.until(lambda: shown.text("#verdict").startswith("Data is withheld"), "it has refreshed itself", 25)
    shown.run("Object.defineProperty(document, 'hidden', {value: true, configurable: true});"
              "document.dispatchEvent(new Event('visibilitychange'))")
    before = shown.text("#as-of")
    time.sleep(12)  # more than the ten seconds after which it would ask
    assert shown.text("#as-of") == before


def test_what_somebody_has_selected_is_left_alone_for_a_while(exploded):
    gate, shown = exploded()
    shown.find("#hour-1-relabel").click()
    selected = shown.run("return getSelection().toString()")
    assert selected.startswith("- source_labels: ['__name__'")
    explode(gate, 500, path="more")
    shown.refresh()
    assert shown.run("return getSelection().toString()") == selected
    assert shown.text("#verdict") == "Data is withheld: 2,500 new series refused this hour"
    shown.run("const now = Date.now; Date.now = () => now() + 61_000")
    shown.refresh()
    assert shown.text("#verdict") == "Data is withheld: 3,000 new series refused this hour"


def test_with_a_password_and_an_address_of_its_own(guarded, open_page):
    gate = guarded(users(ALICE), "--maxHourlySeries=500", "--admin.listen=127.0.0.1:0")
    shown = open_page(gate, "/-/healthy")
    shown.may_complain = lambda message: "a status of 401" in message or "favicon.ico" in message
    shown.open(f"http://{ALICE[0]}:{ALICE[1]}@127.0.0.1:{gate.admin_address[1]}/")
    assert shown.text("#verdict") == "Nothing is refused this hour"
    shown.refresh()
    assert not shown.find("#lost").is_displayed()


def test_the_pictures_of_the_documents_can_be_made_anew(tmp_path):
    for picture in make_pictures(tmp_path):
        assert 50_000 < len(picture.read_bytes()) < 160 * 1024, picture

"""A headless Chromium, driven: what people see of the status page, and what they can do with it."""

import base64
import os
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from culprits import NAME, send
from servers import free_port
from waiting import eventually

#: What Debian's packages chromium and chromium-driver bring.
CHROMIUM = os.environ.get("SERIESGATE_CHROMIUM", "/usr/bin/chromium")
DRIVER = os.environ.get("SERIESGATE_CHROMEDRIVER", "/usr/bin/chromedriver")


#: Before the page's own script: ten seconds are what it waits for until it refreshes itself. That is counted, and never
#: ends.
STILL = """{
    const later = window.setTimeout;
    window.rests = 0;
    window.setTimeout = (what, delay, ...more) => delay === 10_000 ? (++rests, 0) : later(what, delay, ...more);
}"""


class Browser:
    """One window. `scripts`: whether pages may have any."""

    def may_complain(self, _):
        """Whether a complaint of its console is part of the test, which says so by a function in place of this."""
        return False

    def __init__(self, folder, width=1280, height=900, scripts=True):
        for program in (CHROMIUM, DRIVER):
            assert Path(program).exists(), f"no {program}: run scripts/install-deps.sh --test"
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for flag in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--no-proxy-server",
                     "--disable-lcd-text", "--disable-background-networking", "--disable-component-update",
                     "--no-first-run", "--hide-scrollbars",
                     f"--user-data-dir={Path(folder) / 'chromium'}", f"--window-size={width},{height}"):
            options.add_argument(flag)
        if not scripts:
            options.add_experimental_option("prefs", {"profile.managed_default_content_settings.javascript": 2})
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER, port=free_port()), options=options)
        self.driver.set_page_load_timeout(30)
        self.driver.set_script_timeout(30)

    def stop(self):
        self.driver.quit()

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def size(self, width, height, mobile=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def scheme(self, name):
        """`light` or `dark`, as the system's setting."""
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, url):
        self.driver.get(url)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        """As it is seen: what is not shown has none. In one step: parts of the page are replaced now and then."""
        return self.run("return document.querySelector(arguments[0]).innerText", selector)

    def until(self, condition, what, seconds=20):
        return eventually(condition, what, seconds, every=0.05)

    def stand_still(self):
        """Pages that are opened from now on do not refresh themselves: only refresh() does."""
        self.command("Page.addScriptToEvaluateOnNewDocument", source=STILL)

    def refresh(self):
        """What the page does by itself every ten seconds, now, as when its tab is shown again. Returns when it is done."""
        before = self.run("return rests")
        self.run("document.dispatchEvent(new Event('visibilitychange'))")
        self.until(lambda: self.run("return rests") > before, "the page has refreshed itself")

    def keys(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def screenshot(self, path, whole=False):
        size = self.run("return [document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
        clip = {"clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1},
                "captureBeyondViewport": True} if whole else {}
        Path(path).write_bytes(base64.b64decode(self.command("Page.captureScreenshot", format="png", **clip)["data"]))

    def complaints(self):
        """What its console says: violations of the policy, errors of scripts, what could not be loaded."""
        return [entry["message"] for entry in self.driver.get_log("browser")]


TAB, ENTER, SHIFT = Keys.TAB, Keys.ENTER, Keys.SHIFT


#: With some budgets beside the limit.
LIMITED = "maxHourlySeries: 500\nlimits: [{name: per-job, each: [job], maxHourlySeries: 1000}]\n"


@pytest.fixture
def open_page(tmp_path):
    """open_page(gate, **how): a browser that shows the gate's page, and at the end has complained of nothing. The page
    stands still, unless it `refreshes`."""
    opened = []

    def start(gate, path="/", refreshes=False, **how):
        shown = Browser(tmp_path / f"browser-{len(opened)}", **how)
        opened.append(shown)
        if not refreshes:
            shown.stand_still()
        shown.open(f"http://127.0.0.1:{gate.admin_address[1]}{path}")
        return shown

    yield start
    try:
        for shown in opened:
            assert [each for each in shown.complaints() if not shown.may_complain(each)] == []
    finally:
        for shown in opened:
            shown.stop()


def explode(gate, count=3000, tenant=None, agent="Prometheus/3.5.0", **labels):
    send(gate, [{"__name__": NAME, "job": "shop", "instance": f"10.1.0.{i % 5}:80", "trace_id": f"{i:032x}", **labels}
                for i in range(count)], agent, tenant)


@pytest.fixture
def exploded(limited, open_page):
    """exploded(text, **how): a gate amid an explosion, and a browser that shows its page."""
    def start(text=LIMITED, count=3000, scripts=True, **labels):
        gate = limited(text)
        explode(gate, count, **labels)
        return gate, open_page(gate, scripts=scripts)

    return start


def rows(shown):
    return shown.run("return [...document.querySelectorAll('#budget-rows tr')]"
                     ".map((row) => [...row.cells].map((cell) => cell.textContent))")

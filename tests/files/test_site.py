"""The site of the documents: what scripts/site.sh makes of them."""

import functools
import html.parser
import http.server
import json
import re
import sys
import threading
from urllib.parse import unquote, urlsplit

import pytest

from browser import Browser
from commands import output_of
from gate import REPOSITORY
from tables import check_rows

sys.path.insert(0, str(REPOSITORY / "scripts"))
import site_pages  # noqa: E402

MENU = list(site_pages.navigation())
# They share one site.
pytestmark = [pytest.mark.text, pytest.mark.xdist_group("site")]


def make_site(folder):
    """@return the version's folder, by the last line of the script"""
    made = output_of(REPOSITORY / "scripts/site.sh", "--into", folder, is_quiet=True, timeout=240)
    where = re.fullmatch(r"site: (\S+) in (\S+)", made.splitlines()[-1])
    assert where[2] == f"{folder}/{where[1]}"
    return folder / where[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The version's folder. It is beside an older version's, which it leaves alone."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "0.0.9").mkdir()
    (folder / "0.0.9/llms.txt").write_text("# seriesgate\n")
    return make_site(folder)


class Page(html.parser.HTMLParser):
    """What a page refers to, what it has loaded of itself, and the names in it."""

    def __init__(self, file):
        super().__init__()
        self.links, self.loads, self.names = [], [], set()
        self.feed(file.read_text())

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.names |= {attributes[key] for key in ("id", "name") if attributes.get(key)}
        found = [attributes[key] for key in ("href", "src", "srcset") if attributes.get(key)]
        (self.links if tag == "a" else self.loads).extend(found)


@functools.cache
def page(file):
    return Page(file)


def test_every_link_leads_somewhere(site):
    def leads(file):
        wrong = []
        for link in page(file).links + page(file).loads:
            url = urlsplit(link)
            if url.scheme:
                continue
            target = (file.parent / unquote(url.path)).resolve() if url.path else file
            if target.is_dir():
                target /= "index.html"
            if not target.is_file() or not target.is_relative_to(site):
                wrong.append(link)
            elif url.fragment and target.suffix == ".html" and unquote(url.fragment) not in page(target).names:
                wrong.append(link)
        assert wrong == []

    files = sorted(site.rglob("*.html"))
    assert len(files) > 30
    check_rows({str(file.relative_to(site)): (file,) for file in files}, leads)


def test_nothing_comes_from_another_host(site):
    for file in site.rglob("*.html"):
        assert [load for load in page(file).loads if urlsplit(load).netloc] == [], file
    for file in site.rglob("*.css"):
        assert re.findall(r"(?:@import|url\()[\"' ]*(?:https?:)?//[^)]*", file.read_text()) == [], file


def test_a_page_has_its_markdown_beside_it(site):
    for file in site.rglob("*.html"):
        beside = re.search(r'rel="alternate" type="text/markdown" href="([^"]+)"', file.read_text())[1]
        name = (file.parent / beside).relative_to(site)
        assert (site / name).read_bytes() == (REPOSITORY / name).read_bytes()


def test_the_menu_has_the_order_of_the_readme_and_every_page():
    read_on = (REPOSITORY / "README.md").read_text().split("\n## Read on\n")[1]
    links = [re.sub(r"#.*", "", link) for link in re.findall(r"\]\(([^)]+\.md)\)", read_on)]
    pages = [name for _, name in MENU]
    assert [name for name in pages if name in links] == links
    assert {str(file.relative_to(REPOSITORY)) for file in (REPOSITORY / "docs").rglob("*.md")} <= set(pages)
    sections = [section for section, _ in MENU if section]
    assert list(dict.fromkeys(sections)) == re.findall(r"^- (\w[\w ]*): ", read_on, re.MULTILINE)


def test_llms_txt_says_of_every_page_what_it_is_about(site):
    title, empty, summary, *rest = (site / "llms.txt").read_text().splitlines()
    assert (title, empty, summary[:30]) == ("# seriesgate", "", "> A cardinality gate for Prome")
    entries = [re.fullmatch(r"- \[[^]]+\]\(([^)]+)\): [A-Z`a-z].*[^:]\.", line) for line in rest if line and not line.startswith("## ")]
    assert [entry[1] for entry in entries] == [name for section, name in MENU if section]
    assert all((site / entry[1]).is_file() for entry in entries)
    for link in re.findall(r"\]\(([^)]+)\)", (site.parent / "llms.txt").read_text()):
        assert (site.parent / link).is_file()


def test_versions_are_listed_newest_first(site):
    listed = json.loads((site.parent / "versions.json").read_text())
    assert [each["version"] for each in listed] == [site.name, "0.0.9"]
    assert all(each.keys() == {"version", "title", "aliases"} for each in listed)
    assert f"url={site.name}/index.html" in (site.parent / "index.html").read_text()


def test_versions_are_sorted_by_age():
    order = ["0.1.0~3.gaa", "0.1.0~20.gbb", "0.1.0", "0.1.0+3.gcc.dirty", "0.9.0", "0.10.0"]
    assert sorted(reversed(order), key=site_pages.age) == order


def test_the_same_source_makes_the_same_site(site, tmp_path):
    again = make_site(tmp_path)
    files = {file.relative_to(site) for file in site.rglob("*") if file.is_file()}
    assert files == {file.relative_to(again) for file in again.rglob("*") if file.is_file()}
    assert [name for name in files if name.suffix != ".gz" and (site / name).read_bytes() != (again / name).read_bytes()] == []


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def shown(site, tmp_path):
    """A browser, and the address of the site."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site.parent))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = Browser(tmp_path)
    try:
        yield browser, f"http://127.0.0.1:{server.server_port}"
        assert browser.complaints() == []
    finally:
        browser.stop()
        server.shutdown()
        server.server_close()


def test_a_reader_can_search_choose_a_version_and_have_it_dark(shown, site):
    browser, address = shown
    browser.open(address + "/")
    browser.until(lambda: browser.driver.current_url == f"{address}/{site.name}/index.html", "led to the newest version")
    browser.until(lambda: len(browser.all(".md-version__link")) == 2, "the menu of versions is there")
    versions = [each.get_attribute("textContent") for each in browser.all(".md-version__link")]
    assert versions == [re.sub(r"\.g\w+", "", site.name), "0.0.9"]

    browser.find("label[title=Dark]").click()
    browser.until(lambda: browser.run("return document.body.dataset.mdColorScheme") == "slate", "it is dark")

    field = browser.find(".md-search__input")
    field.click()
    field.send_keys("incumbentGrace")
    first = "return document.querySelector('.md-search-result__link')?.href ?? ''"
    browser.until(lambda: "docs/configuration.html" in browser.run(first), "it is found")

    loaded = browser.run("return performance.getEntriesByType('resource').map((each) => each.name)")
    assert loaded and [url for url in loaded if not url.startswith(address)] == []

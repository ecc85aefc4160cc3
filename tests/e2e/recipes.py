"""The snippets of docs/recipes, as their readers paste them."""

import re
import subprocess

import documents
from gate import REPOSITORY

PAGES = {name: (REPOSITORY / f"docs/recipes/{name}.md").read_text() for name in ("senders", "stores", "moving")}
RECIPES = {(page, heading): documents.section(f"docs/recipes/{page}.md", heading)
           for page, text in PAGES.items() for heading in re.findall(r"^## (.*)$", text, re.MULTILINE)}
BLOCKS = [(f"{page}: {heading}", language, block) for (page, heading), text in RECIPES.items()
          for language, block in documents.FENCE.findall(text)]
GATE, PROMETHEUS = "# seriesgate.yaml", "# prometheus.yml"
SINGLE = ("stores", "VictoriaMetrics, single")


def snippet(recipe, language, starts=""):
    """The one block of a recipe in that language which starts so."""
    found, = [block for kind, block in documents.FENCE.findall(RECIPES[recipe]) if kind == language and block.startswith(starts)]
    return found


def general(page):
    """The command at the head of a page that shows whether a recipe works."""
    return documents.FENCE.search(PAGES[page])[2]


def at(text, **addresses):
    """With the addresses of this test: at("http://gate:9201/", gate="127.0.0.1:1234")."""
    return re.sub(r"\b(gate|victoria-metrics|vmagent|prometheus):\d+\b", lambda m: addresses[m[1].replace("-", "_")], text)


def shell(command):
    """What it prints."""
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=20).stdout


def numbers(command):
    """The last word of each line that it prints."""
    return [float(line.rsplit(" ", 1)[1]) for line in shell(command).splitlines()]

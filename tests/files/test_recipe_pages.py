"""docs/recipes: every snippet can be read as what it is, and every recipe is short. tests/e2e/test_recipes.py runs them."""

import tomllib

import pytest
import yaml

import documents
import servers
from commands import output_of, takes
from gate import REPOSITORY
from recipes import BLOCKS, GATE, PROMETHEUS, RECIPES
from tables import check_rows

pytestmark = pytest.mark.text

def test_a_snippet_can_be_read(tmp_path):
    def can_be_read(language, block):
        if language == "toml":
            assert tomllib.loads(block)
        if language == "yaml":
            assert isinstance(yaml.safe_load(block), dict)
            file = tmp_path / "file.yaml"
            file.write_text(block)
            if block.startswith(PROMETHEUS) and "protobuf_message" not in block:  # which Debian 12's promtool does not know
                output_of(servers.binary("promtool"), "check", "config", file)
            elif block.startswith(GATE):
                (tmp_path / "password").touch(0o600)
                (tmp_path / "password").write_text("secret\n")
                file.write_text(block.replace("/etc/seriesgate", str(tmp_path)))
                takes(file, *([] if "upstream:" in block else ["--upstream.url=discard:"]))
                assert "victoria" not in block and "vminsert" not in block or "protocol: v1" in block

    check_rows({f"{where}, {number}": (language, block) for number, (where, language, block) in enumerate(BLOCKS)}, can_be_read)


def test_every_recipe_is_short_and_has_a_trap_and_the_list_says_whether_it_was_run():
    rows = (REPOSITORY / "docs/recipes/README.md").read_text().splitlines()

    def is_so(page, heading):
        text = RECIPES[page, heading]
        assert text.count("**Trap**") == 1 and text.count("\n") < 50
        anchor, = documents.anchors(f"## {heading}")
        row, = [row for row in rows if f"]({page}.md#{anchor})" in row]
        assert ("not run" in " ".join(text.lower().split())) == ("| run: " not in row), row

    check_rows({f"{page}: {heading}": (page, heading) for page, heading in RECIPES}, is_so)

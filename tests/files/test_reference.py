"""Files that are made of the keys: the example file, the table in docs/configuration.md, and the JSON schema, which every
configuration that readers copy follows."""

import json
import subprocess

import jsonschema
import pytest
import yaml

import documents
from gate import BINARY, REPOSITORY
from tables import check_rows
from test_documents import configurations

BEGIN, END = "<!-- keys: made by seriesgate --print-reference=markdown -->\n", "<!-- end of the keys -->\n"


def printed(form):
    return subprocess.run([BINARY, f"--print-reference={form}"], check=True, capture_output=True, text=True, timeout=30).stdout


@pytest.fixture(scope="module")
def schema():
    read = json.loads((REPOSITORY / "docs/seriesgate.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(read)
    return jsonschema.Draft202012Validator(read)


def test_the_committed_files_are_what_the_binary_prints():
    assert (REPOSITORY / "config/seriesgate.yaml").read_text() == printed("yaml")
    assert (REPOSITORY / "docs/seriesgate.schema.json").read_text() == printed("json-schema")
    page = (REPOSITORY / "docs/configuration.md").read_text()
    assert page.split(BEGIN)[1].split(END)[0].strip() == printed("markdown").strip()


def test_another_form_is_an_error():
    for form in ("html", ""):
        refused = subprocess.run([BINARY, f"--print-reference={form}"], capture_output=True, text=True, timeout=30)
        assert (refused.returncode, refused.stdout) == (1, "")


def test_every_configuration_follows_the_schema(schema):
    texts = configurations()
    texts["config/seriesgate.yaml"] = (REPOSITORY / "config/seriesgate.yaml").read_text()
    for block in documents.blocks("yaml"):
        if not (block.following and block.following.language == "text" and block.following.text.startswith("seriesgate.yaml:")):
            texts[block.where] = block.text

    def follows(text):
        read = yaml.safe_load(text)
        if isinstance(read, dict) and read.keys() & schema.schema["properties"].keys():  # else of another program
            assert [f"{each.json_path}: {each.message}" for each in schema.iter_errors(read)] == []

    check_rows(texts, follows)


def test_the_schema_refuses_what_the_gate_refuses(schema):
    for text in ("maxHourlySerie: 5", "upstream: {timeout: 25}", "mode: off", "maxHourlySeries: many", "limits: [{each: [a]}]",
                 "limits: {name: a}", "server: {maxRequestBytes: 32M}", "upstream: {url: ftp://a}", "rejectStatus: 503"):
        assert not schema.is_valid(yaml.safe_load(text)), text
    for text in ("maxHourlySeries: 1_000", "maxHourlySeries: ${N}", "mode: ${MODE}", "limits:", "server: {maxRequestBytes: 32MiB}",
                 "rejectStatus: 409", "incumbentGrace: 0", "upstream: {url: 'discard:'}"):
        assert schema.is_valid(yaml.safe_load(text)), text

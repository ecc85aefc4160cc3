"""What README.md and docs/ show is what happens."""

import json
import os
import re
import shlex
import tomllib

import jsonschema
import pytest
import yaml

import documents
import manifests
import rule_tests
import servers
from certificates import Authority
from commands import output_of, takes
from gate import BINARY, REPOSITORY, run
from provoked_lines import LINES
from recipes import BLOCKS, GATE, PROMETHEUS, RECIPES
from tables import check_rows

SESSIONS, YAML = documents.sessions(), documents.blocks("yaml")


def errors_shown(block):
    """The lines that the block right after a faulty example shows, or none."""
    following = block.following
    shown = following and following.language == "text" and following.text.startswith("seriesgate.yaml:")
    return following.text.splitlines() if shown else []


def test_there_are_examples_to_run():
    assert {"README.md", "docs/limits.md", "docs/operation.md"} <= SESSIONS.keys()
    assert any(errors_shown(block) for block in YAML)


def test_commands_can_be_pasted():
    """Without prompts: in `bash` blocks, with what they print in an `output` block."""
    assert documents.blocks("console") == []
    commands = [line for steps in SESSIONS.values() for text, _ in steps for line in text.splitlines()]
    assert [line for line in commands if line.startswith(("$ ", "> "))] == []


def with_files(text, authority):
    """An example that names secret files and certificates, which --check-config reads, with such as there are."""
    names = re.compile(r"\b(caFile|certFile|keyFile|passwordFile|bearerTokenFile): /etc/[^\s,}]+")
    if not names.search(text):
        return text
    ours = authority.issue("gate.test")
    secret = authority.folder / "secret"
    secret.touch(0o600)
    secret.write_text("secret\n")
    files = {"caFile": authority.certificate, "certFile": ours.certificate, "keyFile": ours.key}
    return names.sub(lambda named: f"{named[1]}: {files.get(named[1], secret)}", text)


@pytest.mark.text
def test_a_yaml_example_is_valid(tmp_path):
    authority = Authority(tmp_path)

    def is_valid(block):
        file = tmp_path / "seriesgate.yaml"
        file.touch(0o600)
        file.write_text(with_files(block.text, authority))
        for sign, check in (("remote_write:", "config"), ("groups:", "rules")):
            if sign in block.text:
                output_of(servers.binary("promtool"), "check", check, file)
                break
        else:
            takes(file, *([] if "upstream:" in block.text else ["--upstream.url=discard:"]))

    check_rows({block.where: block for block in YAML if not errors_shown(block)}, is_valid)


@pytest.mark.text
def test_a_faulty_yaml_example_gets_the_errors_shown(tmp_path):
    def gets_them(block):
        (tmp_path / "seriesgate.yaml").write_text(block.text)
        shown = errors_shown(block)
        flags = [f"{flag}={value}" for flag, value in re.findall(r"^(--\w+): '(.*?)'", "\n".join(shown), re.MULTILINE)]
        checked = run("--config.file=seriesgate.yaml", "--check-config", *flags, cwd=tmp_path)
        assert checked.stderr.splitlines() == shown
        assert checked.returncode == 1

    check_rows({block.where: block for block in YAML if errors_shown(block)}, gets_them)


#: Hosts and ports by which an example says that its store is a VictoriaMetrics.
VICTORIA_METRICS = re.compile(r"victoria|:8428/")


def configurations():
    """Every configuration of a gate that readers copy: {where: its text}. config/seriesgate.yaml has the defaults instead."""
    files = [REPOSITORY / name for name in ("debian/seriesgate.yaml", "docker/seriesgate.yaml")]
    return {**{block.where: block.text for block in YAML if "upstream:" in block.text and not errors_shown(block)},
            **{str(file.relative_to(REPOSITORY)): file.read_text() for file in files},
            **{f"deploy/kubernetes/{layout}": manifests.configuration(layout) for layout in manifests.LAYOUTS}}


@pytest.mark.text
def test_an_example_before_a_victoriametrics_speaks_its_version():
    """It answers remote write 2 with success and stores nothing."""
    before_one = {where: text for where, text in configurations().items() if VICTORIA_METRICS.search(text)}
    assert {"debian/seriesgate.yaml", "docker/seriesgate.yaml", "deploy/kubernetes/single"} < before_one.keys()
    assert any(where.startswith("README.md") for where in before_one)
    assert [where for where, text in before_one.items() if yaml.safe_load(text)["upstream"].get("protocol") != "v1"] == []
    for name in ("demo.sh", "demo-fleet.sh"):
        assert '/api/v1/write", protocol: v1}' in (REPOSITORY / "scripts" / name).read_text(), name
    defaults = (REPOSITORY / "config/seriesgate.yaml").read_text()
    assert re.search(r"# v1 [^\n]*VictoriaMetrics[^\n]*\n  protocol: passthrough\n", defaults)


@pytest.mark.text
def test_what_a_page_refers_to_is_there():
    def is_there(name, text):
        missing = [os.path.relpath(file, REPOSITORY) for file, _ in documents.references(name, text) if not file.exists()]
        assert missing == []
        unknown = [f"{file}#{anchor}" for file, anchor in documents.references(name, text)
                   if anchor and file.suffix == ".md" and anchor not in documents.anchors(file.read_text())]
        assert unknown == []

    check_rows({name: (name, text) for name, text in documents.everything().items()}, is_there)


@pytest.mark.text
def test_a_command_names_what_there_is():
    """Presets, files, and the tests that are picked by their names. What takes minutes is not run here."""
    presets = {preset["name"] for preset in json.loads((REPOSITORY / "CMakePresets.json").read_text())["configurePresets"]}

    def names_what_there_is(command):
        words = shlex.split(command)
        for word, following in zip(words, [*words[1:], ""]):
            if word == "--preset":
                assert following in presets
            elif re.match(r"(bench|config|deploy|docs|scripts|src|tests)/", word):
                assert (REPOSITORY / word).exists(), word
            elif program := re.fullmatch(r"build/\w+/(\w+)_tests", word):
                sources = "".join(file.read_text() for file in (REPOSITORY / "tests" / program[1]).glob("*_test.cpp"))
                assert f'TEST_CASE("{following}"' in sources, following

    check_rows({f"{name}: {command}": command for name, command in documents.commands()}, names_what_there_is)


@pytest.mark.text
def test_the_help_of_a_demo_has_its_flags():
    def has_them(name):
        text = (REPOSITORY / "scripts" / name).read_text()
        flags = set(re.findall(r"(--[a-z-]+)=\*", text))
        told = output_of(REPOSITORY / "scripts" / name, "--help")
        assert flags and flags <= set(re.findall(r"--[a-z-]+", told)), told
        assert all(re.search(rf"{flag}\b[^\n]*\n? *[^\n]*\d", told) for flag in flags)  # with its default

    check_rows({"demo.sh": ("demo.sh",)}, has_them)


QUOTING = {**documents.everything(), "monitoring/alerts.yaml": (REPOSITORY / "monitoring/alerts.yaml").read_text()}
LOG_LINES = {**documents.log_lines(2), **documents.log_lines(1)}


@pytest.mark.text
def test_a_quoted_line_of_the_log_is_one_that_there_is():
    """With its level, and its keys in their order."""
    def is_one(level, message, keys):
        assert message in LOG_LINES
        _, its_level, its_keys = LOG_LINES[message]
        assert level in ("", its_level), message
        assert keys == [key for key in its_keys if key in keys], message

    check_rows({f"{name}, {at}: {quoted[1]}": quoted for name, text in QUOTING.items()
                for at, quoted in enumerate(documents.quoted_log_lines(text)) if quoted[1] != "..."}, is_one)


@pytest.mark.text
def test_lines_of_the_log_are_quoted_with_msg():
    """So that the test above finds them."""
    def are_quoted(text):
        text = " ".join(text.split())
        assert [message for message in LOG_LINES if f"`{message}`" in text] == []
        said = re.findall(r"\b(?:log says|log has|log's line)\b[^`.|]*`([^`]+)`", text)
        assert [quoted for quoted in said if " " in quoted and not quoted.startswith('msg="')] == []

    check_rows({name: text for name, text in QUOTING.items()
                if name.startswith(("README", "docs/")) and "logs.md" not in name}, are_quoted)


def test_there_are_lines_of_the_log_to_look_at():
    quoted = [message for text in QUOTING.values() for _, message, _ in documents.quoted_log_lines(text)]
    assert len(quoted) > 20 and "the store rejected requests" in quoted


#: What log/ itself says; tests/attacks/test_log_reader.py provokes it.
LOST = "lines of the log were lost, who reads it is too slow"


def test_the_page_of_log_lines_has_all_and_no_others():
    said = {LOST}
    for file in sorted((REPOSITORY / "src").rglob("*.?pp")):
        text = re.sub(r'"\s*"', "", file.read_text())
        said |= set(re.findall(r'\blog::(?:debug|info|warn|error)\(\s*"((?:[^"\\]|\\.)*)"', text))
        said |= set(re.findall(r'\blog::write\(\s*log::level::\w+,\s*"((?:[^"\\]|\\.)*)"', text))
        said |= set(re.findall(r'"((?:[^"\\]|\\.)* (?:failed|was dropped))"', text))  # handed to net/background
    assert said == LOG_LINES.keys()


def test_each_line_of_that_page_is_provoked():
    provoked = [message for lines in LINES.values() for message in lines]
    assert len(provoked) == len(set(provoked))
    assert {LOST, *provoked} == documents.log_lines(1).keys()


def test_the_growth_query_finds_what_was_not_shown_an_hour_before(tmp_path):
    """/metrics has the hundred groups with the most demand: one that explodes is new there."""
    query, = (block.text for block in documents.blocks("promql") if "find-metric" in block.text)
    name = 'seriesgate_limit_series_current{{limit="find-metric",window="hourly",group="{}"}}'.format
    quiet, loud = name("quiet"), name("loud")
    rule_tests.check(tmp_path, rule_tests.scenario("growth", {quiet: "100x120", loud: "_x99 80000x20"}, rule_tests.asks(
        query, 115, *((each.replace("seriesgate_limit_series_current", ""), value) for each, value in ((loud, 80000), (quiet, 0))))))


# --- docs/recipes; tests/e2e/test_recipes.py runs them

@pytest.mark.text
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


@pytest.mark.text
def test_every_recipe_is_short_and_has_a_trap_and_the_list_says_whether_it_was_run():
    rows = (REPOSITORY / "docs/recipes/README.md").read_text().splitlines()

    def is_so(page, heading):
        text = RECIPES[page, heading]
        assert text.count("**Trap**") == 1 and text.count("\n") < 50
        anchor, = documents.anchors(f"## {heading}")
        row, = [row for row in rows if f"]({page}.md#{anchor})" in row]
        assert ("not run" in " ".join(text.lower().split())) == ("| run: " not in row), row

    check_rows({f"{page}: {heading}": (page, heading) for page, heading in RECIPES}, is_so)


# --- files that are made of the keys: the example, the table in docs/configuration.md, and the schema

BEGIN, END = "<!-- keys: made by seriesgate --print-reference=markdown -->\n", "<!-- end of the keys -->\n"


def printed(form):
    return output_of(BINARY, f"--print-reference={form}")


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
        refused = run(f"--print-reference={form}")
        assert (refused.returncode, refused.stdout) == (1, "")


def test_every_configuration_follows_the_schema(schema):
    texts = configurations()
    texts["config/seriesgate.yaml"] = (REPOSITORY / "config/seriesgate.yaml").read_text()
    texts |= {block.where: block.text for block in YAML if not errors_shown(block)}

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

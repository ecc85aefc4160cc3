"""What README.md and docs/ show is what happens."""

import json
import os
import re
import shlex
import subprocess

import pytest

import documents
import servers
from certificates import Authority
from gate import BINARY, REPOSITORY

SESSIONS, YAML = documents.sessions(), documents.blocks("yaml")


def errors_shown(block):
    """The lines that the block right after a faulty example shows, or none."""
    following = block.following
    shown = following and following.language == "text" and following.text.startswith("seriesgate.yaml:")
    return following.text.splitlines() if shown else []


def seriesgate(folder, *flags):
    return subprocess.run([BINARY, *flags], cwd=folder, capture_output=True, text=True, timeout=30)


def test_there_are_examples_to_run():
    assert {"README.md", "docs/limits.md", "docs/operation.md"} <= SESSIONS.keys()
    assert any(errors_shown(block) for block in YAML)


def test_commands_can_be_pasted():
    """Without prompts: in `bash` blocks, with what they print in an `output` block."""
    assert documents.blocks("console") == []
    commands = [line for steps in SESSIONS.values() for text, _ in steps for line in text.splitlines()]
    assert [line for line in commands if line.startswith(("$ ", "> "))] == []


@pytest.mark.parametrize("page", SESSIONS)
def test_a_session_prints_what_it_says(page, tmp_path):
    documents.sandbox(tmp_path)
    port = servers.free_port()
    steps = [(commands.replace("127.0.0.1:9201", f"127.0.0.1:{port}"), expected) for commands, expected in SESSIONS[page]]
    for (command, expected), actual in zip(steps, documents.run(steps, tmp_path), strict=True):
        assert documents.matches(expected, actual), (command, expected, actual)


def with_files(text, folder):
    """An example that names secret files and certificates, which --check-config reads, with such as there are."""
    names = re.compile(r"\b(caFile|certFile|keyFile|passwordFile|bearerTokenFile): /etc/[^\s,}]+")
    if not names.search(text):
        return text
    authority = Authority(folder)
    ours = authority.issue("gate.test")
    secret = folder / "secret"
    secret.write_text("secret\n")
    files = {"caFile": authority.certificate, "certFile": ours.certificate, "keyFile": ours.key}
    return names.sub(lambda named: f"{named[1]}: {files.get(named[1], secret)}", text)


@pytest.mark.text
@pytest.mark.parametrize("block", [block for block in YAML if not errors_shown(block)], ids=lambda block: block.where)
def test_a_yaml_example_is_valid(block, tmp_path):
    file = tmp_path / "seriesgate.yaml"
    file.write_text(with_files(block.text, tmp_path))
    for sign, check in (("remote_write:", "config"), ("groups:", "rules")):
        if sign in block.text:
            checked = subprocess.run([servers.binary("promtool"), "check", check, file], capture_output=True, text=True)
            break
    else:
        missing = [] if "upstream:" in block.text else ["--upstream.url=discard:"]
        checked = seriesgate(tmp_path, "--config.file=seriesgate.yaml", "--check-config", *missing)
        assert checked.stderr == ""  # no warnings either
    assert checked.returncode == 0, checked


@pytest.mark.text
@pytest.mark.parametrize("block", [block for block in YAML if errors_shown(block)], ids=lambda block: block.where)
def test_a_faulty_yaml_example_gets_the_errors_shown(block, tmp_path):
    (tmp_path / "seriesgate.yaml").write_text(block.text)
    shown = errors_shown(block)
    flags = [f"{flag}={value}" for flag, value in re.findall(r"^(--\w+): '(.*?)'", "\n".join(shown), re.MULTILINE)]
    checked = seriesgate(tmp_path, "--config.file=seriesgate.yaml", "--check-config", *flags)
    assert checked.stderr.splitlines() == shown
    assert checked.returncode == 1


@pytest.mark.text
@pytest.mark.parametrize("name", documents.everything())
def test_what_a_page_refers_to_is_there(name):
    text = documents.everything()[name]
    missing = [os.path.relpath(file, REPOSITORY) for file, _ in documents.references(name, text) if not file.exists()]
    assert missing == []
    unknown = [f"{file}#{anchor}" for file, anchor in documents.references(name, text)
               if anchor and file.suffix == ".md" and anchor not in documents.anchors(file.read_text())]
    assert unknown == []


@pytest.mark.text
@pytest.mark.parametrize("name, command", documents.commands())
def test_a_command_names_what_there_is(name, command):
    """Presets, files, and the tests that are picked by their names. What takes minutes is not run here."""
    presets = {preset["name"] for preset in json.loads((REPOSITORY / "CMakePresets.json").read_text())["configurePresets"]}
    words = shlex.split(command)
    for word, following in zip(words, [*words[1:], ""]):
        if word == "--preset":
            assert following in presets
        elif re.match(r"(bench|config|deploy|docs|scripts|src|tests)/", word):
            assert (REPOSITORY / word).exists(), word
        elif program := re.fullmatch(r"build/\w+/(\w+)_tests", word):
            sources = "".join(file.read_text() for file in (REPOSITORY / "tests" / program[1]).glob("*_test.cpp"))
            assert f'TEST_CASE("{following}"' in sources, following


QUOTING = {**documents.everything(), "monitoring/alerts.yaml": (REPOSITORY / "monitoring/alerts.yaml").read_text()}
LOG_LINES = {**documents.log_lines(2), **documents.log_lines(1)}


@pytest.mark.text
@pytest.mark.parametrize("name", QUOTING)
def test_a_quoted_line_of_the_log_is_one_that_there_is(name):
    """With its level, and its keys in their order."""
    for level, message, keys in documents.quoted_log_lines(QUOTING[name]):
        if message == "...":
            continue
        assert message in LOG_LINES
        _, its_level, its_keys = LOG_LINES[message]
        assert level in ("", its_level), message
        assert keys == [key for key in its_keys if key in keys], message


@pytest.mark.text
@pytest.mark.parametrize("name", [name for name in QUOTING if name.startswith(("README", "docs/")) and "logs.md" not in name])
def test_lines_of_the_log_are_quoted_with_msg(name):
    """So that the test above finds them."""
    text = " ".join(QUOTING[name].split())
    assert [message for message in LOG_LINES if f"`{message}`" in text] == []
    said = re.findall(r"\b(?:log says|log has|log's line)\b[^`.|]*`([^`]+)`", text)
    assert [quoted for quoted in said if " " in quoted and not quoted.startswith('msg="')] == []


def test_there_are_lines_of_the_log_to_look_at():
    quoted = [message for text in QUOTING.values() for _, message, _ in documents.quoted_log_lines(text)]
    assert len(quoted) > 20 and "the store rejected requests" in quoted

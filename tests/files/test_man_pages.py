"""The man pages that packages have: all flags, all keys, and nothing that groff objects to."""

import re
import shutil
import subprocess

import pytest
import yaml

from gate import BINARY, REPOSITORY

pytestmark = pytest.mark.text


def plain(roff):
    """A line of a page, without fonts and escapes."""
    for escape, text in ((r"\fB", ""), (r"\fI", ""), (r"\fP", ""), (r"\-", "-"), (r"\&", ""), (r"\(aq", "'"), (r"\e", "\\")):
        roff = roff.replace(escape, text)
    return roff


def items(page):
    """What its items are about: the lines behind .TP."""
    return [plain(line) for line in re.findall(r"^\.TP\n(.*)$", page, re.MULTILINE)]


def flags_of(*subcommand):
    """The flags of --help, read in the simplest way: the words of its indented lines that begin with a dash."""
    text = subprocess.run([BINARY, *subcommand, "--help"], check=True, capture_output=True, text=True, timeout=30).stdout
    return [re.findall(r"(?<!\S)-[^\s,]+", line.replace(",", ", "))[0] for line in text.splitlines() if line.startswith("  -")]


def test_every_flag_is_in_seriesgate_1(generated):
    page = (generated / "man" / "seriesgate.1").read_text()
    ours, tops = page.split(".SH SERIESGATE TOP")
    for flags, part in ((flags_of(), ours), (flags_of("top"), tops)):
        assert len(flags) > 5
        assert [flag for flag in flags if flag not in {item.split()[0].rstrip(",") for item in items(part)}] == []


def keys(node, prefix=""):
    for name, value in node.items():
        if isinstance(value, dict) and value:
            yield from keys(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def test_every_key_is_in_seriesgate_yaml_5(generated):
    page = (generated / "man" / "seriesgate.yaml.5").read_text()
    every = list(keys(yaml.safe_load((REPOSITORY / "config" / "seriesgate.yaml").read_text())))
    assert len(every) > 50 and "server.drainTimeout" in every
    assert [key for key in every if key not in items(page)] == []


def test_what_a_page_says_of_exit_statuses_is_what_happens(generated, tmp_path):
    page = (generated / "man" / "seriesgate.1").read_text()
    statuses = items(page.split(".SH EXIT STATUS")[1].split(".SH FILES")[0])
    assert statuses == ["0", "1", "2"]
    (tmp_path / "wrong.yaml").write_text("maxHourlySeries: many\n")
    assert subprocess.run([BINARY, "--config.file", tmp_path / "wrong.yaml"], capture_output=True, timeout=30).returncode == 1


@pytest.mark.parametrize("name", ["seriesgate.1", "seriesgate.yaml.5"])
def test_groff_has_nothing_to_say(generated, name):
    """As lintian asks it."""
    if not shutil.which("man") or not shutil.which("groff"):
        pytest.skip("man and groff are not here")
    command = ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", generated / "man" / name]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60,
                           env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
    assert shown.stderr == ""
    assert "SEE ALSO" in re.sub(".\b", "", shown.stdout)  # bold is struck twice

"""Every line of docs/logs.md is provoked or named as one that cannot be, in logfmt and in JSON. Most: tests/scenes."""

import re

import pytest

from documents import log_lines
from gate import REPOSITORY
from provoked_lines import LINES, lines_for, said_in
from tables import check_rows
from waiting import wait_out_the_hour

pytestmark = [pytest.mark.one_thread, pytest.mark.timeout(120)]

AT_ONCE = 5  # lines, each with its gates
HERE = lines_for(real=True)


@pytest.fixture(autouse=True)
def long_within_one_hour():
    """Its tables take longer than most tests, under a sanitizer."""
    wait_out_the_hour(60)


@pytest.mark.parametrize("form", ["logfmt", "json"])
@pytest.mark.parametrize("what", HERE)
def test_what_happens_is_said(tmp_path_factory, form, what):
    """Most of it is waiting: so the lines are provoked side by side, each by gates of its own."""
    check_rows({message: (form, tmp_path_factory.mktemp("scene"), message, provoke)
                for message, provoke in HERE[what].items()}, said_in, at_once=AT_ONCE)


def test_the_document_has_all_lines_and_no_others():
    said = set()
    for file in sorted((REPOSITORY / "src").rglob("*.cpp")):
        text = re.sub(r'"\s*"', "", file.read_text())
        said |= set(re.findall(r'\blog::(?:debug|info|warn|error)\(\s*"((?:[^"\\]|\\.)*)"', text))
        said |= set(re.findall(r'\blog::write\(\s*log::level::\w+,\s*"((?:[^"\\]|\\.)*)"', text))
        said |= set(re.findall(r'"((?:[^"\\]|\\.)* (?:failed|was dropped))"', text))  # handed to net/background
    said.add("lines of the log were lost, who reads it is too slow")  # by log/ itself
    assert said == log_lines(1).keys() | log_lines(2).keys()


def test_each_line_of_the_document_is_provoked():
    elsewhere = {"lines of the log were lost, who reads it is too slow"}  # tests/attacks/test_log_reader.py
    provoked = [message for lines in LINES.values() for message in lines]
    assert len(provoked) == len(set(provoked))
    assert set(provoked) | elsewhere == log_lines(1).keys()

"""docs/logs.md has the lines that the source writes, and a test provokes each of them."""

import re

from documents import log_lines
from gate import REPOSITORY
from provoked_lines import LINES


def test_the_document_has_all_lines_and_no_others():
    said = set()
    for file in sorted((REPOSITORY / "src").rglob("*.?pp")):
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

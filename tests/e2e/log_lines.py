"""Reads what the gate says: one event a line, in logfmt or JSON."""

import json
import re

FIELD = re.compile(r'([a-z_]+)=("(?:[^"\\]|\\.)*"|[^\s"=]+)(?: |$)')


def parse(line):
    """{key: value} of one line, in its order; numbers of logfmt are strings as they stand there."""
    line = line.rstrip("\n")
    event = json.loads(line) if line.startswith("{") else parse_logfmt(line)
    assert list(event)[:3] == ["ts", "level", "msg"], line
    return event


def parse_logfmt(line):
    event, at = {}, 0
    while at < len(line):
        field = FIELD.match(line, at)
        assert field, f"no logfmt from column {at} on: {line}"
        key, value = field[1], field[2]
        assert key not in event, f"{key} is there twice: {line}"
        event[key] = json.loads(value) if value.startswith('"') else value
        at = field.end()
    return event

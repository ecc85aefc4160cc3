"""The Prometheus text format, read strictly: what the gate's /metrics says."""

import re

_SAMPLE = re.compile(r"(?P<name>[a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(?P<labels>.*)\})? (?P<value>\S+)")
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,|$)')
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def parse(text):
    """{(name, frozenset of label pairs): value}. A line that is no sample, or a sample that comes twice, fails."""
    found = {}
    for line in text.decode().split("\n"):
        if not line or line.startswith("#"):
            continue
        sample = _SAMPLE.fullmatch(line)
        assert sample, line
        key = sample["name"], frozenset(_labels(sample["labels"] or "", line))
        assert key not in found, f"twice: {line}"
        found[key] = float(sample["value"])
    return found


def _labels(text, line):
    at = 0
    while at < len(text):
        label = _LABEL.match(text, at)
        assert label, line
        yield label[1], re.sub(r"\\.", lambda escape: _ESCAPES[escape[0]], label[2])
        at = label.end()


def samples_of(metrics, name):
    """The samples of one family, as {frozenset of label pairs: value}."""
    return {labels: value for (family, labels), value in metrics.items() if family == name}

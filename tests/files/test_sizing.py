"""The table of docs/deployment.md is what its formulas say, and these are no less than what was measured."""

import re

import pytest

from gate import REPOSITORY

PAGE = (REPOSITORY / "docs/deployment.md").read_text()
BENCH = (REPOSITORY / "bench/README.md").read_text()
MIB = 1 << 20
#: As the page has them.
FIXED_MIB, SERIES_BYTES, CONNECTION_MIB, SAMPLE_US, DISK_BYTES, DISK_MIB = 46, 25, 0.1, 0.4, 9, 35
SECONDS_BETWEEN_SAMPLES, CONNECTIONS, INFLIGHT_MIB = 30, 100, 512

pytestmark = pytest.mark.text


def rows():
    found = [[float(cell.replace(",", "")) for cell in line.strip("| ").split("|")]
             for line in PAGE.splitlines() if re.match(r"\| [\d,]+0 \|", line)]
    assert len(found) == 4
    return found


def measured(row):
    """The numbers of a row of the benchmarks, without units."""
    line, = re.findall(rf"^\|[ a-z]*{re.escape(row)} *\|(.*)\|$", BENCH, re.M)
    return [float(number) for number in re.findall(r"\d[\d.]*", line)]


def test_the_formulas_are_on_the_page():
    for text in (f"{FIXED_MIB} MiB, {SERIES_BYTES} bytes for each active series, {CONNECTION_MIB} MiB for each connection",
                 f"{SAMPLE_US} µs a sample", f"twice {DISK_BYTES} bytes for each active series, and {DISK_MIB} MiB",
                 f"`server.maxInflightBytes`](operation.md#memory-and-threads), {INFLIGHT_MIB} MiB",
                 f"With a sample of each series every {SECONDS_BETWEEN_SAMPLES} seconds", f"with {CONNECTIONS} connections"):
        assert text in PAGE


def test_the_table_is_what_they_say():
    for series, samples, memory, limit, cores, disk in rows():
        assert samples == round(series / SECONDS_BETWEEN_SAMPLES)
        needed = FIXED_MIB + SERIES_BYTES * series / MIB
        assert memory == round(needed)
        assert limit == round(needed + CONNECTIONS * CONNECTION_MIB + INFLIGHT_MIB)
        assert cores == round(samples * SAMPLE_US * 1e-6, 3)
        assert disk == round(2 * DISK_BYTES * series / MIB + DISK_MIB)


def test_they_are_no_less_than_what_was_measured():
    assert SERIES_BYTES >= max(measured("memory, hour and day, bytes") + measured("memory in the first hour, bytes"))
    _, by_connections = BENCH.split("`--connections`", 1)
    heading, rss = re.search(r"^([^\n]*)\n.*?\n\| peak RSS, MiB *([^\n]*)", by_connections, re.S).groups()
    connections, peaks = ([float(number) for number in re.findall(r"\d[\d.]*", line.replace(",", ""))] for line in (heading, rss))
    assert connections[-4:] == [1, 16, 100, 1000]
    assert CONNECTION_MIB >= (peaks[-1] - peaks[0]) / (connections[-1] - connections[-4])

"""What a gate takes has one home: the table of docs/deployment.md, whose formulas are no less than what bench/README.md has measured.
Other pages say the same."""

import re

import pytest

import documents
from gate import REPOSITORY
from tables import check_rows

PAGE = (REPOSITORY / "docs/deployment.md").read_text()
BENCH = (REPOSITORY / "bench/README.md").read_text()
MIB = 1 << 20
#: As the page has them.
FIXED_MIB, SERIES_BYTES, CONNECTION_MIB, SAMPLE_US, DISK_BYTES, DISK_MIB = 46, 25, 0.1, 0.4, 9, 35
FILTER_BYTES = 3  # of the bytes of a series, for each window that it is in
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
    for text in (f"{FIXED_MIB} MiB, {SERIES_BYTES} bytes for each series of an hour, {CONNECTION_MIB} MiB for each connection",
                 f"{SAMPLE_US} µs a sample; [measured]", f"twice {DISK_BYTES} bytes for each series of an hour, and {DISK_MIB} MiB",
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


def of_the_gate(row):
    """What the tables of "Side by side" have for the gate: {case: [numbers]}."""
    found, case = {}, ""
    for line in BENCH.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 8:
            case = cells[0] or case
            if cells[2] == row:
                found.setdefault(case, []).append(float(cells[5].replace(",", "")))
    assert set(found) == {"all accepted", "half refused", "all refused", "1 % new series"}, found
    return found


def test_what_was_measured_of_a_sample_is_quoted_and_planned_with():
    by_connections, = re.findall(r"^\| saturated: CPU, ns a sample +\|(.*)\|$", BENCH, re.M)
    all_ns = [*(number for numbers in of_the_gate("CPU, ns a sample").values() for number in numbers),
              *(float(number) for number in re.findall(r"\d+", by_connections))]
    quoted, = re.findall(r"µs a sample; \[measured\]\(../bench/README.md#side-by-side\) were ([\d.]+) to ([\d.]+)", PAGE)
    assert quoted == (f"{min(all_ns) / 1000:.2f}", f"{max(all_ns) / 1000:.2f}")
    assert SAMPLE_US * 1000 >= max(all_ns)


def test_what_a_process_took_is_within_the_plan():
    """With its 31,817 series and 16 connections. New ones without end are others."""
    peaks = {case: max(numbers) for case, numbers in of_the_gate("peak RSS, MiB").items() if "new" not in case}
    assert max(peaks.values()) <= FIXED_MIB + SERIES_BYTES * 31_817 / MIB + 16 * CONNECTION_MIB


def test_a_filter_takes_what_was_measured():
    measured_bytes = [float(number) for number in re.search(
        r"false-positive rate of 0\.0001: ([\d.]+) bytes a series for the rate itself.*?([\d.]+) for the first segment", BENCH, re.S).groups()]
    assert {round(number) for number in measured_bytes} == {FILTER_BYTES}
    assert DISK_BYTES == 3 * FILTER_BYTES  # the hour, the hour before, the day


# --- other pages

#: How a page says one of these, and what it has to say.
STATED = {
    r"([\d.]+) MiB(?:,| and) ([\d.]+) bytes for each series of an hour": (FIXED_MIB, SERIES_BYTES),
    r"([\d.]+) MiB for each connection that sends": (CONNECTION_MIB,),
    r"([\d.]+) bytes (?:a series and window|for each series in (?:the hour|each window))": (FILTER_BYTES,),
    r"([\d.]+) bytes a series\b(?! and| in| entry)": (FILTER_BYTES,),
    r"([\d.]+) (?:µs|us) a sample": (SAMPLE_US,),
    r"twice ([\d.]+) bytes for each series of an hour, and ([\d.]+) MiB": (DISK_BYTES, DISK_MIB),
}
#: What is measured or history is not planned with.
ELSEWHERE = ("bench/", "CHANGELOG.md", "docs/design.md", "src/", "tests/")


def pages():
    files = [*(REPOSITORY / "deploy").rglob("*.yaml"), REPOSITORY / "config/seriesgate.yaml", REPOSITORY / "debian/seriesgate.yaml"]
    found = {**documents.everything(), **{str(file.relative_to(REPOSITORY)): file.read_text() for file in files}}
    return {name: " ".join(text.split()) for name, text in found.items() if not name.startswith(ELSEWHERE)}


def test_every_page_says_the_same():
    def says_the_same(name, text, pattern, wanted):
        for found in re.finditer(pattern, text):
            assert tuple(map(float, found.groups())) == wanted, found[0]

    check_rows({f"{name}: {pattern}": (name, text, pattern, wanted) for name, text in pages().items()
                for pattern, wanted in STATED.items() if re.search(pattern, text)}, says_the_same)
    saying = {name for name, text in pages().items() for pattern in STATED if re.search(pattern, text)}
    assert {"README.md", "docs/operation.md", "docs/fleet.md", "docs/deployment.md", "docs/configuration.md", "config/seriesgate.yaml",
            "deploy/kubernetes/single/statefulset.yaml"} <= saying


def test_the_example_of_a_fleet_is_reckoned_with_these():
    text = " ".join(documents.section("docs/fleet.md", "An example").split())
    series, = re.findall(r"with (\d) million series in a busy hour", text)
    samples, = re.findall(r"([\d,]+) samples a second at", text)
    assert float(samples.replace(",", "")) == int(series) * 1e6 / SECONDS_BETWEEN_SAMPLES
    cores, = re.findall(r"a sample are ([\d.]+) cores", text)
    assert float(cores) == round(int(series) * 1e6 / SECONDS_BETWEEN_SAMPLES * SAMPLE_US * 1e-6, 2)
    of_day, *table_bytes, least, most = re.findall(
        r"all (\d+) million series of the day\. 46 MiB and (\d+) to (\d+) bytes for each are (\d+) to (\d+) MiB", text)[0]
    for each, needed in zip(table_bytes, (least, most)):
        assert int(needed) == round(FIXED_MIB + int(each) * int(of_day) * 1e6 / MIB, -1)


def test_the_store_of_a_fleet_is_as_large_on_both_pages():
    here, = re.findall(r"\| a fleet's store \| (\d+) bytes x \((\d) x series in an hour \+ (\d) x series in a day\)", PAGE)
    there, = re.findall(r"2 x (\d+) bytes x \((\d) x h \+ (\d) x d\)", (REPOSITORY / "docs/fleet.md").read_text())
    assert (int(here[0]), *here[1:]) == (2 * int(there[0]), *there[1:])


def test_the_charts_show_the_figures_of_the_page():
    chart = (REPOSITORY / "docs/compare-vmagent-1.79.svg").read_text()
    shown = {float(number.replace(",", "")) for number in re.findall(r">([\d,]+)(?:  \(1/[\d.]+ of vmagent\))?</text>", chart)}
    saturated = [float(line.split("|")[6].replace(",", "")) for line in BENCH.splitlines()
                 if re.match(r"\|[^|]*\| saturated +\| CPU, ns a sample", line)]
    assert len(saturated) == 8 and set(saturated) <= shown
    newest = re.findall(r"\(1/([\d.]+) of vmagent\)", (REPOSITORY / "docs/compare.svg").read_text())
    quoted, = re.findall(r"took ([\d.]+), ([\d.]+), ([\d.]+) and ([\d.]+) of its CPU", BENCH)
    assert [f"{1 / float(part):.2f}" for part in newest] == list(quoted)

#!/usr/bin/env python3
"""How cost grows as work grows: runs the benchmarks at all sizes, prints tables and draws them as SVG.

    bench/scale.py [RESULTS] [CHART]      (build/bench/scale.json, docs/scale.svg)

Needs the release build of the benchmarks (cmake --build build/release), 5 GB of memory and disk, and a quarter of an hour. Results
that are there already are drawn and not measured again.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.append(str(REPOSITORY / "bench"))

from chart import TEXT, Drawing, report  # noqa: E402

RUNS = (("scale_bench", ".", 1), ("limit_bench", "filter_(hit|miss)/", 3), ("state_bench", "save|load", 1),
        ("core_bench", "core_path_by", 5))
SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000)
REQUESTS = (1, 10, 100, 2_000, 10_000, 50_000)
LATER, FIRST = "#2f86d6", "#c2703d"


def measure():
    """@return what each benchmark reported last or, of several times, as its median"""
    found = {}
    for program, pattern, times in RUNS:
        print(f"scale: {program} {pattern}", file=sys.stderr, flush=True)
        ran = subprocess.run([REPOSITORY / "build/release" / program, f"--benchmark_filter={pattern}",
                              f"--benchmark_repetitions={times}", "--benchmark_format=json"],
                             capture_output=True, text=True, check=True, cwd=REPOSITORY / "build/bench")
        for each in json.loads(ran.stdout)["benchmarks"]:
            if each["run_type"] == "iteration" or each["aggregate_name"] == "median":
                found[each["run_name"]] = each
    return found


class Results:
    def __init__(self, found):
        self.found = found

    def window(self, size, counter):
        return self.found[f"window/{size}/iterations:1"][counter]

    def lookup(self, kind, size, threads=1):
        return self.found[f"filter_{kind}/{size}/threads:{threads}"]["per_series"] * 1e9

    def state(self, kind, size):
        return self.found.get(f"{kind}/{size}/real_time", {}).get("real_time")

    def request(self, size):
        return self.found[f"core_path_by_size/{size}"]["per_sample"] * 1e9

    def threads(self, count):
        return self.found[f"core_path_by_threads/real_time/threads:{count}"]["per_sample"] * 1e9

    def latency(self, name, counter):
        return self.found[f"{name}/iterations:1000"][counter]


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if value >= 20 else f"{value:.1f}"


def tables(results):
    rows = [("known: found in the filter, in batches, ns", lambda n: results.lookup("hit", n)),
            ("the same on both cores at once, ns", lambda n: results.lookup("hit", n, 2)),
            ("not known: not found in the filter, ns", lambda n: results.lookup("miss", n)),
            ("known: the whole decision, ns", lambda n: results.window(n, "known_later_ns")),
            ("known, in the first hour after a start, ns", lambda n: results.window(n, "known_ns")),
            ("new, while the first hour's set grows from nothing, ns", lambda n: results.window(n, "grow_ns")),
            ("new, in a window as large as the last, ns", lambda n: results.window(n, "return_ns")),
            ("refused, all of them different, ns", lambda n: results.window(n, "refused_ns")),
            ("change of windows, µs", lambda n: results.window(n, "rotate_us")),
            ("memory, hour and day, bytes", lambda n: results.window(n, "bytes_later")),
            ("memory in the first hour, bytes", lambda n: results.window(n, "grown_bytes")),
            ("save the state, ms", lambda n: results.state("save", n)),
            ("load it, ms", lambda n: results.state("load", n))]
    yield [["a series of so many", *(f"{n:,}" for n in SIZES)], *([name, *(number(of(n)) for n in SIZES)] for name, of in rows)]
    yield [["samples a request", *(f"{n:,}" for n in REQUESTS)],
           ["core path, ns a sample", *(number(results.request(n)) for n in REQUESTS)]]
    one, two = results.threads(1), results.threads(2)
    yield [["threads", "1", "2", "gain"], ["core path, ns a sample", number(one), number(two), f"{one / two:.2f}"]]
    yield [["50 M series, 200 requests/s of 2,000, 20 new, ms", "p50", "p99", "p99.9"],
           *([name, *(f"{results.latency(of, f'p{share}_us') / 1e3:.2f}" for share in ("50", "99", "99.9"))]
             for name, of in (("decided within an hour", "decide_while/steady"),
                              ("while the hour changes", "decide_while/rotating"),
                              ("the machine by itself: 1 ms of arithmetic", "decide_nothing")))]


class Panel:
    """One diagram with a logarithmic x axis."""

    def __init__(self, drawing, left, width, xs, y_of):
        self.drawing, self.left, self.width, self.xs, self.y_of = drawing, left, width, xs, y_of

    def x_of(self, value):
        low, high = math.log(self.xs[0]), math.log(self.xs[-1])
        return self.left + self.width * (math.log(value) - low) / (high - low)

    def axes(self, ticks, x_label, bottom):
        for tick in ticks:
            y = self.y_of(tick)
            self.drawing.parts.append(f'<path d="M{self.left} {y:.1f}h{self.width}" stroke="{TEXT}" opacity=".25"/>')
            self.drawing.text(self.left - 6, y + 4, f"{tick:,}", anchor="end", size=11)
        for x in self.xs:
            text = f"{x / 1e6:g} M" if x >= 1e6 else f"{x / 1e3:g} k" if x >= 1e3 else str(x)
            self.drawing.text(self.x_of(x), bottom + 16, text, anchor="middle", size=11)
        self.drawing.text(self.left + self.width / 2, bottom + 34, x_label, anchor="middle", size=12)

    def line(self, of, colour, label, dashed=False):
        points = [(self.x_of(x), self.y_of(of(x))) for x in self.xs]
        path = " ".join(f"{'L' if i else 'M'}{x:.1f} {y:.1f}" for i, (x, y) in enumerate(points))
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.drawing.parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        self.drawing.text(points[-1][0] + 6, points[-1][1] + 4, label, size=11)


def draw(results):
    title = "How cost grows: ns a series in a window of so many, ns a sample in a request of so many"
    drawing = Drawing()
    drawing.text(0, 18, title, size=14, weight="bold")
    top, bottom = 44, 264

    def logarithmic(value):
        return bottom - (bottom - top) * (math.log10(value) - 0.7) / (3.3 - 0.7)

    windows = Panel(drawing, 40, 270, SIZES, logarithmic)
    windows.axes((10, 100, 1000), "series in the window", bottom)
    windows.line(lambda n: results.window(n, "known_later_ns"), LATER, "known")
    windows.line(lambda n: results.window(n, "return_ns"), LATER, "new", dashed=True)
    windows.line(lambda n: results.window(n, "known_ns"), FIRST, "known, 1st hour")
    windows.line(lambda n: results.window(n, "grow_ns"), FIRST, "new, 1st hour", dashed=True)

    most = max(results.request(n) for n in REQUESTS)
    requests = Panel(drawing, 460, 260, REQUESTS, lambda value: bottom - (bottom - top) * value / most)
    requests.axes(range(0, int(most) + 1, 100), "samples in a request", bottom)
    requests.line(results.request, LATER, "")
    drawing.y = bottom + 44
    return drawing.svg(title)


def main():
    if len(sys.argv) > 3 or any(argument.startswith("-") for argument in sys.argv[1:]):
        sys.exit(__doc__.strip())
    kept, chart = (Path(given) if given else REPOSITORY / usual for given, usual in zip(
        [*sys.argv[1:], None, None], ["build/bench/scale.json", "docs/scale.svg"]))
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        (REPOSITORY / "build/bench").mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(measure(), indent=1))
    results = Results(json.loads(kept.read_text()))
    print(*(report.markdown(rows, texts=1) for rows in tables(results)), sep="\n\n")
    chart.write_text(draw(results))


if __name__ == "__main__":
    main()

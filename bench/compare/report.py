"""The medians of the runs, and the table of them. bench/chart.py draws from the same medians."""

import statistics
from dataclasses import dataclass
from typing import Callable

CASES = {"accepted": "all accepted", "half": "half refused", "refused": "all refused", "new": "1 % new series",
         "tls": "accepted, TLS"}
PEERS = {"vmagent": "vmagent", "nginx": "nginx", "gate": "seriesgate", "fleet": "in a fleet"}
BESIDE = [("gate", "vmagent"), ("gate", "nginx"), ("fleet", "gate")]
NONE = "–"


@dataclass
class Figure:
    title: str
    of: Callable  # of one run
    digits: int
    by: str  # how the gate is set beside the others: "ratio" or "difference"
    load: str  # which of the two loads it is from: "saturated" or "fixed"


def _cpu(load):
    return lambda run: run[load]["cpu_ns"] / run[load]["samples"]


def _latency(name):
    return lambda run: run["fixed"][name] / 1000


CPU = Figure("CPU, ns a sample", _cpu("saturated"), 0, "ratio", "saturated")
FIGURES = [
    CPU,
    Figure("samples/s", lambda run: run["saturated"]["samples"] / run["saturated"]["seconds"], 0, "ratio", "saturated"),
    Figure("CPU, ns a sample", _cpu("fixed"), 0, "ratio", "fixed"),
    Figure("p50, ms", _latency("p50_us"), 2, "difference", "fixed"),
    Figure("p99, ms", _latency("p99_us"), 2, "difference", "fixed"),
    Figure("p99.9, ms", _latency("p999_us"), 2, "difference", "fixed"),
    Figure("sent late, ms", _latency("late_us"), 2, "difference", "fixed"),
    Figure("peak RSS, MiB", lambda run: run["peak_rss_bytes"] / 2**20, 0, "ratio", "both"),
]


def runs_of(results):
    """{(protocol, case): {peer: its runs}}, in the order of the table."""
    found = {}
    for run in results["runs"]:
        found.setdefault((run["protocol"], run["case"]), {}).setdefault(run["peer"], []).append(run)
    return found


def median(figure, runs):
    return statistics.median(map(figure.of, runs)) if runs else None


def table(results):
    """One Markdown table a protocol, aligned so that they can be read as they are, and what they need to be told."""
    loads = {"saturated": "saturated", "fixed": f"{results['rate']} requests/s", "both": "after both"}
    tables, notes = {}, {}
    peers = [peer for peer in PEERS if any(run["peer"] == peer for run in results["runs"])]
    pairs = [pair for pair in BESIDE if set(pair) <= set(peers)]
    for (protocol, case), runs in runs_of(results).items():
        rows = tables.setdefault(protocol, [
            [f"remote write {protocol[1:]}", "load", "", *(PEERS[peer] for peer in peers), *map("/".join, pairs)]])
        slow = {peer for peer in runs if _rate(runs[peer]) < 0.95 * results["rate"]}
        for peer in sorted(slow):
            notes[f"{PEERS[peer]}, {protocol} {CASES[case]}"] = f"{_rate(runs[peer]):.0f}"
        for number, figure in enumerate(FIGURES):
            values = {peer: median(figure, runs.get(peer)) for peer in peers}
            rows.append([CASES[case] if number == 0 else "", loads[figure.load], figure.title,
                         *(_number(value, figure.digits, figure.load == "fixed" and peer in slow)
                           for peer, value in values.items()),
                         *(_beside(values[one], values[other], figure) for one, other in pairs)])
    parts = [markdown(rows) for rows in tables.values()]
    if notes:
        kept = "; ".join(f"{who} {rate}" for who, rate in notes.items())
        parts.append(f"In parentheses: it did not keep up with {results['rate']} requests/s, but reached: {kept}.")
    return "\n\n".join(parts)


def _rate(runs):
    return statistics.median(run["fixed"]["requests"] / run["fixed"]["seconds"] for run in runs)


def _number(value, digits, in_parentheses):
    if value is None:
        return NONE
    text = f"{value:,.{digits}f}"
    return f"({text})" if in_parentheses else text


def _beside(one, other, figure):
    if one is None or other is None:
        return NONE
    if figure.by != "ratio":
        return f"{one - other:+.2f}"
    return f"{one / other:.2f}" if other else "-"  # a load too short for the clock of CPU time


def markdown(rows, texts=3):
    """An aligned table, whose first row is its head. `texts`: how many of the columns are words, the rest are numbers."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    lines = ["| " + " | ".join(cell.ljust(width) if number < texts else cell.rjust(width)
                               for number, (cell, width) in enumerate(zip(row, widths))) + " |" for row in rows]
    rule = ["-" * (width + 2) if number < texts else "-" * (width + 1) + ":" for number, width in enumerate(widths)]
    return "\n".join([lines[0], "|" + "|".join(rule) + "|", *lines[1:]])

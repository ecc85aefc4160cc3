#!/usr/bin/env python3
"""Draws the CPU a sample of vmagent, seriesgate and nginx from the raw results of bench/compare.sh, as SVG.

    bench/chart.py [RESULTS] [CHART]      (build/bench/compare.json, docs/compare.svg)

Needs nothing but Python.
"""

import json
import sys
from pathlib import Path
from xml.sax.saxutils import escape

REPOSITORY = Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.append(str(REPOSITORY / "bench/compare"))

import report  # noqa: E402

# Colours that can be told apart and read on white and on black; the background stays the page's own.
TEXT = "#808893"
COLOURS = {"vmagent": "#c2703d", "gate": "#2f86d6", "nginx": "#7f8c99"}

WIDTH, LEFT, RIGHT = 760, 130, 90
BAR, GAP, GROUP_GAP, SECTION = 13, 3, 14, 40


class Drawing:
    def __init__(self):
        self.parts, self.y = [], 0

    def text(self, x, y, text, anchor="start", size=12, weight="normal"):
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" font-size="{size}" '
                          f'font-weight="{weight}">{escape(text)}</text>')

    def bar(self, x, y, width, colour):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width:.1f}" height="{BAR}" rx="2" fill="{colour}"/>')

    def svg(self, label):
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.y:g}" width="{WIDTH}" '
                f'height="{self.y:g}" role="img" aria-label="{escape(label)}" '
                f'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" fill="{TEXT}">\n'
                + "\n".join(self.parts) + "\n</svg>\n")


def draw(results):
    values = {key: {peer: report.median(report.CPU, runs[peer]) for peer in COLOURS if peer in runs}
              for key, runs in report.runs_of(results).items()}
    scale = (WIDTH - LEFT - RIGHT) / max(max(each.values()) for each in values.values())
    title = "CPU time a sample, at saturation (ns, less is better)"
    drawing = Drawing()
    drawing.text(0, 18, title, size=15, weight="bold")
    _legend(drawing, 40)
    drawing.y = 46

    protocol = None
    for (name, case), peers in values.items():
        if name != protocol:
            protocol = name
            drawing.y += SECTION
            drawing.text(0, drawing.y - 10, f"remote write {protocol[1:]}", size=13, weight="bold")
        middle = drawing.y + (len(peers) * (BAR + GAP) - GAP) / 2
        drawing.text(LEFT - 10, middle + 4, report.CASES[case], anchor="end")
        for peer, value in peers.items():
            width = max(1.5, value * scale)
            drawing.bar(LEFT, drawing.y, width, COLOURS[peer])
            drawing.text(LEFT + width + 6, drawing.y + BAR - 2, _value(value, peer, peers), size=11)
            drawing.y += BAR + GAP
        drawing.y += GROUP_GAP
    drawing.y += 4
    drawing.text(0, drawing.y, f"{results['machine']['cores']} cores of {results['machine']['cpu']}, "
                 f"medians of {results['rounds']} x {results['seconds']} s, {results['when'][:10]}", size=11)
    drawing.y += 8
    return drawing.svg(title)


def _value(value, peer, peers):
    text = f"{value:,.0f}"
    if peer == "gate" and "vmagent" in peers:
        text += f"  (1/{peers['vmagent'] / value:.1f} of vmagent)"
    return text


def _legend(drawing, y):
    x = 0
    for peer, colour in COLOURS.items():
        drawing.bar(x, y - 11, BAR, colour)
        drawing.text(x + BAR + 6, y, report.PEERS[peer])
        x += 100


def main():
    if len(sys.argv) > 3 or any(argument.startswith("-") for argument in sys.argv[1:]):
        sys.exit(__doc__.strip())
    results, chart = (Path(given) if given else REPOSITORY / usual for given, usual in zip(
        [*sys.argv[1:], None, None], ["build/bench/compare.json", "docs/compare.svg"]))
    try:
        chart.write_text(draw(json.loads(results.read_text())))
    except OSError as error:
        sys.exit(f"chart: {error}; bench/compare.sh makes the results")
    print(f"chart: wrote {chart}")


if __name__ == "__main__":
    main()

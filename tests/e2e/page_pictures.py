"""The pictures of the status page that the documents show: a day of a gate, with an explosion in its last hour.

    /usr/bin/python3 tests/e2e/page_pictures.py FOLDER     # page-light.png and page-dark.png; see scripts/screenshots.sh
"""

import contextlib
import sys
import tempfile
from pathlib import Path

from browser import Browser
from culprits import send
from faked_clock import FakedClock
from gate import Gate

CONFIGURATION = """
maxHourlySeries: 20000
maxDailySeries: 200000
tenants: {default: {maxHourlySeries: 6000}}
limits: [{name: per-namespace, each: [namespace], maxHourlySeries: 4000}]
"""
TEAMS = ("cart", "checkout", "search", "payment", "mail", "stock", "login", "ads")
#: New series of each hour, beside what comes in every hour.
ROLLED_OUT = (300, 200, 150, 150, 100, 100, 200, 400, 900, 1500, 1100, 1800, 700, 600)


def one_hour(gate, hour, rolled_out):
    for place, team in enumerate(TEAMS):
        common = {"job": "kubelet", "namespace": team, "instance": f"10.0.{place}.1:9100"}
        send(gate, [{"__name__": f"container_metric_{i % 60}_total", "container": f"{team}-{i // 60}", **common}
                    for i in range(900 - 90 * place)], "vmagent/1.110", team)
    common = {"job": "kubelet", "namespace": TEAMS[hour % 3]}
    send(gate, [{"__name__": f"container_metric_{i % 60}_total", "pod": f"pod-{hour}-{i // 60}", **common}
                for i in range(rolled_out)], "vmagent/1.110", TEAMS[hour % 3])


def explosion(gate):
    send(gate, [{"__name__": "http_requests_total", "job": "checkout", "namespace": "checkout", "path": f"/{i % 9}",
                 "instance": f"10.0.1.{i % 4}:80", "trace_id": f"{i * 2654435761 % 2**64:016x}"} for i in range(9000)],
         "Prometheus/3.5.0", "checkout")


def make_pictures(folder):
    """@return their paths"""
    made = [Path(folder) / f"page-{scheme}.png" for scheme in ("light", "dark")]
    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as started:
        clock = FakedClock(temporary, "2026-03-02 00:10:00")
        file = Path(temporary) / "gate.yaml"
        file.write_text(CONFIGURATION)
        gate = Gate("--upstream.url=discard:", config_file=file, environment=clock.environment)
        started.callback(gate.stop)
        for hour, rolled_out in enumerate(ROLLED_OUT):
            clock.set(f"2026-03-02 {hour:02}:12:00")
            one_hour(gate, hour, rolled_out)
        clock.set(f"2026-03-02 {len(ROLLED_OUT) - 1:02}:21:00")
        explosion(gate)
        shown = Browser(temporary)
        started.callback(shown.stop)
        shown.size(1200, 860)
        shown.open(gate.url + "/")
        shown.until(lambda: "1 to " in shown.text("#budget-count"), "the script has begun")
        for path in made:
            shown.scheme(path.stem.removeprefix("page-"))
            shown.screenshot(path)
    return made


if __name__ == "__main__":
    for picture in make_pictures(sys.argv[1]):
        print(picture)

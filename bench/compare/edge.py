"""The measurement of bench/edge.sh: gates of a fleet before, and over, an hour's end."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

import bodies
import report
from peers import FleetGate, Store, start_balancer, start_redis
from processes import Failed, Group, free_port, get

EARLY = 2  # seconds before the hour's end at which the load over it begins


def series_bodies(count):
    """Requests of distinct series, with the labels that a scraped series has."""
    wire = bodies.wire
    for first in range(0, count, bodies.SAMPLES_A_REQUEST):
        yield wire.pack(b"".join(
            wire.series([("__name__", "http_requests_total"), ("instance", f"10.0.{n % 250}.{n % 199}:9100"), ("job", "shop"),
                         ("number", str(n)), ("path", f"/api/v1/things/{n % 97}")],
                        wire.field(wire.SAMPLES, wire.sample(float(n), 1_700_000_000_000)))
            for n in range(first, min(count, first + bodies.SAMPLES_A_REQUEST))))


class Fleet:
    def __init__(self, asked, folder):
        self.asked, self.folder = asked, folder
        programs = SimpleNamespace(gate=asked.gate, nginx="nginx")
        self.running = []
        self.store = Store(programs, folder / "store")
        self.running.append(self.store.group)
        redis_port = self.redis_port = free_port()
        # By when the rest is done; a refill is in the middle of the hour.
        self.hour_ends = time.time() + (1800 if asked.refill else asked.seconds + asked.series / 20_000 + 20)
        clock = clock_that_ends_its_hour_at(self.hour_ends, asked.midnight, folder)
        self.redis = start_redis(folder, redis_port, clock)
        self.running.append(self.redis)
        self.gates = []
        for number in range(asked.gates):
            self.gates.append(FleetGate(programs, folder / f"gate-{number}", self.store, 3 * asked.series, None, redis_port,
                                        clock))
            self.running.append(self.gates[-1])
        self.port = free_port()
        self.running.append(start_balancer("nginx", folder / "balancer", self.port, [gate.port for gate in self.gates]))

    def stop(self):
        for each in reversed(self.running):
            each.stop()

    def ask_redis(self, *words):
        asked = subprocess.run(["redis-cli", "-p", str(self.redis_port), *words], capture_output=True, text=True)
        if asked.returncode:
            raise Failed(f"redis-cli {words[0]}: {asked.stderr}")
        return asked.stdout

    def held(self):
        """@return how many series the store has of the hour, and of the day"""
        count = ("local sum = 0 for _, key in ipairs(redis.call('KEYS', ARGV[1])) do "
                 "if redis.call('TYPE', key).ok == 'set' then sum = sum + redis.call('SCARD', key) end end return sum")
        return [int(self.ask_redis("EVAL", count, "0", f"sg:*:{window}:*")) for window in "hd"]

    def await_joined(self, losses):
        """Until all gates count by the store and have told it everything. @param losses that each has noticed at least"""
        until = time.monotonic() + 180
        while time.monotonic() < until:
            shared = [json.loads(get(gate.port, "/stats")[1])["shared"] for gate in self.gates]
            if all(each["state"] == "joined" and each["losses"] >= losses and each["untold"] == 0 for each in shared):
                return
            time.sleep(0.02)
        raise Failed(f"the gates are not joined: {shared}")

    def figures(self):
        """Sums over the gates, as /stats has them."""
        all_stats = [json.loads(get(gate.port, "/stats")[1]) for gate in self.gates]
        return {"received": sum(stats["samples"]["received"] for stats in all_stats),
                "refused": sum(stats["samples"]["refused"] for stats in all_stats),
                "claims": sum(stats["shared"]["claims"] for stats in all_stats),
                "untold": sum(stats["shared"]["untold"] for stats in all_stats),
                "current": [stats["windows"]["hourly"]["currentSeries"] for stats in all_stats]}

    def load(self, requests):
        """@return what came of it: wrk's figures, and what has changed at the gates and the store of counts"""
        before, cpu = self.figures(), self.redis.cpu_ns()
        command = ["wrk", "--threads=1", "--connections=16", "--timeout=30s", f"--duration={self.asked.seconds}s",
                   f"--script={bodies.REPOSITORY}/bench/compare/load.lua", f"http://127.0.0.1:{self.port}", "--", requests,
                   "edge", str(self.asked.rate)]
        wrk = Group("wrk", command, self.folder / "wrk.log")
        try:
            wrk.process.wait(self.asked.seconds + 60)
        except subprocess.TimeoutExpired:
            raise Failed("wrk does not come to an end") from None
        finally:
            wrk.stop()
        found = json.loads(wrk.log.read_text().rstrip().rpartition("\n")[2])
        if found["errors"]:
            raise Failed(f"{found['errors']} requests failed:\n{wrk.last_words()}")
        after = self.figures()
        return {**found, "samples": after["received"] - before["received"], "refused": after["refused"] - before["refused"],
                "claims": after["claims"] - before["claims"], "redis_cpu_s": (self.redis.cpu_ns() - cpu) / 1e9}


def clock_that_ends_its_hour_at(moment, is_midnight, folder):
    """@param is_midnight whether its day ends, too
    @return the environment of a server or gate whose clock is ahead by so much; a fleet believes no clock that is alone"""
    ends = 86400 if is_midnight else 3600
    library = folder / "clock.so"
    source = bodies.REPOSITORY / "tests/e2e/stopped_clock.c"
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", library, source], check=True)
    return {"LD_PRELOAD": str(library), "CLOCK_AHEAD": str(ends - int(moment) % ends)}


def measure(asked, folder):
    made = list(series_bodies(asked.series))
    bodies.write(folder / "requests", bodies.PROTOCOLS["v1"], [(body, []) for body in made])
    fleet = Fleet(asked, folder)
    try:
        for gate in fleet.gates:
            gate.take(made, bodies.PROTOCOLS["v1"].headers)
        middle = fleet.load(folder / "requests")
        left = fleet.hour_ends - EARLY - time.time()
        if left < 0:
            raise Failed("the hour has ended too early: a busy machine needs fewer --series")
        time.sleep(left)
        over = fleet.load(folder / "requests")
        return {"middle": middle, "edge": over, "after": fleet.figures()}
    finally:
        fleet.stop()


def measure_refill(asked, folder):
    """The store loses everything in the middle of the hour.
    @return seconds until all gates are joined and have told all, and what the store then holds by window"""
    fleet = Fleet(asked, folder)
    try:
        for gate in fleet.gates:
            gate.take(series_bodies(asked.series), bodies.PROTOCOLS["v1"].headers)
        fleet.await_joined(losses=0)
        held, cpu, began = fleet.held(), fleet.redis.cpu_ns(), time.monotonic()
        fleet.ask_redis("FLUSHALL")
        fleet.await_joined(losses=1)
        seconds = time.monotonic() - began
        if fleet.held() != held or any(count < asked.series for count in held):
            raise Failed(f"the store held {held} series of hour and day, and holds {fleet.held()}")
        return {"seconds": seconds, "redis_cpu_s": (fleet.redis.cpu_ns() - cpu) / 1e9, "held": held}
    finally:
        fleet.stop()


def _milliseconds(name):
    return lambda load: f"{load[name] / 1000:.2f}"


def _count(name):
    return lambda load: f"{load[name]:,}"


ROWS = [("p50, ms", _milliseconds("p50_us")), ("p99, ms", _milliseconds("p99_us")), ("p99.9, ms", _milliseconds("p999_us")),
        ("slowest, ms", _milliseconds("max_us")), ("samples", _count("samples")), ("of them refused", _count("refused")),
        ("claims", _count("claims")), ("CPU of the shared store, s", lambda load: f"{load['redis_cpu_s']:.2f}")]


def table(found):
    return report.markdown([("", "the middle of the hour", "its end"),
                            *((title, of(found["middle"]), of(found["edge"])) for title, of in ROWS)], texts=1)


def arguments():
    parser = argparse.ArgumentParser(prog="edge.sh", usage="bench/edge.sh [options]; --help tells which")
    parser.add_argument("--series", type=int, default=1_000_000)
    parser.add_argument("--rate", type=int, default=100)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--gates", type=int, default=3)
    parser.add_argument("--midnight", action="store_true")
    parser.add_argument("--refill", action="store_true")
    asked = parser.parse_args()
    asked.gate = os.environ.get("SERIESGATE_BIN") or bodies.REPOSITORY / "build/release/seriesgate"
    for program in ("wrk", "nginx", "redis-cli", os.environ.get("SERIESGATE_REDIS_SERVER") or "redis-server", asked.gate):
        if not shutil.which(program):
            raise Failed(f"{program} is missing")
    return asked


def main():
    asked = arguments()
    parent = bodies.REPOSITORY / "build/bench"
    parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="edge.", dir=parent))
    try:
        found = (measure_refill if asked.refill else measure)(asked, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if asked.refill:
        print(f"{asked.gates} gates refill {found['held']} series of hour and day: {found['seconds']:.1f} s, "
              f"{found['redis_cpu_s']:.1f} s of the store's CPU.")
        return
    print(table(found))
    times, after = found["edge"]["p99_us"] / found["middle"]["p99_us"], found["after"]
    print(f"\np99 at the hour's end: {times:.1f} times that of its middle. Afterwards {after['untold']} series are untold, and "
          f"gates show {sorted(set(after['current']))} of {asked.series}.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("edge: stopped")
    except Failed as error:
        sys.exit(f"edge: {error}")

"""The comparison of bench/compare.sh: every peer, every case, several rounds, one table."""

import argparse
import datetime
import json
import os
import platform
import random
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bodies
import report
from peers import PEERS, Certificate, Store
from processes import Failed, Group

PLENTY = 1_000_000  # series, the limit when nothing is refused
NEW_PLENTY = 10_000_000  # the same when every request brings new ones

QUICK = {"rounds": 1, "seconds": 1}


class Case:
    """One traffic: the limit, what makes the series known, what is measured, the share that has to be refused, and
    whether it comes over TLS."""

    def __init__(self, limit, warm_up, load, refused, tls=False):
        self.limit, self.warm_up, self.load, self.refused, self.tls = limit, warm_up, load, refused, tls


def cases(protocol):
    """By name: functions, for making up the requests takes a moment."""
    def accepted():
        return Case(PLENTY, protocol.bodies(), _unpatched(protocol.bodies()), 0)

    def half():  # half of the series of every request are known, and there is room for no other
        known, count = protocol.half()
        return Case(count, known + protocol.bodies(), _unpatched(protocol.bodies()), 0.5)

    def refused():  # one foreign series has taken the only slot
        return Case(1, [protocol.single(), *protocol.bodies()], _unpatched(protocol.bodies()), 1)

    def new():
        return Case(NEW_PLENTY, protocol.bodies(), protocol.exploding(), 0)

    def tls():
        return Case(PLENTY, protocol.bodies(), _unpatched(protocol.bodies()), 0, tls=True)

    return {"accepted": accepted, "half": half, "refused": refused, "new": new, "tls": tls}


def _unpatched(requests):
    return [(body, []) for body in requests]


class Comparison:
    def __init__(self, asked, folder):
        self.asked, self.folder = asked, folder
        self.store = Store(asked, folder / "store")
        self.certificate = Certificate(folder)
        self.started = 0

    def stop(self):
        self.store.group.stop()

    def measure(self, protocol, case, load_folder, peer_name):
        """One run of one peer. @return its figures, as they stand in the JSON"""
        _keep_clear_of_the_hour(2 * self.asked.seconds + 20)
        self.started += 1
        peer = PEERS[peer_name](self.asked, self.folder / f"{self.started:03}-{peer_name}", self.store, case.limit,
                                 self.certificate if case.tls else None)
        try:
            peer.take(case.warm_up, protocol.headers)
            peer.wait_idle()
            counted = peer.counts()
            saturated = self._load(peer, load_folder)
            fixed = self._load(peer, load_folder, self.asked.rate)
            self._check_refused(peer, case, counted)
            return {"saturated": saturated, "fixed": fixed, "peak_rss_bytes": peer.group.peak_rss()}
        finally:
            peer.stop()
            shutil.rmtree(self.folder / f"{self.started:03}-{peer_name}/queue", ignore_errors=True)

    def _load(self, peer, load_folder, rate=None):
        """Runs wrk once, until the peer has done all the work it has been given."""
        run = "".join(random.choices(string.ascii_letters, k=4))
        threads = 1 if rate else max(1, os.cpu_count() // 2)
        command = [self.asked.wrk, f"--threads={threads}", f"--connections={self.asked.connections}", "--timeout=30s",
                   f"--duration={self.asked.seconds}s", f"--script={bodies.REPOSITORY}/bench/compare/load.lua",
                   f"{peer.scheme}://127.0.0.1:{peer.port}", "--", load_folder, run, *([str(rate)] if rate else [])]
        cpu, store_cpu = peer.group.cpu_ns(), self.store.group.cpu_ns()
        connections, requests = self.store.served()
        wrk = Group("wrk", command, self.folder / "wrk.log")
        try:
            status = wrk.process.wait(self.asked.seconds + 60)
        except subprocess.TimeoutExpired:
            raise Failed("wrk does not come to an end") from None
        finally:
            wrk.stop()
        last_line = wrk.log.read_text().rstrip().rpartition("\n")[2]
        if status or not last_line.startswith("{"):
            raise Failed(f"wrk ended with status {status}:\n{wrk.last_words()}")
        figures = json.loads(last_line)
        if figures.pop("errors") or not figures["requests"]:
            raise Failed(f"{peer.group.name} answered with errors:\n{wrk.last_words()}\n{peer.group.last_words()}")
        peer.wait_idle()
        samples = figures["requests"] * bodies.SAMPLES_A_REQUEST
        connections_after, requests_after = self.store.served()
        return {**figures, "samples": samples, "cpu_ns": peer.group.cpu_ns() - cpu,
                "store": {"cpu_ns": self.store.group.cpu_ns() - store_cpu, "requests": requests_after - requests - 1,
                          "connections": connections_after - connections - 1}}

    @staticmethod
    def _check_refused(peer, case, counted):
        """A limit that refuses other samples than meant would measure something else."""
        if counted is None:
            return
        received, refused = (after - before for after, before in zip(peer.counts(), counted))
        if abs(refused / received - case.refused) > 0.02:
            raise Failed(f"{peer.group.name} refused {refused:.0f} of {received:.0f} samples, not {case.refused:.0%}")


def _keep_clear_of_the_hour(seconds):
    """At a full hour (UTC) limits begin anew: no run may have one in its middle."""
    left = 3600 - time.time() % 3600
    if left < seconds:
        _tell(f"waiting {left:.0f} s for the full hour to pass")
        time.sleep(left + 1)


def _tell(text):
    print(f"compare: {text}", file=sys.stderr, flush=True)


def compare(asked, folder):
    """@return all runs"""
    comparison, runs = Comparison(asked, folder), []
    try:
        plan = []
        for name in asked.protocols:
            protocol = bodies.PROTOCOLS[name]
            for case_name, make in cases(protocol).items():
                if case_name in asked.cases:
                    case, load = make(), folder / f"{name}-{case_name}"
                    bodies.write(load, protocol, case.load)
                    plan.append((protocol, case_name, case, load))
        for number in range(asked.rounds):
            for protocol, case_name, case, load in plan:
                names = [name for name in asked.peers if protocol.name in PEERS[name].protocols]
                turn = number % len(names)
                for name in names[turn:] + names[:turn]:  # whoever comes after whom: each round another one is first
                    figures = comparison.measure(protocol, case, load, name)
                    runs.append({"round": number + 1, "protocol": protocol.name, "case": case_name, "peer": name,
                                 **figures})
                    saturated = figures["saturated"]
                    _tell(f"round {number + 1} of {asked.rounds}, {protocol.name} {case_name}, {name}: "
                          f"{saturated['cpu_ns'] / saturated['samples']:.0f} ns a sample")
    finally:
        comparison.stop()
    return runs


def machine():
    cpu = [line.partition(":")[2].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
           if line.startswith("model name")]
    return {"cpu": cpu[0] if cpu else platform.machine(), "cores": os.cpu_count(), "kernel": platform.release(),
            "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")}


def versions(asked):
    """What each program says of itself, in one line."""
    def first_line(*command):
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=20)
        return (result.stdout + result.stderr).strip().partition("\n")[0]
    return {"gate": first_line(asked.gate, "--version"), "vmagent": first_line(asked.vmagent, "-version"),
            "nginx": first_line(asked.nginx, "-v"), "wrk": first_line(asked.wrk, "-v")}


def arguments():
    def some_of(*known):
        def parse(text):
            chosen = text.split(",")
            if unknown := set(chosen) - set(known):
                raise argparse.ArgumentTypeError(f"{', '.join(sorted(unknown))} is none of {', '.join(known)}")
            return chosen
        return parse

    def count(text, most=3600):
        if not text.isdigit() or not 0 < int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to {most}")
        return int(text)

    parser = argparse.ArgumentParser(prog="compare.sh", usage="bench/compare.sh [options]; --help tells which")
    parser.add_argument("--rounds", type=count, default=5)
    parser.add_argument("--seconds", type=count, default=5)
    parser.add_argument("--connections", type=count, default=16)
    parser.add_argument("--rate", type=lambda text: count(text, 100_000), default=200)
    parser.add_argument("--cases", type=some_of(*report.CASES), default=list(report.CASES))
    parser.add_argument("--protocols", type=some_of(*bodies.PROTOCOLS), default=list(bodies.PROTOCOLS))
    parser.add_argument("--peers", type=some_of(*PEERS), default=["vmagent", "nginx", "gate"])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--output", type=Path, default=bodies.REPOSITORY / "build/bench/compare.json")
    for program in ("gate", "vmagent", "nginx", "wrk"):
        parser.add_argument(f"--{program}", required=True)
    asked = parser.parse_args()
    if asked.quick:
        vars(asked).update(QUICK)
    return asked


def main():
    asked = arguments()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit("compare: stopped"))
    if os.getloadavg()[0] > os.cpu_count() / 2:
        _tell(f"other work is running (load average {os.getloadavg()[0]:.1f}); figures will be noisy")
    asked.output.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="compare.", dir=asked.output.parent.resolve()))
    when = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    try:
        runs = compare(asked, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    results = {"when": when, "machine": machine(), "versions": versions(asked), "rounds": asked.rounds,
               "seconds": asked.seconds, "connections": asked.connections, "rate": asked.rate, "runs": runs}
    asked.output.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n{report.table(results)}\n", flush=True)
    _tell(f"raw results in {os.path.relpath(asked.output)}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("compare: stopped")
    except Failed as error:
        sys.exit(f"compare: {error}")

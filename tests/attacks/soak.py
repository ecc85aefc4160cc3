"""A soak: senders in remote write 1 and 2 whose series come and go, reloads, backends of the store killed and opened again, and
connections of senders cut off, all at random but for the seed; plain, or with TLS on both sides and certificates that are
replaced meanwhile. After each round every answer is held against what has arrived, and memory and descriptors against those
of before. `scripts/soak.sh --help`; `test_soak.py` is a short one."""

import argparse
import collections
import multiprocessing
import os
import random
import signal
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bounds import MIB, memory
from fault_account import check_account, check_answers, settled, tally
from fault_scenes import server_context
from fault_senders import CUT_OFF, Orders, run_senders
from faulty_store import Store
from gate import Gate, sanitized
from secure import Secured
from waiting import eventually
from world import threading, time

SENDERS, THREADS = 3, 3
CUTS = (0.0, 0.02, 0.1)  # how often each sender loses its connection inside a request
PAUSE = 0.04  # seconds between the requests of a thread
BACKENDS = 3
LIMITS = (3000, 3200)  # from one to the other with each reload
NAMES = ("127.0.0.1", "gate.test")  # of the gate, in its certificates


@dataclass(frozen=True)
class Plan:
    seed: int
    rounds: int
    seconds: float  # each round
    reload_every: float
    tls: bool = False  # between senders and gate, and between gate and store; with each reload the gate's certificate is new


def configuration(urls, directory, limit, authority=None):
    """`authority`: the file of the CA that the store's certificate is of, if its backends speak TLS."""
    where = f"urls: [{', '.join(urls)}]" if len(urls) > 1 else f"url: {urls[0]}"
    tls = f", tls: {{caFile: '{authority}', serverName: store.test}}" if authority else ""
    return f"""
upstream: {{{where}, timeout: 2s{tls}}}
maxHourlySeries: {limit}
tenants: {{default: {{maxHourlySeries: 2000}}}}
state: {{dir: {directory}, interval: 1s}}
"""


# --- the store, a process -------------------------------------------------------------------------------------------

def _disturb(store, backends, seed, calm):
    """Kills backends and opens them again; while `calm` is set all of them are open."""
    choose = random.Random(seed)
    while not store.stopped.wait(choose.uniform(0.2, 1.5)):
        if calm.is_set():
            continue
        what = choose.choices(("a backend", "all backends", "connections"), (6, 1, 3))[0]
        store.done[f"killed {what}"] += 1
        if what == "connections":
            choose.choice(backends).cut_off()
            continue
        killed = backends if what == "all backends" else [choose.choice(backends)]
        for backend in killed:
            backend.close()
        store.stopped.wait(choose.uniform(0.05, 2))
        for backend in killed:
            backend.open()


def run_soak_store(seed, backends, certificate, calm, asked, results):
    """Serves so many backends; gives what has arrived whenever it is asked, until it is asked for nothing. `certificate`: of
    the backends, if they speak TLS."""
    with Store(seed) as store:
        context = server_context(certificate) if certificate else None
        opened = [store.backend(tls=context) for _ in range(backends)]
        threading.Thread(target=_disturb, args=(store, opened, seed, calm), daemon=True).start()
        results.put([backend.url for backend in opened])
        while asked.get():
            results.put((*store.take(), dict(store.done)))


# --- a run ----------------------------------------------------------------------------------------------------------

class Soak:
    """A gate between senders and a store, each a process. `say`: where a line about each round goes."""

    def __init__(self, plan, folder, say=print):
        self.plan, self.folder, self.say = plan, Path(folder), say
        self.told = collections.Counter()
        self.ways = {}
        self.reloads = 0
        self.cut_off = 0
        self.samples = []  # (resident bytes, descriptors) each second or so, under load
        self._context = multiprocessing.get_context("spawn")
        self._calm, self._asked, self._results = self._context.Event(), self._context.Queue(), self._context.Queue()
        self._secured = Secured(self.folder) if plan.tls else None
        self._authority = self._secured.authority.certificate if plan.tls else None
        self._store = self._context.Process(target=run_soak_store, daemon=True, args=(
            plan.seed, BACKENDS, self._secured.authority.issue("store.test") if plan.tls else None, self._calm, self._asked,
            self._results))
        self._store.start()
        self._urls = self._results.get(timeout=60)
        self.gate = self._start_gate()

    def _start_gate(self):
        file = self.folder / "gate.yaml"
        file.write_text(self._configuration())
        if not self._secured:
            return Gate(config_file=file)
        self._secured.install(self._secured.authority.issue(*NAMES))
        return Gate(self._secured.web(), config_file=file, authority=self._authority)

    def _configuration(self):
        return configuration(self._urls, self.folder / "state", LIMITS[self.reloads % 2], self._authority)

    def run(self):
        settled(self.gate)  # whoever has answered that has opened what it needs, the thread that shakes hands among them
        quiet = self._descriptors_besides_store()
        for number in range(self.plan.rounds):
            began = time.monotonic()
            self._check(self._round(number))
            eventually(lambda: self._descriptors_besides_store() <= quiet, "every descriptor is given back", 30, 0.1)
            self.say(f"{self._way} round {number + 1} of {self.plan.rounds}, {time.monotonic() - began:.0f} s: {self.summary}")
        self._check_flat()

    @property
    def summary(self):
        answers = {code: count for code, count in sorted(self.told.items()) if code.isdigit()}
        resident, descriptors = self.samples[-1]
        return (f"answers {answers}, none {self.told['doubtful requests']}, cut off {self.cut_off}; samples stored "
                f"{self.told['stored']}, refused {self.told['refused']}; reloads {self.reloads}, certificates "
                f"{self.certificates}, kills {self.kills}; {resident / MIB:.1f} MiB, {descriptors} descriptors")

    @property
    def certificates(self):
        """How many have taken the place of the first one."""
        return len(self.gate.said("TLS files taken"))

    @property
    def kills(self):
        return sum(count for way, count in self.ways.items() if way.startswith("killed"))

    def stop(self):
        self._asked.put(False)
        self._store.join(10)
        self._store.kill()
        self.gate.stop()

    def _round(self, number):
        """@return what the senders were answered"""
        enough, results = self._context.Event(), self._context.Queue()
        senders = [self._context.Process(target=run_senders, daemon=True, args=(
            Orders(self.plan.seed, self.gate.address, self._authority, CUTS[at], PAUSE, rest=0.05), (number << 20) + at,
            SENDERS, THREADS, self.plan.seconds + 60, enough, results)) for at in range(SENDERS)]
        self._calm.clear()
        for sender in senders:
            sender.start()
        try:
            self._attend()
            self._calm.set()
            enough.set()
            return [record for _ in senders for record in results.get(timeout=90)]
        finally:
            for sender in senders:
                sender.kill()
                sender.join()

    def _attend(self):
        """Looks on, and reloads, for as long as a round is."""
        now = time.monotonic()
        end, reload_at = now + self.plan.seconds, now + self.plan.reload_every
        while time.monotonic() < end:
            time.sleep(0.5)
            self.samples.append((memory(self.gate), self._descriptors()))
            if time.monotonic() > reload_at:
                self._reload()
                reload_at += self.plan.reload_every

    def _reload(self):
        before = len(self.gate.said("configuration reloaded"))
        self.reloads += 1
        if self._secured:
            self._secured.install(self._secured.authority.issue(*NAMES))
        self.gate.config_file.write_text(self._configuration())
        self.gate.signal(signal.SIGHUP)
        eventually(lambda: len(self.gate.said("configuration reloaded")) > before, "it is reloaded", 60, 0.1)

    def _check(self, sent):
        settled(self.gate)
        self._asked.put(True)
        arrived, _, faults, self.ways = self._results.get(timeout=60)
        check_answers(sent, arrived, faults)
        self.told += tally(sent)
        self.cut_off += sum(one.status == CUT_OFF for one in sent)
        check_account(self.gate, self.told)

    def _check_flat(self):
        """The first quarter warms it up: the last may not be above the second."""
        quarter = len(self.samples) // 4
        second, last = self.samples[quarter:2 * quarter], self.samples[-quarter:]
        before, after = (statistics.median(resident for resident, _ in part) for part in (second, last))
        self.say(f"{self._way} resident: {before / MIB:.1f} MiB in the second quarter, {after / MIB:.1f} MiB in the last")
        if not sanitized("asan", "tsan", "ubsan"):  # they keep what was freed
            assert after < 1.15 * before + 4 * MIB, (before, after)
        most = max(descriptors for _, descriptors in self.samples)
        assert most < 100 + 4 * SENDERS * THREADS, f"{most} descriptors"

    @property
    def _way(self):
        return "TLS" if self.plan.tls else "plain"

    def _descriptors(self):
        return len(os.listdir(f"/proc/{self.gate.pid}/fd"))

    def _descriptors_besides_store(self):
        """Without the kept connections to the store."""
        return self._descriptors() - int(self.gate.metric("seriesgate_upstream_connections"))


def run(plan):
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(plan, folder, say=lambda line: print(line, flush=True))
        try:
            soak.run()
        except AssertionError:
            sys.stderr.write(soak.gate.log[-20_000:])
            raise
        finally:
            soak.stop()


def main():
    parser = argparse.ArgumentParser(prog="scripts/soak.sh", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 20))
    arguments = parser.parse_args()
    half = arguments.minutes * 30
    rounds = max(2, round(half / 60))
    seconds = half / rounds
    print(f"soak: {rounds} rounds of {seconds:.0f} s plain, and as many with TLS, --seed {arguments.seed}", flush=True)
    for tls in (False, True):
        run(Plan(arguments.seed, rounds, seconds, min(10.0, seconds / 3), tls))
    print("soak: every sample that was acknowledged is in the store or counted as refused; memory and descriptors are flat")


if __name__ == "__main__":
    main()

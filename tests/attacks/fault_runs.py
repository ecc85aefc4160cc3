"""A run of senders that retry against a store that misbehaves, each a process, and what must hold of their records: every
answer a sender got, and every request that reached the store, held against what had been sent."""

import collections
import multiprocessing

import faulty_store
from fault_senders import CUT_OFF, Orders, run_senders
from store_ways import MAYBE, OK


def compare(sent, arrived):
    """@return what contradicts: a sample that was answered 2xx and neither stored nor counted as refused, an answer
    that nobody gave, a request that nobody sent, or sent only once and that came twice."""
    there_by = collections.defaultdict(list)
    for record in arrived:
        there_by[record.number, record.attempt].append(record)
    contradictions = []
    for one in sent:
        contradiction = _contradiction(one, there_by.pop((one.number, one.attempt), []))
        if contradiction:
            contradictions.append(contradiction)
    contradictions += [("nobody has sent this", there) for there in there_by.values()]
    return contradictions


def _contradiction(one, there):
    if one.status == CUT_OFF and there:
        return "only a part was sent", one, there
    if len(there) > 1:
        return "came twice", one, there
    if one.status // 100 == 2:
        series, samples, _ = one.totals
        kept = (series - one.refused[0], samples - one.refused[1])
        good = any(record.verdict in (OK, MAYBE) and (record.series, record.samples) == kept for record in there)
        if not good and (kept != (0, 0) or there):
            return "not stored", one, there
        if one.written and one.written[0] not in (-1, samples):
            return "written", one, there
    elif one.status // 100 == 4 and not any(record.verdict == one.status for record in there):
        return "nobody has said so", one, there
    return None


PROCESSES, THREADS = 2, 8


class Run:
    """Senders and a store, each a process. `seconds`: when they give up."""

    def __init__(self, seed, seconds):
        self.context = multiprocessing.get_context("spawn")
        self.seed, self.seconds = seed, seconds
        self.enough = self.context.Event()
        self.sender_results, self.store_results, ports = (self.context.Queue() for _ in range(3))
        self.counts = [self.context.Value("q", lock=False) for _ in range(PROCESSES)]
        self.store_asked = self.context.Event()
        self.senders = []
        self.store = self.context.Process(target=faulty_store.run_store, daemon=True,
                                          args=(seed, ports, self.store_asked, self.store_results))
        self.store.start()
        self.url = ports.get(timeout=60)

    def begin(self, address):
        self.senders = [self.context.Process(target=run_senders, daemon=True, args=(
            Orders(self.seed, address), first, PROCESSES, THREADS, self.seconds, self.enough, self.sender_results,
            self.counts[first])) for first in range(PROCESSES)]
        for sender in self.senders:
            sender.start()

    @property
    def answered(self):
        return sum(count.value for count in self.counts)

    def end(self):
        """Ends it. @return (what they were answered, what arrived, series that arrived, faults)"""
        self.enough.set()
        sent = [record for _ in self.senders for record in self.sender_results.get(timeout=60)]
        self.store_asked.set()
        return sent, *self.store_results.get(timeout=60)

    def stop(self):
        for process in (*self.senders, self.store):
            process.kill()
            process.join()

"""More requests than can be worked on: as many as can be are answered in time, and the others are told at once."""

import collections
import os

import pytest

import bounds
import open_loop
from client import post
from gate import sanitized
from waiting import eventually

DELAY_MAX = 0.3
TIMES, SECONDS = 3, 8
SLOW = sanitized("asan", "tsan", "ubsan")
REQUEST = post(open_loop.dear_body())


def turned_away(gate):
    return gate.metric("seriesgate_requests_rejected_total", reason="queue_delay")


def start(start_gate, delay_max):
    return start_gate(config=f"upstream: {{url: 'discard:'}}\nserver: {{threads: 1, maxQueueDelay: {delay_max}, "
                             "maxConnectionsPerPeer: 0}\n" + open_loop.dear_rules())


def on_one_core(gates):
    core = {min(os.sched_getaffinity(0))}
    for gate in gates:
        for thread in os.listdir(f"/proc/{gate.pid}/task"):
            os.sched_setaffinity(int(thread), core)


Work = collections.namedtuple("Work", "answers rate by_cpu opened")  # rate, by_cpu: of 204, by second and second of CPU


def work_of(answers, opened, cpu):
    good = sum(one.status == 204 for one in answers)
    seconds = max(one.sent + one.seconds for one in answers) - min(one.sent for one in answers)
    return Work(answers, good / seconds, good / cpu, opened)


@pytest.mark.timeout(300)
def test_at_three_times_its_capacity_it_serves_its_capacity(start_gate):
    """Another gate, which is never asked for more than it can do, is the measure: at the same moment and on the same core, so
    what else the machine does slows both of them."""
    gates = start(start_gate, f"{DELAY_MAX * 1000:.0f}ms"), start(start_gate, "1m")
    on_one_core(gates)
    gate = gates[0]
    for each in gates:
        open_loop.one_after_the_other(each, REQUEST, 4, 1)  # warm
    told, resident, used = turned_away(gate), bounds.memory(gate), [bounds.cpu_seconds(each) for each in gates]
    done = open_loop.crowd_beside(*gates, REQUEST, TIMES, 8, SECONDS)
    crowded, calm = (work_of(*run, bounds.cpu_seconds(each) - before) for run, each, before in zip(done, gates, used))
    grown = bounds.memory(gate) - resident

    took = collections.defaultdict(list)
    for one in crowded.answers:
        took[one.status].append(one.seconds)
    usual = open_loop.quantile([one.seconds for one in calm.answers], 0.9)
    print(f"\n{crowded.rate:.0f} a second served, {crowded.by_cpu:.0f} by a second of CPU; the other gate "
          f"{calm.rate:.0f} and {calm.by_cpu:.0f}, p90 {usual:.2f} s; {crowded.opened} connections, "
          f"{grown / bounds.MIB:.0f} MiB more")
    for status, seconds_each in sorted(took.items()):
        print(f"{status}: {len(seconds_each)}, " +
              ", ".join(f"p{share * 100:.0f} {open_loop.quantile(seconds_each, share):.2f} s" for share in (.5, .99)))

    assert {one.status for one in calm.answers} == {204}
    assert crowded.by_cpu >= 0.8 * calm.by_cpu, "the rest is for those that it turns away"
    assert crowded.rate >= 0.5 * calm.rate, "it serves its capacity"
    assert set(took) == {204, 503}, {status: len(each) for status, each in took.items()}
    assert all(one.retry_after for one in crowded.answers if one.status == 503)
    assert len(took[503]) == turned_away(gate) - told
    # Where nobody is turned away, it grows by two seconds in each; half of all then wait for more than half of the longest.
    longest = (TIMES - 1) * SECONDS
    late = (100 if SLOW else 10) * DELAY_MAX + 4 * usual
    for status in (204, 503):
        assert open_loop.quantile(took[status], 0.5) < late, f"half of {status} in {late:.2f} s"
        assert open_loop.quantile(took[status], 0.99) < max(late, longest / 2), f"nearly all of {status}"
    assert grown < (512 if SLOW else 64) * bounds.MIB
    said = eventually(lambda: gate.said("requests rejected", reason="queue_delay"), "the log says so")
    assert said[0]["status"] == "503"


def test_when_the_load_is_gone_it_is_as_before(start_gate):
    gate = start(start_gate, "100ms")
    answers = open_loop.one_after_the_other(gate, REQUEST, 64, 2)
    assert {one.status for one in answers} == {204, 503}
    assert turned_away(gate) == sum(one.status == 503 for one in answers)

    def served_alone():
        """Other processes may make the worker late all the same, now and then."""
        answers = open_loop.one_after_the_other(gate, REQUEST, 1, 1)
        return sum(one.status == 204 for one in answers) > 0.9 * len(answers)

    eventually(served_alone, "one after the other is served", 40)

"""More requests than can be worked on: as many as can be are answered in time, and the others are told at once."""

import collections

import pytest

import bounds
import open_loop
from gate import sanitized
from waiting import eventually

DELAY_MAX = 0.3
SLOW = sanitized("asan", "tsan", "ubsan")
REQUEST = open_loop.request_of(open_loop.dear_body())


def turned_away(gate):
    return gate.metric("seriesgate_requests_rejected_total", reason="queue_delay")


def served_rate(answers, seconds):
    return sum(one.status == 204 for one in answers) / seconds


def capacity_of(gate, seconds):
    """@return (answered in a second, by a second of CPU) when nobody waits for long"""
    used = bounds.cpu_seconds(gate)
    answers, _ = open_loop.one_after_the_other(gate, REQUEST, 4, seconds)
    assert {one.status for one in answers} == {204}
    return served_rate(answers, seconds), len(answers) / (bounds.cpu_seconds(gate) - used)


@pytest.mark.timeout(300)
def test_at_three_times_its_capacity_it_serves_its_capacity(start_gate):
    seconds = 8
    gate = start_gate(config=f"upstream: {{url: 'discard:'}}\nserver: {{threads: 1, maxQueueDelay: {DELAY_MAX * 1000:.0f}ms}}\n"
                      + open_loop.dear_rules())
    before, by_cpu = capacity_of(gate, 4)
    assert turned_away(gate) == 0

    resident, used = bounds.memory(gate), bounds.cpu_seconds(gate)
    answers, opened = open_loop.at_rate(gate, REQUEST, 3 * before, seconds)
    by_cpu_then = sum(one.status == 204 for one in answers) / (bounds.cpu_seconds(gate) - used)
    grown = bounds.memory(gate) - resident
    after, _ = capacity_of(gate, 4)
    served = served_rate(answers, max(one.sent + one.seconds for one in answers) - answers[0].sent)

    took = collections.defaultdict(list)
    for one in answers:
        took[one.status].append(one.seconds)
    print(f"\n{before:.0f} a second before, {after:.0f} after; of {3 * before:.0f} offered {served:.0f} served, "
          f"{by_cpu_then / by_cpu:.0%} of them by CPU; {opened} connections, {grown / bounds.MIB:.0f} MiB more")
    for status, seconds_each in sorted(took.items()):
        print(f"{status}: {len(seconds_each)}, " +
              ", ".join(f"p{share * 100:.0f} {open_loop.quantile(seconds_each, share):.2f} s" for share in (.5, .99)))

    # Others use the machine, too: what it can do is what it could before or after, and CPU is counted, not time.
    assert served >= 0.8 * min(before, after) or by_cpu_then >= 0.8 * by_cpu
    assert set(took) == {204, 503}, {status: len(each) for status, each in took.items()}
    assert all(one.retry_after for one in answers if one.status == 503)
    assert len(took[503]) == turned_away(gate)
    assert open_loop.quantile(took[204], 0.99) < (100 if SLOW else 10) * DELAY_MAX
    assert open_loop.quantile(took[503], 0.99) < (100 if SLOW else 10) * DELAY_MAX
    assert grown < (512 if SLOW else 64) * bounds.MIB
    assert gate.said("requests rejected", reason="queue_delay")[0]["status"] == "503"


def test_when_the_load_is_gone_it_is_as_before(start_gate):
    gate = start_gate(config="upstream: {url: 'discard:'}\nserver: {threads: 1, maxQueueDelay: 50ms}\n"
                      + open_loop.dear_rules())
    answers, _ = open_loop.one_after_the_other(gate, REQUEST, 64, 2)
    assert {one.status for one in answers} == {204, 503}
    told = turned_away(gate)
    assert told == sum(one.status == 503 for one in answers)
    answers, _ = open_loop.one_after_the_other(gate, REQUEST, 1, 1)
    assert {one.status for one in answers} == {204}
    assert turned_away(gate) == told


def test_requests_of_senders_that_have_given_up_are_not_worked_on(start_gate):
    """Their senders wait for less than the gate is late, close and come again."""
    gate = start_gate(config="upstream: {url: 'discard:'}\nserver: {threads: 1, maxQueueDelay: 2s}\n"
                      + open_loop.dear_rules())
    rate, _ = capacity_of(gate, 2)
    answers, _ = open_loop.at_rate(gate, REQUEST, 4 * rate, 4, patience=0.5)
    assert sum(one.status == 0 for one in answers) > len(answers) / 4
    eventually(lambda: gate.metric("seriesgate_inflight_requests") <= 1, "all of it is done", 60, every=0.1)
    abandoned = gate.metric("seriesgate_requests_abandoned_total")
    answered = gate.metric("seriesgate_requests_total", code="204")
    print(f"\n{abandoned:.0f} of {abandoned + answered:.0f} not worked on")
    assert abandoned > 0

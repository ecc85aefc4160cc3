"""What of the suite of faults (tests/scenes/test_fault_suite.py) is no scene: the check itself, and what only a system says."""

import pytest

from fault_account import by, check_account, tally
from fault_senders import CUT_OFF, NO_ANSWER, Orders, Senders, Sent
from waiting import eventually

pytestmark = pytest.mark.one_thread


# --- the check itself

class Said:
    """A gate that says so many samples and requests."""

    def __init__(self, **changed):
        samples = {"received": 10, "accepted": 8, "refused": 2, "stored": 8, "failed": 0}
        counts = {f"samples_{what}_total": {None: changed.get(what, count)} for what, count in samples.items()}
        counts |= {"inflight_bytes": {None: 0},
                   "requests_total": {("code", "204"): changed.get("answers", 2)},
                   "upstream_responses_total": {("code", "204"): changed.get("responses", 2)}}
        self.metrics = {(f"seriesgate_{name}", frozenset([label] if label else [])): float(value)
                        for name, values in counts.items() for label, value in values.items()}


def test_the_account_is_held_against_what_senders_were_told():
    def sent(attempt, status):
        return Sent(1, attempt, status, (1, 1), None, (5, 5, 0))

    told = tally([sent(0, 204), sent(1, 204), sent(2, CUT_OFF)])
    check_account(Said(), told)
    for wrong in ({"received": 11, "accepted": 9, "stored": 9}, {"received": 9, "accepted": 7, "stored": 7},
                  {"stored": 7, "failed": 1}, {"accepted": 9, "stored": 9, "refused": 1},
                  {"answers": 1, "responses": 1}, {"answers": 3, "responses": 3}, {"responses": 1}):
        with pytest.raises(AssertionError):
            check_account(Said(**wrong), told)
    more = {"received": 15, "accepted": 13, "stored": 13, "answers": 3, "responses": 3}
    check_account(Said(**more), tally([sent(0, 204), sent(1, 204), sent(2, NO_ANSWER)]))
    with pytest.raises(AssertionError):
        check_account(Said(**more), told)


# --- no way

def test_a_host_that_there_is_no_way_to(start_gate):
    """Multicast: whatever routes the system has, it knows none for TCP."""
    gate = start_gate("--upstream.url=http://224.0.0.1:9/api/v1/write")
    senders = Senders(Orders(3, gate.address, rest=0.02), 1, seconds=5)
    eventually(lambda: len(senders.answers()) > 3, "it is answered")
    sent = senders.end()
    assert {one.status for one in sent} == {502}
    assert set(by(check_account(gate, tally(sent)), "seriesgate_upstream_errors_total", "reason")) == {"no_route"}
    assert gate.said("the upstream has not answered", reason="no_route")

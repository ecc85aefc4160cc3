"""What of the suite of faults (tests/scenes/test_fault_suite.py) is no scene: the check itself, and what only a system says."""

import pytest

from fault_account import by, check_account, compare, tally
from fault_requests import kept_of, make_request
from fault_senders import CUT_OFF, NO_ANSWER, Orders, Senders, Sent
from faulty_store import Arrived
from store_ways import NONE, OK
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


def test_the_comparison_sees_what_is_wrong():
    """A sample changed, moved, cut out or added upstream, and answers that do not follow from what is there."""
    request = next(each for number in range(100) if (each := make_request(1, number)).series > 3)
    pieces = [piece.bytes for piece in request.pieces]
    series = [at for at, piece in enumerate(request.pieces) if piece.series is not None]
    assert len(kept_of(request, request.raw)) == len(pieces)
    without_one = [piece for at, piece in enumerate(pieces) if at != series[1]]
    assert len(kept_of(request, b"".join(without_one))) == len(pieces) - 1
    last = pieces[series[-1]]
    for wrong in (request.raw + b"x", request.raw[:-1], request.raw + last,
                  b"".join([*pieces[:series[-1]], last[:-9] + bytes([last[-9] ^ 1]) + last[-8:]]),
                  b"".join([*pieces[:series[0]], *(pieces[at] for at in reversed(series))])):
        with pytest.raises(ValueError):
            kept_of(request, wrong)

    sent = Sent(7, 0, 204, (1, 1), None, (3, 4, 0))
    stored = Arrived(7, 0, OK, 2, 3)
    assert not compare([sent], [stored])
    assert not compare([sent._replace(refused=(3, 4))], [])  # all of it refused
    assert not compare([sent._replace(status=CUT_OFF)], [])
    assert not compare([sent._replace(status=NO_ANSWER)], [stored])
    for wrong in ([], [stored._replace(samples=4)], [stored._replace(series=3, samples=4)],
                  [stored._replace(verdict=503)], [stored._replace(attempt=1)], [stored._replace(verdict=NONE)],
                  [stored, stored], [stored, stored._replace(attempt=1)], [stored, stored._replace(number=8)],
                  [stored._replace(verdict=NONE), stored]):
        assert compare([sent], wrong), wrong
    assert compare([sent._replace(status=400)], [stored])
    assert compare([sent._replace(status=CUT_OFF)], [stored])
    assert compare([sent._replace(status=502)], [stored, stored])
    assert compare([sent._replace(written=(3, 0))], [stored])


# --- no way

def test_a_host_that_there_is_no_way_to(start_gate):
    """Multicast: whatever routes the system has, it knows none for TCP."""
    gate = start_gate("--upstream.url=http://224.0.0.1:9/api/v1/write")
    senders = Senders(Orders(3, gate.address, rest=0.02), 1)
    eventually(lambda: len(senders.answers()) > 3, "it is answered")
    sent = senders.end()
    assert {one.status for one in sent} == {502}
    assert set(by(check_account(gate, tally(sent)), "seriesgate_upstream_errors_total", "reason")) == {"no_route"}
    eventually(lambda: gate.said("the upstream has not answered", reason="no_route"), "the log says so")

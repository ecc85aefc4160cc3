"""What must hold of senders that retry and a store that misbehaves: every answer that a sender got, and every request
that reached the store, held against what had been sent, and against the gate's own account."""

import collections

from exposition import samples_of
from fault_senders import CUT_OFF, NO_ANSWER
from store_ways import MAYBE, OK
from waiting import eventually

SAMPLES = ("received", "accepted", "refused", "stored", "failed")


def tally(sent):
    """What senders were told, as counts that can be added to those of others. With `doubtful`: the gate may have counted
    it or not, nobody can know from outside."""
    counts = collections.Counter(str(one.status) for one in sent if one.status > 0)
    for one in sent:
        samples = one.totals[1]
        if one.status == NO_ANSWER:
            counts.update({"doubtful requests": 1, "doubtful samples": samples})
        elif one.status != CUT_OFF:
            counts["received"] += samples
        if one.status // 100 == 2:
            counts.update({"stored": samples - one.refused[1], "refused": one.refused[1]})
    return counts


def by(metrics, name, label):
    """{value of the label: count} of one family, without those that are 0."""
    return {dict(labels)[label]: int(value) for labels, value in samples_of(metrics, name).items() if value}


def settled(gate):
    """/metrics, when no request is under way any more."""
    def metrics():
        seen = gate.metrics
        received, accepted, refused, stored, failed = (seen[f"seriesgate_samples_{what}_total", frozenset()]
                                                       for what in SAMPLES)
        even = received == accepted + refused and accepted == stored + failed
        return seen if even and seen["seriesgate_inflight_bytes", frozenset()] == 0 else None
    return eventually(metrics, "received = accepted + refused, accepted = stored + failed, nothing in flight", 30, 0.05)


def check_account(gate, told):
    """Every request and every sample is counted once, as what its sender was told. @return /metrics"""
    seen = settled(gate)
    codes = by(seen, "seriesgate_requests_total", "code")
    answers = {code: count for code, count in told.items() if code.isdigit()}
    rejected = by(seen, "seriesgate_requests_rejected_total", "reason")
    assert all(codes.get(code, 0) >= count for code, count in answers.items()), (codes, answers)
    more = sum(codes.values()) - sum(answers.values())
    assert 0 <= more <= told["doubtful requests"] + sum(rejected.values()), (codes, answers, rejected)
    forwarded = by(seen, "seriesgate_requests_forwarded_total", "kind")
    outcomes = [by(seen, "seriesgate_upstream_responses_total", "code"),
                by(seen, "seriesgate_upstream_errors_total", "reason"), rejected]
    assert sum(codes.values()) == forwarded.get("none", 0) + sum(sum(each.values()) for each in outcomes), (
        codes, forwarded, outcomes)

    counted = {what: int(seen[f"seriesgate_samples_{what}_total", frozenset()]) for what in SAMPLES}
    doubtful = told["doubtful samples"]
    assert told["stored"] <= counted["stored"] <= told["stored"] + doubtful, (told, counted)
    assert told["refused"] <= counted["refused"], (told, counted)
    assert counted["received"] <= told["received"] + doubtful, (told, counted)
    assert rejected or told["received"] <= counted["received"], (told, counted)
    return seen


# --- answers and arrivals

def check_answers(sent, arrived, faults):
    """Nothing of that sort, no fault of what the store got, and nobody has given up. @param faults as Store.results() has them"""
    assert not faults, faults[:3]
    contradictions = compare(sent, arrived)
    assert not contradictions, (len(contradictions), contradictions[:3])
    last = {one.number: one.status for one in sent}
    given_up = [number for number, status in last.items() if status // 100 not in (2, 4) or status == 429]
    assert not given_up, given_up[:3]


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

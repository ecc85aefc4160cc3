"""The gate's own account of a run, held against what its senders were answered."""

import collections

from exposition import samples_of
from fault_senders import NO_ANSWER
from waiting import eventually

SAMPLES = ("received", "accepted", "refused", "stored", "failed")


def by(metrics, name, label):
    """{value of the label: count} of one family, without those that are 0."""
    return {dict(labels)[label]: int(value) for labels, value in samples_of(metrics, name).items() if value}


def settled(gate):
    """/metrics, when no request is under way any more."""
    def metrics():
        seen = gate.metrics
        received, accepted, refused, stored, failed = (seen[f"seriesgate_samples_{what}_total", frozenset()]
                                                       for what in SAMPLES)
        return seen if received == accepted + refused and accepted == stored + failed else None
    return eventually(metrics, "received = accepted + refused, and accepted = stored + failed", 30)


def check_account(gate, sent):
    """Every request and every sample is counted once, as what its sender was told. @return /metrics"""
    seen = settled(gate)
    answered = [one for one in sent if one.status > 0]
    unknown = [one for one in sent if one.status == NO_ANSWER]  # counted or not: nobody can know from outside
    codes = by(seen, "seriesgate_requests_total", "code")
    told = collections.Counter(str(one.status) for one in answered)
    assert all(codes.get(code, 0) >= count for code, count in told.items()), (codes, told)
    rejected = sum(by(seen, "seriesgate_requests_rejected_total", "reason").values())
    assert sum(told.values()) <= sum(codes.values()) <= sum(told.values()) + len(unknown) + rejected, (codes, told)
    assert sum(codes.values()) == (
        sum(by(seen, "seriesgate_upstream_responses_total", "code").values()) +
        sum(by(seen, "seriesgate_upstream_errors_total", "reason").values()) + rejected +
        by(seen, "seriesgate_requests_forwarded_total", "kind").get("none", 0)), seen

    counted = {what: int(seen[f"seriesgate_samples_{what}_total", frozenset()]) for what in SAMPLES}
    good = [one for one in answered if one.status // 100 == 2]
    stored = sum(one.totals[1] - one.refused[1] for one in good)
    doubtful = sum(one.totals[1] for one in unknown)
    assert stored <= counted["stored"] <= stored + doubtful, (stored, doubtful, counted)
    refused = sum(one.refused[1] for one in good)
    assert refused <= counted["refused"], (refused, counted)
    if not rejected:
        received = sum(one.totals[1] for one in answered)
        assert received <= counted["received"] <= received + doubtful, (received, doubtful, counted)
    return seen

"""What must hold of senders that retry and a store that misbehaves: every answer a sender got, and every request that
reached the store, held against what had been sent."""

import collections

from fault_senders import CUT_OFF
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

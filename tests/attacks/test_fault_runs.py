"""Whatever breaks: every sample answered 2xx is upstream as it was sent, or was counted as refused; nothing else is
there; and no limit is exceeded.

Senders retry as Prometheus does, in remote write 1 and 2, snappy and zstd; the store answers well, badly, in part, late or
not at all; the configuration is reloaded, and the gate killed and started again.
"""

import collections
import os
import signal

import pytest

from fault_requests import JOBS, TENANTS, job_of, kept_of, make_request
from fault_runs import Run, compare
from fault_senders import CUT_OFF, NO_ANSWER, Sent
from faulty_store import Arrived
from gate import sanitized
from kept_state import FAILURES, SAVES
from store_ways import NONE, OK
from waiting import eventually, wait_out_the_hour

TENANT_MAX, JOB_MAX = 700, 350
GLOBAL_MAX = [1500, 1700, 1900, 2100]  # raised by reloads: the tenants' and the jobs' own still have room then

ANSWERS = int(os.environ.get("SERIESGATE_FAULT_ANSWERS", "100000"))


def configuration(directory, global_max):
    return f"""
upstream: {{timeout: 1s}}
maxHourlySeries: {global_max}
falsePositiveRate: 0.000000001
tenants: {{default: {{maxHourlySeries: {TENANT_MAX}}}}}
limits: [{{name: per-job, each: [job], maxHourlySeries: {JOB_MAX}}}]
state: {{dir: {directory}, interval: 100ms}}
"""


@pytest.fixture
def start_run():
    runs = []

    def start(*arguments):
        runs.append(Run(*arguments))
        return runs[-1]

    yield start
    for run in runs:
        run.stop()


def all_is_saved(gate, global_max):
    """The limit is spent, so that nothing new is admitted, and the state has been written since."""
    eventually(lambda: gate.current() == global_max, "the limit is spent", 120, every=0.1)
    saves = gate.metric(SAVES)
    eventually(lambda: gate.metric(SAVES) >= saves + 2, "it is saved", 60, every=0.05)


@pytest.mark.parametrize("seed, answers", [
    pytest.param(1, 3_000, marks=pytest.mark.timeout(240)),
    pytest.param(2, ANSWERS, marks=[pytest.mark.slow, pytest.mark.extended, pytest.mark.timeout(1500)])])
def test_what_is_answered_2xx_is_stored_or_counted_as_refused(start_gate, start_run, tmp_path, seed, answers):
    if sanitized("asan", "tsan", "ubsan"):
        answers //= 2
    seconds = 120 + answers / 100
    wait_out_the_hour(60 + answers / 1000)
    run = start_run(seed, seconds)

    def start(global_max, listen="127.0.0.1:0"):
        return start_gate(f"--upstream.url={run.url}", config=configuration(tmp_path / "state", global_max),
                          listen=listen)

    gate = start(GLOBAL_MAX[0])
    run.begin(gate.address)
    killed = 0
    disturbances = 8 if answers < 10_000 else 32
    for at in range(disturbances):
        due = answers * (at + 1) / (disturbances + 1)
        eventually(lambda due=due: run.answered >= due, f"{due:.0f} answers", seconds, every=0.02)
        global_max = GLOBAL_MAX[at * len(GLOBAL_MAX) // disturbances]
        if at % 2 == 0:
            gate.config_file.write_text(configuration(tmp_path / "state", global_max))
            gate.signal(signal.SIGHUP)
            try:
                eventually(lambda: "configuration reloaded" in gate.log, "it is reloaded", 60)
            except AssertionError as error:
                raise AssertionError(f"{error}\n{gate.log}") from None
        else:
            all_is_saved(gate, global_max)
            assert gate.metric(FAILURES) == 0
            gate.crash()
            killed += 1
            gate = start(global_max, listen=f"127.0.0.1:{gate.address[1]}")
            assert "state loaded" in gate.log

    eventually(lambda: run.answered >= answers, f"{answers} answers", seconds, every=0.02)
    sent, arrived, series, faults = run.end()
    assert not faults, faults[:3]
    contradictions = compare(sent, arrived)
    assert not contradictions, (len(contradictions), contradictions[:3])

    answers_by = collections.Counter(f"{one.status // 100}xx" if one.status else "none" for one in sent)
    good = [one for one in sent if one.status // 100 == 2]
    refused = [sum(one.refused[at] for one in good) for at in (0, 1)]
    stored = sum(one.totals[1] for one in good) - refused[1]
    tenants = collections.Counter(tenant for tenant, _ in series)
    jobs = collections.Counter(job_of(number) for _, number in series)
    print(f"\n{len(sent)} answers {dict(answers_by)}, {killed} kills: in those with 2xx {stored} samples stored, "
          f"{refused[1]} refused of {refused[0]} series; {len(series)} distinct series upstream")
    assert sum(one.status != NO_ANSWER for one in sent) >= answers
    assert len(good) > answers / 2 and refused[0] > answers / 4, "the run has shown too little"
    assert len(series) <= GLOBAL_MAX[-1]
    assert len(series) > 0.9 * GLOBAL_MAX[-1], "the limit was hardly tried"
    assert all(tenants[tenant] <= TENANT_MAX for tenant in TENANTS), tenants
    assert all(jobs[job] <= JOB_MAX for job in range(JOBS)), jobs


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

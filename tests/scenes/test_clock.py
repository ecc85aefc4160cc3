"""Hours and days that end, and clocks that are set, while the gate runs or while it does not."""

import pytest

from traffic import figures, limits, numbered, offer
from waiting import eventually

START = "2026-03-10 12:59:00"


@pytest.fixture(params=["bloom", "exact"])
def timed(request, limited, clock, tmp_path):
    """timed(text): a gate whose clock is `clock`, with its state kept over restarts."""
    state = f"seriesSet: {request.param}\nstate: {{dir: {tmp_path}/state, interval: 1h}}\n"
    return lambda text: limited(state + text, environment=clock.environment)


def spans(gate):
    """Starts of the hour and the day, when the gate has seen its clock."""
    return tuple(gate.stats["windows"][window]["start"] for window in ("hourly", "daily"))


def comes_to(gate, hour, day):
    """Without a request: the gate looks at the clock by itself."""
    eventually(lambda: spans(gate) == (hour, day), f"the windows begin at {hour} and {day}, not at {spans(gate)}",
               every=0.2)


def counts(gate):
    return gate.current(), gate.current("daily")


def explosion(count=50, start=1000, **labels):
    return numbered(count, start=start, **labels)


LIMITS = {
    "global": "maxHourlySeries: 10\n",
    "tenant": "tenants: {default: {maxHourlySeries: 10}}\n",
    "group": "limits: [{name: per-job, each: [job], maxHourlySeries: 10}]\n",
    "all": "maxHourlySeries: 10\ntenants: {default: {maxHourlySeries: 10}}\n"
           "limits: [{name: per-job, each: [job], maxHourlySeries: 10}, {name: all, maxHourlySeries: 10}]\n",
}


# --- the end of an hour

def test_windows_are_those_of_the_clock_without_a_request(timed, clock):
    gate = timed("")
    assert spans(gate) == ("2026-03-10T12:00:00Z", "2026-03-10T00:00:00Z")
    clock.set("2026-03-10 12:59:59")
    comes_to(gate, "2026-03-10T12:00:00Z", "2026-03-10T00:00:00Z")
    clock.set("2026-03-10 13:00:00")
    comes_to(gate, "2026-03-10T13:00:00Z", "2026-03-10T00:00:00Z")
    clock.leap(gate, "2026-03-11 00:00:00")
    comes_to(gate, "2026-03-11T00:00:00Z", "2026-03-11T00:00:00Z")
    clock.leap(gate, "2028-02-29 23:59:59")
    comes_to(gate, "2028-02-29T23:00:00Z", "2028-02-29T00:00:00Z")
    clock.set("2028-03-01 00:00:00")
    comes_to(gate, "2028-03-01T00:00:00Z", "2028-03-01T00:00:00Z")


@pytest.mark.parametrize("text", LIMITS.values(), ids=LIMITS)
def test_an_explosion_at_the_full_hour_takes_no_incumbents_place(timed, clock, upstream, text):
    gate = timed(text)
    incumbents = numbered(8, job="a")
    assert offer(gate, upstream, incumbents) == incumbents
    clock.set("2026-03-10 13:00:00")
    newcomers = explosion(job="a")
    assert offer(gate, upstream, newcomers) == newcomers[:2]
    assert counts(gate) == (2, 10)
    assert offer(gate, upstream, incumbents[:5] + newcomers) == incumbents[:5] + newcomers[:2]
    clock.set("2026-03-10 13:09:59")
    assert offer(gate, upstream, explosion(start=2000, job="a")) == []
    assert offer(gate, upstream, incumbents[:6]) == incumbents[:6]
    clock.set("2026-03-10 13:10:00")  # who has not come back by now is a newcomer like others
    assert offer(gate, upstream, newcomers) == newcomers[:4]
    assert offer(gate, upstream, incumbents) == incumbents[:6]
    assert counts(gate) == (10, 12)


# --- the end of a day and of a year

@pytest.mark.parametrize("before, after", [("2026-03-10 23:59:50", "2026-03-11 00:00:05"),
                                           ("2026-12-31 23:59:50", "2027-01-01 00:00:05")], ids=["day", "year"])
def test_a_new_day_begins_with_both_counts_at_zero_and_room_for_incumbents(timed, clock, upstream, before, after):
    clock.set(before)
    gate = timed("maxHourlySeries: 10\nmaxDailySeries: 10\n"
                 "limits: [{name: per-job, each: [job], maxDailySeries: 10}]\n")
    incumbents = numbered(8, job="a")
    offer(gate, upstream, incumbents)
    assert len(offer(gate, upstream, explosion(job="a"))) == 2
    clock.set(after)
    newcomers = explosion(start=2000, job="a")
    assert offer(gate, upstream, newcomers) == []
    start = after[:10] + "T00:00:00Z"
    assert (spans(gate), counts(gate)) == ((start, start), (0, 0))
    assert offer(gate, upstream, newcomers + incumbents) == incumbents
    assert counts(gate) == (8, 8)
    clock.set(after[:10] + " 00:10:00")
    assert offer(gate, upstream, newcomers) == newcomers[:2]
    stats = gate.stats
    assert (figures(stats["windows"])[:2], figures(stats["windows"], "daily")[:2]) == ((10, 10), (10, 10))
    assert figures(limits(stats, "per-job")["a"], "daily")[:2] == (10, 10)


# --- a clock that is set

@pytest.mark.parametrize("now", ["2026-03-07 12:30:00", "2026-03-14 12:30:00", "2025-12-31 23:59:59",
                                 "2030-01-01 00:00:00"])
def test_a_step_by_days_starts_afresh_in_the_hour_it_leads_to(timed, clock, upstream, now):
    gate = timed("maxHourlySeries: 10\nmaxDailySeries: 10\n")
    offer(gate, upstream, numbered(12))
    clock.leap(gate, now)
    assert offer(gate, upstream, explosion()) == explosion()[:10]  # there is nobody to keep room for
    assert spans(gate) == (f"{now[:10]}T{now[11:13]}:00:00Z", f"{now[:10]}T00:00:00Z")
    assert figures(gate.stats["windows"]) == (10, 10, 40)
    clock.leap(gate, START)  # and back again: those of before are forgotten
    assert offer(gate, upstream, numbered(12, start=5)) == numbered(10, start=5)


@pytest.mark.parametrize("away", ["2026-03-10 15:00:00", "2026-03-10 09:00:00", "2027-01-01 00:00:00"])
def test_a_clock_that_is_wrong_for_a_moment_changes_nothing(timed, clock, upstream, away):
    gate = timed("maxHourlySeries: 10\nmaxDailySeries: 10\n")
    offer(gate, upstream, numbered(12))
    before = spans(gate)
    clock.set(away)
    clock.await_doubt(gate, True)
    assert gate.stats["clockInDoubt"] is True
    assert offer(gate, upstream, explosion()) == []
    assert offer(gate, upstream, numbered(12)) == numbered(10)
    clock.set(START)
    clock.await_doubt(gate, False)
    assert offer(gate, upstream, explosion()) == []
    assert (spans(gate), counts(gate)) == (before, (10, 10))
    assert len(gate.said("the clock has leapt by over an hour")) == 1


# --- a restart with another time

def test_who_was_there_before_a_restart_over_the_full_hour_is_an_incumbent(timed, clock, upstream):
    gate = timed(LIMITS["all"])
    incumbents = numbered(8, job="a")
    offer(gate, upstream, incumbents)
    gate.stop()
    clock.set("2026-03-10 13:02:00")
    gate = timed(LIMITS["all"])
    assert (spans(gate)[0], counts(gate)) == ("2026-03-10T13:00:00Z", (0, 8))
    newcomers = explosion(job="a")
    assert offer(gate, upstream, newcomers) == newcomers[:2]
    assert offer(gate, upstream, incumbents[:3]) == incumbents[:3]
    gate.stop()
    clock.set("2026-03-10 13:04:00")  # room is still kept for the five others after another restart
    gate = timed(LIMITS["all"])
    assert offer(gate, upstream, newcomers + incumbents) == newcomers[:2] + incumbents
    assert counts(gate) == (10, 10)

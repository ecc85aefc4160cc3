"""The limit that a finding offers, pasted: two hours of the same traffic, and no healthy sample is missing."""

import itertools
import json
import textwrap

import pytest

from faked_clock import FakedClock
from traffic import offer

BASE = "maxHourlySeries: 20000\n"


def series(count, name="shop_requests_total", start=0, **labels):
    """`count` series; each label's value is a text, or a function from the number to one."""
    return [{"__name__": name, **{label: value if isinstance(value, str) else value(i) for label, value in labels.items()}}
            for i in range(start, start + count)]


def rolled_out(hour):
    """An application whose pods are new in each hour."""
    return series(200, "app_up", job="app", pod=lambda i: f"app-{hour}-{i}")


#: Healthy series by tenant in an hour, and what explodes, from its numbers on, in the tenant `shop`.
SCENES = {
    "a label, and another tenant has 530 series of the metric": (
        lambda hour: {"shop": series(40, job="shop", path=lambda i: f"/p{i}") + rolled_out(hour),
                      "audit": series(530, job="audit", path=lambda i: f"/audit/{i}")},
        lambda start, count: series(count, start=start, job="shop", path="/p1", request_id=lambda i: f"{i:016x}")),
    "a label of one job, and other jobs have it with 700 values": (
        lambda hour: {"shop": series(700, job=lambda i: f"other-{i % 7}", session=lambda i: f"s{i}")
                      + series(20, job="shop", path=lambda i: f"/p{i}")},
        lambda start, count: series(count, start=start, job="shop", session=lambda i: f"{i:016x}")),
    "buckets": (
        lambda hour: {"shop": series(600, "latency_bucket", job="good", path=lambda i: f"/p{i // 12}", le=lambda i: str(i % 12))
                      + series(48, "latency_bucket", job="bad", path=lambda i: f"/p{i // 12}", le=lambda i: str(i % 12))},
        lambda start, count: series(count, "latency_bucket", start, job="bad", path=lambda i: f"/x{i // 80}",
                                    le=lambda i: f"0.{i % 80:03}")),
    "ids in names": (
        lambda hour: {"shop": series(300, "user_logins_total", job="shop", path=lambda i: f"/p{i}")},
        lambda start, count: [{"__name__": f"user_{i:012x}_total", "job": "shop"} for i in range(start, start + count)]),
}


@pytest.mark.parametrize("name", SCENES)
def test_two_hours_of_the_offered_limit_cost_no_healthy_sample(limited, upstream, tmp_path, name):
    healthy_in, exploding = SCENES[name]
    clock = FakedClock(tmp_path, "2027-03-10 08:20:00")
    gate = limited(BASE, environment=clock.environment)
    numbers = itertools.count(0, 1500)

    def scrape(hour):
        """@return whether every healthy series arrived, and how many of the others"""
        for tenant, healthy in healthy_in(hour).items():
            assert offer(gate, upstream, healthy, tenant) == healthy, (hour, tenant)
        return len(offer(gate, upstream, exploding(next(numbers), 1500), "shop"))

    for hour in (8, 9):
        clock.set(f"2027-03-10 {hour:02}:20:00")
        for tenant, healthy in healthy_in(hour).items():
            assert offer(gate, upstream, healthy, tenant) == healthy
    clock.set("2027-03-10 10:20:00")
    for _ in range(6):
        scrape(10)
    found = json.loads(gate.get("/api/v1/findings").body)["data"]
    limit = next(each["remedy"]["limit"] for each in found if each["remedy"]["limit"])
    assert gate.reload(BASE + "limits:\n" + textwrap.indent(limit, "  ")).status == 200

    admitted = []
    for hour in (11, 12):
        passed = 0
        for minute in range(0, 60, 10):
            clock.set(f"2027-03-10 {hour:02}:{minute:02}:00")
            passed += scrape(hour)
        admitted.append(passed)
    bound = int(next(line.split()[-1] for line in limit.splitlines() if "maxHourlySeries" in line))
    assert 0 < max(admitted) <= bound < 9000
    assert gate.stats["samples"]["refused"] >= 2 * (9000 - bound)

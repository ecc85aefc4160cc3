"""What limits should be: /api/v1/suggestions of a gate, over hours and days."""

import pytest

import culprits
import documents
import faked_clock
from gate import run
from traffic import TENANT, body, numbered
from waiting import eventually

LIMITS = """
upstream: {url: "discard:"}
maxHourlySeries: 1000
tenants:
  default: {maxHourlySeries: 500, maxDailySeries: 2000}
  overrides: {whale: {maxHourlySeries: 800, onLimit: reject}}
limits:
  - name: per-namespace
    match: '{namespace=~".+"}'
    each: [namespace]
    maxHourlySeries: 100
    overrides: [{group: {namespace: big}, maxHourlySeries: 400}]
  - {name: everything, mode: observe}
"""

KEYS = ["demand", "exhaustedInSeconds", "headroom", "maxSeries", "peak", "suggested", "typical", "windows"]


def ask(gate, **arguments):
    return culprits.ask(gate, "suggestions", **arguments)


def named(suggestion):
    group = ",".join(suggestion.get("group", {}).values())
    return " ".join(part for part in (suggestion["budget"], suggestion.get("limit"), suggestion.get("tenant"), group)
                    if part)


def one(gate, name):
    found, = [each for each in ask(gate) if named(each) == name]
    return found


def send(gate, count, namespace, start=0, tenant="shop"):
    series = [{**labels, "namespace": namespace} for labels in numbered(count, start)]
    assert gate.send(body(series), [(TENANT, tenant)]).status in (200, 204)


@pytest.fixture
def clock(tmp_path):
    return faked_clock.FakedClock(tmp_path, "2026-06-10 10:30:00")


@pytest.fixture
def gate(start_gate, clock):
    return start_gate(config=LIMITS, environment=clock.environment)


def pass_to(gate, clock, now, kept):
    """And waits until so many hours that have ended are kept."""
    clock.set(now)
    eventually(lambda: one(gate, "limit per-namespace")["hourly"]["windows"] == kept, f"{kept} hours are kept")


def test_every_budget_has_a_suggestion_from_what_was_asked_for(gate, clock):
    send(gate, 130, "a")  # 30 are refused
    send(gate, 60, "b")
    first = one(gate, "group per-namespace a")
    assert first["hourly"] == {"maxSeries": 100, "demand": 130, "peak": 130, "typical": None, "windows": 0,
                               "suggested": 200, "headroom": -30, "exhaustedInSeconds": 0}
    assert sorted(first["daily"]) == KEYS

    pass_to(gate, clock, "2026-06-10 11:30:00", 1)
    send(gate, 40, "a")
    pass_to(gate, clock, "2026-06-10 12:30:00", 2)
    send(gate, 90, "a")
    assert one(gate, "group per-namespace a")["hourly"] == {
        "maxSeries": 100, "demand": 90, "peak": 130, "typical": 40, "windows": 2, "suggested": 200, "headroom": -30,
        "exhaustedInSeconds": None}
    # The largest group without an override, and what the limit let through.
    assert one(gate, "limit per-namespace")["hourly"]["peak"] == 130
    assert one(gate, "tenants")["hourly"]["peak"] == 160
    assert one(gate, "tenants")["daily"]["peak"] == 160
    assert one(gate, "tenant shop")["hourly"]["suggested"] == 240
    assert one(gate, "global")["hourly"] == {
        "maxSeries": 1000, "demand": 90, "peak": 160, "typical": 40, "windows": 2, "suggested": 240, "headroom": 840,
        "exhaustedInSeconds": None}
    assert one(gate, "limit everything")["mode"] == "observe"
    assert one(gate, "limit everything")["hourly"]["maxSeries"] == 0
    # Neither hour nor day of it is limited: both are suggested, and the day has at least what the hour has.
    assert one(gate, "limit everything")["daily"]["suggested"] == 240
    assert one(gate, "limit everything")["daily"]["headroom"] is None


def test_the_demand_of_ended_windows_survives_a_restart(start_gate, clock, tmp_path):
    config = f"{LIMITS}state: {{dir: {tmp_path / 'state'}}}\n"
    first = start_gate(config=config, environment=clock.environment)
    send(first, 130, "a")
    pass_to(first, clock, "2026-06-10 11:30:00", 1)
    send(first, 40, "a")
    before = one(first, "group per-namespace a")
    assert (before["hourly"]["peak"], before["hourly"]["windows"]) == (130, 1)
    first.stop()
    second = start_gate(config=config, environment=clock.environment)
    assert one(second, "group per-namespace a") == before
    second.stop()
    # Other labels are counted: what was counted by the old ones is gone, the demand is not.
    third = start_gate(config=config + "topLabels: [team]\n", environment=clock.environment)
    assert third.said("what was seen before is not loaded")
    assert one(third, "group per-namespace a") == before


def test_what_is_suggested_can_be_pasted(gate, tmp_path):
    send(gate, 130, "a")
    send(gate, 60, "it's: ${odd}", tenant="whale")
    for each in ask(gate):
        file = tmp_path / "pasted.yaml"
        file.write_text('upstream: {url: "discard:"}\n' + each["yaml"])
        checked = run(f"--config.file={file}", "--check-config")
        assert checked.returncode == 0, checked.stderr
    assert one(gate, "tenant whale")["yaml"] == (
        "tenants:\n  overrides: {whale: {maxHourlySeries: 90, maxDailySeries: 90, onLimit: reject}}\n")
    assert one(gate, "global")["yaml"] == "maxHourlySeries: 240\nmaxDailySeries: 0\n"
    assert "{group: {namespace: a}, maxHourlySeries: 200, maxDailySeries: 0}" in one(gate, "group per-namespace a")["yaml"]


def test_every_key_is_documented(gate):
    send(gate, 5, "a")
    documented = documents.section("docs/api.md", "GET /api/v1/suggestions")
    for each in ask(gate):
        for key in [*each, *each["hourly"], *each["daily"]]:
            assert f"`{key}`" in documented, key

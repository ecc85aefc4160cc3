"""Why a series is refused, or what would be decided about it: /api/v1/explain; what limits should be: /suggestions."""

import pytest

import culprits
import documents
from gate import run
from traffic import TENANT, body, numbered
from waiting import eventually

START = "2026-06-10 10:30:00"
LIMITS = """
upstream: {url: "discard:"}
maxHourlySeries: 1000
ignoreLabels: [replica]
tenants: {default: {maxHourlySeries: 500}}
limits:
  - name: per-namespace
    match: '{namespace=~".+"}'
    each: [namespace]
    maxHourlySeries: 10
    maxDailySeries: 12
exempt: ['{__name__="up"}']
"""

KEYS = ["budgets", "decision", "exempt", "falsePositiveRate", "incumbent", "known", "knownSince", "refusedBy",
        "refusedLately", "series", "sets", "storeDecides", "tenant", "wholeHistogram", "why", "windows"]


def ask(gate, series, tenant=None):
    return culprits.ask(gate, "explain", series=series, **({} if tenant is None else {"tenant": tenant}))


def send(gate, count, namespace="a", start=0, tenant="shop", **labels):
    series = numbered(count, start, "requests", namespace=namespace, **labels)
    assert gate.send(body(series), [(TENANT, tenant)]).status == 204


def text(number):
    return f'requests{{namespace="a",n="{number}"}}'


@pytest.fixture
def gate(start_gate, clock):
    return start_gate(config=LIMITS, environment=clock.environment)


def test_a_series_that_was_never_sent(gate):
    said = ask(gate, text(1), "shop")
    assert sorted(said) == KEYS
    assert (said["decision"], said["known"], said["knownSince"], said["refusedBy"]) == ("admitted", False, None, None)
    assert said["why"] == "every limit that applies has room, or only observes"
    assert said["sets"] == {"hour": False, "day": False, "hourBefore": None}
    assert (said["series"], said["tenant"]) == ('requests{n="1",namespace="a"}', "shop")
    assert [(each["limit"], each["exists"]) for each in said["budgets"]] == [
        ("global", True), ("tenant", False), ("per-namespace", False)]
    assert said["budgets"][2] == {
        "limit": "per-namespace", "group": {"namespace": "a"}, "mode": "enforce", "exists": False,
        "hourly": {"maxSeries": 10, "currentSeries": 0, "refusedSeries": 0, "refusedSeriesExact": True, "room": 10,
                   "hasRoom": True},
        "daily": {"maxSeries": 12, "currentSeries": 0, "refusedSeries": 0, "refusedSeriesExact": True, "room": 12,
                  "hasRoom": True}}
    assert said["windows"]["hourly"] == {"start": "2026-06-10T10:00:00Z", "end": "2026-06-10T11:00:00Z"}
    assert gate.stats["windows"]["hourly"]["currentSeries"] == 0


def test_a_known_series_in_any_spelling(gate):
    send(gate, 3, replica="one")
    for spelling in (text(1), """{n='1', "requests", namespace="\\x61"}""", text(1)[:-1] + ',replica="two",empty=""}'):
        said = ask(gate, spelling, "shop")
        assert (said["decision"], said["known"]) == ("known", True)
        assert said["why"] == "the hour's set has it: it is accepted, and no limit is asked"
        assert said["knownSince"] == {"hour": "2026-06-10T10:00:00Z", "orBefore": True}
    assert ask(gate, text(1), "other")["known"] is False
    assert ask(gate, text(1))["known"] is False


def test_a_newcomer_without_room_and_one_that_was_refused(gate):
    send(gate, 10)
    said = ask(gate, text(50), "shop")
    assert (said["decision"], said["refusedLately"]) == ("refused", False)
    assert said["refusedBy"] == {"limit": "per-namespace", "window": "hourly"}
    assert said["why"] == 'limit per-namespace{namespace="a"}: maxHourlySeries 10 is spent (10 series admitted)'
    assert said["budgets"][2]["hourly"] == {"maxSeries": 10, "currentSeries": 10, "refusedSeries": 0,
                                            "refusedSeriesExact": True, "room": 0, "hasRoom": False}
    send(gate, 1, start=50)
    said = ask(gate, text(50), "shop")
    assert said["refusedLately"] is True
    assert said["why"].startswith("refused lately, which is remembered until there may be room again: limit per-name")
    assert said["budgets"][2]["hourly"]["refusedSeries"] == 1
    assert ask(gate, 'requests{namespace="b"}', "shop")["decision"] == "admitted"


def test_the_next_hour_keeps_room_for_what_was_there(gate, clock):
    send(gate, 4)
    clock.set("2026-06-10 11:00:30")
    eventually(lambda: ask(gate, text(1), "shop")["windows"]["hourly"]["start"] == "2026-06-10T11:00:00Z", "the hour")
    said = ask(gate, text(1), "shop")
    assert said["sets"] == {"hour": False, "day": True, "hourBefore": True}
    assert (said["incumbent"], said["decision"], said["knownSince"]) == (True, "admitted", None)
    assert said["why"] == "it was there in the hour before, and room is kept for it"
    assert said["budgets"][2]["hourly"]["room"] == 10
    newcomer = ask(gate, text(50), "shop")
    assert (newcomer["incumbent"], newcomer["budgets"][2]["hourly"]["room"]) == (False, 6)
    send(gate, 1, start=1)
    send(gate, 1, start=50)
    assert ask(gate, text(1), "shop")["knownSince"] == {"hour": "2026-06-10T10:00:00Z", "orBefore": True}
    assert ask(gate, text(50), "shop")["knownSince"] == {"hour": "2026-06-10T11:00:00Z", "orBefore": False}
    # 2 are in, 3 are expected, 5 have room for now.
    send(gate, 6, start=60)
    said = ask(gate, text(99), "shop")
    assert said["why"] == ('limit per-namespace{namespace="a"}: maxHourlySeries 10 is spent (7 series admitted), and '
                           "the rest is kept for series of the hour before")


def test_an_exempt_series_has_a_limit_of_its_own(gate):
    said = ask(gate, "up")
    assert (said["exempt"], said["decision"]) == (True, "admitted")
    assert [each["limit"] for each in said["budgets"]] == ["exempt"]
    assert said["why"] == "it is exempt: it counts in maxExemptSeries, and in no other limit"


def test_a_histogram_that_is_kept_whole(start_gate):
    gate = start_gate(config='{upstream: {url: "discard:"}, wholeHistograms: true, maxHourlySeries: 2}')
    assert gate.send(body([{"__name__": "x_bucket", "le": le} for le in "12"])).status == 204
    said = ask(gate, 'x_bucket{le="3"}')
    assert said["decision"] == "admitted"
    assert said["why"] == "there is no room, but its histogram has begun and is completed"
    assert said["wholeHistogram"] == {
        "begunHourly": True, "begunDaily": True,
        "rule": "it has begun in this hour: its series are admitted, over the limits if need be"}
    gate.send(body([{"__name__": "y_bucket", "le": "1"}]))
    said = ask(gate, "y_sum")
    assert said["decision"] == "refused"
    assert said["why"] == ("its histogram was refused, and a histogram is admitted whole or not at all: maxHourlySeries 2 "
                           "is spent (2 series admitted)")
    assert ask(gate, "up")["wholeHistogram"] is None


def test_what_is_no_series_is_an_error(gate):
    assert culprits.error(gate, "explain", "series=up%7B") == (
        "series: expected a label's name or '}', found the end at byte 3; possible are series, tenant, each once at most and "
        "percent-encoded")


def test_every_key_is_documented(gate):
    send(gate, 11)
    documented = documents.section("docs/api.md", "GET /api/v1/explain")
    said = ask(gate, text(10), "shop")
    budget = said["budgets"][2]
    for key in [*said, *said["refusedBy"], *said["sets"], *budget, *budget["hourly"], *said["windows"]["hourly"]]:
        assert f"`{key}`" in documented, key


# --- /api/v1/suggestions of a gate, over hours and days

FOUR_LIMITS = """
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

KEYS_OF_ONE = ["demand", "exhaustedInSeconds", "headroom", "maxSeries", "peak", "suggested", "typical", "windows"]


def suggestions(gate, **arguments):
    return culprits.ask(gate, "suggestions", **arguments)


def named(suggestion):
    group = ",".join(suggestion.get("group", {}).values())
    return " ".join(part for part in (suggestion["budget"], suggestion.get("limit"), suggestion.get("tenant"), group)
                    if part)


def one(gate, name):
    found, = [each for each in suggestions(gate) if named(each) == name]
    return found


@pytest.fixture
def suggesting(start_gate, clock):
    return start_gate(config=FOUR_LIMITS, environment=clock.environment)


def pass_to(gate, clock, now, kept):
    """And waits until so many hours that have ended are kept."""
    clock.set(now)
    eventually(lambda: one(gate, "limit per-namespace")["hourly"]["windows"] == kept, f"{kept} hours are kept")


def test_every_budget_has_a_suggestion_from_what_was_asked_for(suggesting, clock):
    send(suggesting, 130, "a")  # 30 are refused
    send(suggesting, 60, "b")
    first = one(suggesting, "group per-namespace a")
    assert first["hourly"] == {"maxSeries": 100, "demand": 130, "peak": 130, "typical": None, "windows": 0,
                               "suggested": 200, "headroom": -30, "exhaustedInSeconds": 0}
    assert sorted(first["daily"]) == KEYS_OF_ONE

    pass_to(suggesting, clock, "2026-06-10 11:30:00", 1)
    send(suggesting, 40, "a")
    pass_to(suggesting, clock, "2026-06-10 12:30:00", 2)
    send(suggesting, 90, "a")
    assert one(suggesting, "group per-namespace a")["hourly"] == {
        "maxSeries": 100, "demand": 90, "peak": 130, "typical": 40, "windows": 2, "suggested": 200, "headroom": -30,
        "exhaustedInSeconds": None}
    # The largest group without an override, and what the limit let through.
    assert one(suggesting, "limit per-namespace")["hourly"]["peak"] == 130
    assert one(suggesting, "tenants")["hourly"]["peak"] == 160
    assert one(suggesting, "tenants")["daily"]["peak"] == 160
    assert one(suggesting, "tenant shop")["hourly"]["suggested"] == 240
    assert one(suggesting, "global")["hourly"] == {
        "maxSeries": 1000, "demand": 90, "peak": 160, "typical": 40, "windows": 2, "suggested": 240, "headroom": 840,
        "exhaustedInSeconds": None}
    assert one(suggesting, "limit everything")["mode"] == "observe"
    assert one(suggesting, "limit everything")["hourly"]["maxSeries"] == 0
    # Neither hour nor day of it is limited: both are suggested, and the day has at least what the hour has.
    assert one(suggesting, "limit everything")["daily"]["suggested"] == 240
    assert one(suggesting, "limit everything")["daily"]["headroom"] is None


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


def test_what_is_suggested_can_be_pasted(suggesting, tmp_path):
    send(suggesting, 130, "a")
    send(suggesting, 60, "it's: ${odd}", tenant="whale")
    for each in suggestions(suggesting):
        file = tmp_path / "pasted.yaml"
        file.write_text('upstream: {url: "discard:"}\n' + each["yaml"])
        checked = run(f"--config.file={file}", "--check-config")
        assert checked.returncode == 0, checked.stderr
    assert one(suggesting, "tenant whale")["yaml"] == (
        "tenants:\n  overrides: {whale: {maxHourlySeries: 90, maxDailySeries: 90, onLimit: reject}}\n")
    assert one(suggesting, "global")["yaml"] == "maxHourlySeries: 240\nmaxDailySeries: 0\n"
    of_a = "{group: {namespace: a}, maxHourlySeries: 200, maxDailySeries: 0}"
    assert of_a in one(suggesting, "group per-namespace a")["yaml"]


def test_every_key_of_a_suggestion_is_documented(suggesting):
    send(suggesting, 5, "a")
    documented = documents.section("docs/api.md", "GET /api/v1/suggestions")
    for each in suggestions(suggesting):
        for key in [*each, *each["hourly"], *each["daily"]]:
            assert f"`{key}`" in documented, key

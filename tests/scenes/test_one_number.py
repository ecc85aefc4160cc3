"""One number for one thing: what the page, /stats, /metrics and the API say of the same refusals, and when these are over."""

import re

import pytest

from culprits import NAME, ask, requests, send
from traffic import numbered
from world import time


@pytest.fixture
def gate(start_gate):
    return start_gate("--upstream.url=discard:", "--maxHourlySeries=500")


def said_of_refusals(gate):
    """What each place says of the series that were refused this hour."""
    page = gate.get("/").body.decode()

    def shown(pattern):
        found, = re.findall(pattern, page)
        return found

    running = re.findall(r"<title>[^:]*:00 UTC: [^<]* new, ([^<]*) refused</title>", page)[-1]
    window = gate.stats["windows"]["hourly"]
    found, = ask(gate, "findings")
    return {
        "verdict": shown(r'<h2 id="verdict">Data is withheld: ([^<]*) new series refused this hour</h2>'),
        "card": shown(r"refused by the hour&#39;s limits</dt><dd><strong class=\"bad\">([^<]*)</strong>"),
        "chart": running,
        "finding": shown(r"<strong class=\"bad\">([^<]*)</strong> of these series were refused"),
        "stats": (window["refusedSeries"], window["refusedSeriesExact"]),
        "metrics": gate.metric("seriesgate_series_refused", window="hourly"),
        "findings": found["refused"],
        "text": found["text"],
        "values": (re.search(r"has (about [\d,]+) values among", found["text"]).group(1),
                   shown(r"<bdi>trace_<wbr>id</bdi> <span[^>]*>of <bdi>http_<wbr>requests_<wbr>total</bdi></span></th><td>([^<]*)<")),
        "page": page,
    }


def test_what_is_counted_one_by_one_is_the_same_everywhere(gate):
    send(gate, numbered(3, name="up", job="node"), agent="vmagent")
    send(gate, requests(6919))
    said = said_of_refusals(gate)
    assert {said[each] for each in ("verdict", "card", "chart", "finding")} == {"6,422"}
    assert (said["stats"], said["metrics"], said["findings"]) == ((6422, True), 6422, 6422)
    assert "values among 6,919 new series" in said["text"] and f"trace_id of {NAME} has about " in said["text"]
    assert said["text"] in said["page"] and len(set(said["values"])) == 1
    send(gate, requests(6919))  # once more: none of it is another series
    assert said_of_refusals(gate)["verdict"] == "6,422"


@pytest.mark.timeout(60)
def test_what_is_estimated_says_so_and_is_the_same_everywhere(gate):
    send(gate, requests(41_000), at_once=2000)
    said = said_of_refusals(gate)
    number, is_exact = said["stats"]
    assert not is_exact and abs(number - 40_500) < 2_000
    assert {said[each] for each in ("verdict", "card", "chart", "finding")} == {f"about {round(number, -3):,}"}
    assert (said["metrics"], said["findings"]) == (number, number) and len(set(said["values"])) == 1
    assert re.search(r"has about \d\d,000 values among about 4\d,000 new series", said["text"])


def test_a_budget_with_more_than_a_thousand_is_about_as_much(limited):
    gate = limited("limits: [{name: per-job, each: [job], maxHourlySeries: 500}]\n")
    send(gate, requests(6922))
    budget, = gate.stats["limits"]
    assert not budget["hourly"]["refusedSeriesExact"] and gate.stats["windows"]["hourly"]["refusedSeries"] == 6422
    page = gate.get("/").body.decode()
    assert f"<td class=\"bad\">about {round(budget['hourly']['refusedSeries'], -2):,}</td>" in page
    assert "Data is withheld: 6,422 new series" in page


def test_a_limit_that_was_raised_withholds_nothing(limited):
    gate = limited("maxHourlySeries: 500\n")
    send(gate, requests(3000))
    assert "Data is withheld: 2,500 new series" in gate.get("/").body.decode()
    gate.reload("maxHourlySeries: 5000\n")
    send(gate, requests(3000))
    time.sleep(120)
    page = gate.get("/").body.decode()
    assert "Nothing is refused now: 2,500 new series were, earlier this hour" in page
    assert "Data is withheld" not in page and "do not reach the store" not in page


def test_what_is_raised_is_the_limit_that_refuses(limited):
    gate = limited("limits: [{name: per-ns, each: [ns], maxHourlySeries: 4000,"
                   " overrides: [{group: {ns: big}, maxHourlySeries: 5000}]}]\n")

    def of(ns, count):
        return [{"__name__": f"metric_{chr(97 + i % 26)}", "a": str(i % 10), "b": str(i // 130), "ns": ns} for i in range(count)]

    send(gate, of("small", 3000))
    send(gate, of("big", 6000))
    raised, = re.findall(r'<h4 id="raise-1-title">([^<]*)</h4>', gate.get("/").body.decode())
    assert "from 5,000 to" in raised


def test_a_limit_that_is_too_small_has_what_to_raise_it_to(limited):
    gate = limited("limits: [{name: per-team, each: [team], maxHourlySeries: 1000}]\n")
    send(gate, [{"__name__": f"metric_{chr(97 + i % 26)}", "a": str(i % 10), "b": str(i // 130), "team": "x"} for i in range(2600)])
    page = gate.get("/").body.decode()
    raised, = re.findall(r'<h4 id="raise-1-title">([^<]*)</h4>', page)
    assert re.fullmatch(r"Raise limit per-team: maxHourlySeries from 1,000 to [\d,]+", raised)
    assert int(raised.split()[-1].replace(",", "")) >= gate.stats["limits"][0]["hourly"]["refusedSeries"] + 1000
    assert "maxHourlySeries: " in page.split('id="raise-1"')[1].split("</pre>")[0]


def test_a_limit_that_is_offered_can_be_pasted_beside_the_last_one(limited):
    before = "maxHourlySeries: 500\nlimits:\n"
    gate = limited("maxHourlySeries: 500\n")
    send(gate, requests(3000))
    found, = ask(gate, "findings")
    assert gate.reload(before + found["remedy"]["limit"]).status == 200
    again, = ask(gate, "findings")
    assert again["remedy"]["limit"] == "" and "selects the same series already" in again["remedy"]["note"]
    other = f"- {{name: '{NAME}', match: other, maxHourlySeries: 1000}}\n"
    assert gate.reload(before + other).status == 200
    last, = ask(gate, "findings")
    assert gate.reload(before + other + last["remedy"]["limit"]).status == 200


def test_what_is_raised_lowers_no_other_window(limited):
    gate = limited("limits: [{name: per-team, each: [team], maxHourlySeries: 1000, maxDailySeries: 1000000}]\n")
    send(gate, [{"__name__": f"metric_{chr(97 + i % 26)}", "a": str(i % 10), "b": str(i // 130), "team": "x"} for i in range(2600)])
    page = gate.get("/").body.decode()
    raised, = re.findall(r'<h4 id="raise-1-title">([^<]*)</h4>', page)
    assert "maxHourlySeries" in raised and "maxDailySeries" not in raised
    assert "maxDailySeries: 1000000" in page.split('id="raise-1"')[1].split("</pre>")[0]


def test_what_many_share_says_so(limited):
    gate = limited("limits: [{name: per-job, each: [job], maxGroups: 1, maxHourlySeries: 5}]\n")
    for job in ("one", "two", "three"):
        send(gate, numbered(3, job=job))
    notes = {entry["group"]["job"]: entry.get("note") for entry in gate.stats["limits"]}
    assert notes["one"] is None and notes["__overflow__"].startswith("shared by all groups beyond maxGroups")
    assert notes["__overflow__"] in gate.get("/").body.decode()


def test_it_is_seen_when_the_fire_is_out_and_when_it_is_back(gate):
    send(gate, requests(3000))
    begun = gate.stats["refusals"]
    assert sum(begun["samplesByMinute"]) == begun["samplesByMinute"][-1] == 2500 and len(begun["samplesByMinute"]) == 60

    def over():
        found, = ask(gate, "findings")
        page = gate.get("/").body.decode()
        assert ('class="finding over"' in page) == (found["overSince"] is not None) == (", over since " in found["text"])
        return found["overSince"]

    time.sleep(4 * 60)
    send(gate, requests(3000))  # no series is new, and most are refused again
    assert over() is None
    time.sleep(4 * 60)
    assert over() is None
    time.sleep(70)
    since = over()
    stats = gate.stats["refusals"]
    assert since is not None and stats["lastRefused"] == since
    assert [count for count in stats["samplesByMinute"] if count] == [2500, 2500] and stats["samplesByMinute"][-1] == 0
    page = gate.get("/").body.decode()
    assert "5,000 in the last hour" in page and "Samples were last refused 5 min ago." in page
    send(gate, requests(1, start=2999))
    assert over() is None

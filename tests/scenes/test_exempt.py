"""Series that `exempt` selects: as many of a tenant as maxExemptSeries, and beyond that like others."""

from traffic import numbered, offer

CONFIG = """
maxHourlySeries: 5
exempt: [up]
maxExemptSeries: 10
"""


def test_a_name_that_is_exempt_is_no_way_around_a_limit(limited, upstream):
    gate = limited(CONFIG)
    assert len(offer(gate, upstream, numbered(3000, name="up"))) == 10 + 5
    assert len(offer(gate, upstream, numbered(3000, name="up"), "team")) == 10
    assert gate.stats["exempt"] == {"hourlySeries": 20, "dailySeries": 20}
    shown = {each["tenant"]: each["hourly"] for each in gate.stats["limits"]}
    assert {tenant: (of["maxSeries"], of["currentSeries"]) for tenant, of in shown.items()} == {"": (10, 10), "team": (10, 10)}
    assert shown["team"]["refusedSeries"] > 2900
    assert gate.metric("seriesgate_limit_series_max", limit="exempt", group="", tenant="team", mode="observe",
                       window="hourly") == 10


def test_what_was_let_in_stays_whatever_comes(limited, upstream):
    gate = limited(CONFIG)
    healthy = numbered(8, name="up", job="healthy")
    assert offer(gate, upstream, healthy) == healthy
    offer(gate, upstream, numbered(3000, name="up"))
    offer(gate, upstream, numbered(3000, name="other"))
    assert offer(gate, upstream, healthy) == healthy


def test_a_reload_makes_room_at_once(limited, upstream):
    gate = limited(CONFIG)
    series = numbered(100, name="up")
    assert len(offer(gate, upstream, series)) == 15
    assert gate.reload(gate.config_file.read_text().replace("maxExemptSeries: 10", "maxExemptSeries: 40")).status == 200
    assert len(offer(gate, upstream, series)) == 15 + 30

"""seriesSet: how a gate remembers series, in filters or in one exact table."""

import pytest

from kept_state import directory, kept  # noqa: F401 (a fixture)
from traffic import numbered, offer

KINDS = ("bloom", "exact")


@pytest.mark.parametrize("kind", KINDS)
def test_known_series_pass_beside_an_explosion(limited, upstream, kind):
    gate = limited(f"seriesSet: {kind}\nmaxHourlySeries: 100\n")
    assert len(offer(gate, upstream, numbered(60, name="old"))) == 60
    stored = 0
    for start in range(0, 20_000, 2_000):
        stored += len(offer(gate, upstream, numbered(2_000, start=start, name="new")))
        assert len(offer(gate, upstream, numbered(60, name="old"))) == 60
    assert gate.current() == 100
    if kind == "exact":
        assert stored == 40
        assert gate.stats["windows"]["hourly"]["falsePositiveRate"] == 0


def test_the_kind_may_change_at_each_restart(limited, upstream, directory):  # noqa: F811
    known = 0
    for kind in ("bloom", "exact", "exact", "bloom", "exact", "bloom", "bloom"):
        gate = limited(kept(directory, f"seriesSet: {kind}\nmaxHourlySeries: 100\n"))
        assert gate.current() == known, kind
        assert len(offer(gate, upstream, numbered(known))) == known
        assert gate.current() == known, kind
        known += 10
        assert len(offer(gate, upstream, numbered(known))) == known
        assert gate.current() == known
        gate.stop()

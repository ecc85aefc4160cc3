"""A short soak (soak.py, scripts/soak.sh): everything at once, and then memory, descriptors and every answer."""

import os

import pytest

from gate import sanitized
from soak import Plan, Soak

SECONDS = float(os.environ.get("SERIESGATE_SOAK_SECONDS", "36" if sanitized("asan", "tsan", "ubsan") else "75"))


@pytest.mark.timeout(280)
def test_a_soak_keeps_every_promise(tmp_path):
    soak = Soak(Plan(seed=1, rounds=3, seconds=SECONDS / 3, reload_every=min(10, SECONDS / 9)), tmp_path)
    try:
        soak.run()
        assert soak.told["stored"] > 1000 and soak.told["refused"] > 100, soak.summary
        assert soak.cut_off > 10 and soak.reloads >= 6 and soak.kills > 5, soak.summary
    finally:
        soak.stop()

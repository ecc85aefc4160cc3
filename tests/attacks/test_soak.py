"""A short soak (soak.py, scripts/soak.sh): everything at once, and then memory, descriptors and every answer."""

import os

import pytest

from gate import sanitized
from soak import Plan, Soak

pytestmark = pytest.mark.extended

ROUNDS = 2
#: Plain and with TLS together.
SECONDS = float(os.environ.get("SERIESGATE_SOAK_SECONDS", "36" if sanitized("asan", "tsan", "ubsan") else "75"))


@pytest.mark.timeout(280)
@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_a_soak_keeps_every_promise(tmp_path, tls):
    each = SECONDS / 2 / ROUNDS
    soak = Soak(Plan(seed=1, rounds=ROUNDS, seconds=each, reload_every=min(10, each / 3), tls=tls), tmp_path)
    try:
        soak.run()
        assert soak.told["stored"] > 500 and soak.told["refused"] > 50, soak.summary
        assert soak.cut_off > 5 and soak.reloads >= 2 * ROUNDS and soak.kills > 3, soak.summary
        assert not tls or soak.certificates >= 2, soak.summary
    finally:
        soak.stop()

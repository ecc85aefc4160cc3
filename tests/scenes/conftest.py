"""The fixtures of the end-to-end tests, with a gate on a network in memory and a clock that stands still: see e2e/simulated.py."""

import os
import sys

import pytest

if "world" in sys.modules and "SERIESGATE_SIMULATION" not in os.environ:
    raise RuntimeError("scenes have a pytest of their own: run tests/scenes alone")
os.environ["SERIESGATE_SIMULATION"] = "1"

from certificates import Authority  # noqa: E402
from faked_clock import FakedClock  # noqa: E402
from fixtures import *  # noqa: E402,F401,F403
from secure import Secured  # noqa: E402


@pytest.fixture
def clock(request, tmp_path):
    """A clock that stands still at the module's START."""
    return FakedClock(tmp_path, request.module.START)


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="session")
def issued(authority):
    """What a gate has at first; and what is for it later."""
    return [authority.issue("127.0.0.1", "localhost") for _ in range(5)]


@pytest.fixture
def secured(tmp_path, authority, issued):
    return Secured(tmp_path, authority, issued[0])

"""The fixtures of the end-to-end tests, with a gate on a network in memory and a clock that stands still: see e2e/simulated.py."""

import os
import sys

if "world" in sys.modules and "SERIESGATE_SIMULATION" not in os.environ:
    raise RuntimeError("scenes have a pytest of their own: run tests/scenes alone")
os.environ["SERIESGATE_SIMULATION"] = "1"

from fixtures import *  # noqa: E402,F401,F403

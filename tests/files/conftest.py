"""The same fixtures as the end-to-end tests (tests/e2e/fixtures.py)."""

from fixtures import *  # noqa: F401,F403

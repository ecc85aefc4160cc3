"""What holds for tests/e2e and tests/attacks."""

import pytest

from gate import BINARY


def pytest_sessionstart(session):
    if not BINARY.exists() and not session.config.option.collectonly:
        pytest.exit(f"no binary at {BINARY}: build it, or set SERIESGATE_BIN", returncode=2)


def pytest_collection_modifyitems(items):
    # The long ones first: several workers then end at about the same time.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)

"""What holds for tests/e2e, tests/attacks, tests/files and tests/scenes."""

import pytest


def pytest_sessionstart(session):
    from gate import BINARY  # late: tests/scenes say first that it is for a simulation

    if not BINARY.exists() and not session.config.option.collectonly:
        pytest.exit(f"no binary at {BINARY}: build it, or set SERIESGATE_BIN", returncode=2)


def pytest_collection_modifyitems(items):
    # The long ones first: several workers then end at about the same time.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)

"""What holds for tests/e2e and tests/attacks."""

import os
import subprocess
import time

import pytest

# For who has so much time and no more (scripts/test.sh): seconds since 1970.
UNTIL = float(os.environ.get("SERIESGATE_TESTS_UNTIL", "inf"))
# For the same: a file for the names of tests that have waited in vain or took too long, one a line, if all that have failed
# are such.
LATE = os.environ.get("SERIESGATE_TESTS_LATE")


# What is in e2e/ is imported late: tests/scenes say first that it is for a simulation.

def pytest_sessionstart(session):
    from gate import BINARY
    if not BINARY.exists() and not session.config.option.collectonly:
        pytest.exit(f"no binary at {BINARY}: build it, or set SERIESGATE_BIN", returncode=2)


def pytest_collection_modifyitems(items):
    # The long ones first: several workers then end at about the same time.
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if time.time() > UNTIL:
        pytest.skip("no time was left")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    from waiting import NotInTime
    report = (yield).get_result()
    report.late = bool(call.excinfo and call.excinfo.errisinstance((NotInTime, TimeoutError, subprocess.TimeoutExpired)))


def pytest_terminal_summary(terminalreporter):
    """A number that is wrong is no matter of time: then it names none."""
    if hasattr(terminalreporter.config, "workerinput"):
        return  # a worker of xdist has not all reports
    reports = [report for how in ("failed", "error") for report in terminalreporter.getreports(how)]
    if LATE and all(getattr(report, "late", False) for report in reports):
        with open(LATE, "w") as file:
            file.writelines(f"{name}\n" for name in dict.fromkeys(report.nodeid for report in reports))

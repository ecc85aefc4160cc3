"""Every line of docs/logs.md is provoked, in logfmt and in JSON. Most: tests/scenes. That all are: tests/files."""

import pytest

from provoked_lines import lines_for, said_in
from tables import check_rows
from waiting import wait_out_the_hour

pytestmark = [pytest.mark.one_thread, pytest.mark.timeout(120)]

AT_ONCE = 5  # lines, each with its gates
HERE = lines_for(real=True)


@pytest.fixture(autouse=True)
def long_within_one_hour():
    """Its tables take longer than most tests, under a sanitizer."""
    wait_out_the_hour(60)


@pytest.mark.parametrize("what", HERE)
def test_what_happens_is_said(tmp_path_factory, what):
    """Most of it is waiting: so the lines are provoked side by side, each by gates of its own."""
    check_rows({f"{message} in {form}": (form, tmp_path_factory.mktemp("scene"), message, provoke)
                for message, provoke in HERE[what].items() for form in ("logfmt", "json")}, said_in, at_once=AT_ONCE)

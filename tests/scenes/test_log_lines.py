"""Lines of docs/logs.md, provoked in logfmt and in JSON; those that need a real process: tests/e2e/test_log_lines.py."""

import pytest

from provoked_lines import lines_for, said_in

LINES = {message: provoke for lines in lines_for(real=False).values() for message, provoke in lines.items()}


@pytest.mark.parametrize("form", ["logfmt", "json"])
@pytest.mark.parametrize("message", LINES)
def test_what_happens_is_said(tmp_path, form, message):
    said_in(form, tmp_path, message, LINES[message])

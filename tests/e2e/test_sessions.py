"""The `bash` blocks of README.md and docs/, run in a shell: they print what the pages say."""

import pytest

import documents
import servers
from waiting import wait_out_the_hour

SESSIONS = documents.sessions()


@pytest.mark.text
@pytest.mark.parametrize("page", SESSIONS)
@pytest.mark.timeout(300)
def test_a_session_prints_what_it_says(page, tmp_path):
    wait_out_the_hour(120)  # some take longer than most tests
    documents.sandbox(tmp_path)
    port = servers.free_port()
    steps = [(commands.replace("127.0.0.1:9201", f"127.0.0.1:{port}"), expected)
             for commands, expected in SESSIONS[page]]
    for (command, expected), actual in zip(steps, documents.run(steps, tmp_path), strict=True):
        assert documents.matches(expected, actual), (command, expected, actual)

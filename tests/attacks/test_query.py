"""The sender's query string before a real store; what goes on of it and what does not: tests/scenes/test_headers.py."""

import pytest

import traffic
from client import WRITE
from waiting import eventually
from world import time

pytestmark = pytest.mark.one_thread


@pytest.mark.slow
@pytest.mark.parametrize("named, job", [("", b"a"), ("extra_label", b"other")], ids=["left out", "asked for"])
def test_a_senders_extra_label_leaves_the_stored_series_as_sent(start_gate, victoria_metrics, named, job):
    gate = start_gate(config=f"upstream: {{url: '{victoria_metrics.write_url}', forwardQuery: [{named}]}}\n")
    body = traffic.body([{"__name__": "mine", "job": "a"}], timestamp=int(time.time() * 1000))
    assert gate.send(body, path=f"{WRITE}?extra_label=job%3Dother").status == 204
    stored = eventually(victoria_metrics.samples, "stored")
    assert list(stored) == [((b"__name__", b"mine"), (b"job", job))]

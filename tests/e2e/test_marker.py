"""What a fleet writes and knows by gate: `marker: true`, and who did it. The rest: tests/scenes."""

import json

import pytest

from culprits import ask, requests, send
from faked_clock import FakedClock
from markers import Markers, gate_label
from shared_fleets import share  # noqa: F401
from shared_stores import SharedStore, keep  # noqa: F401
from traffic import numbered, offer
from waiting import eventually


def test_gates_of_a_fleet_write_series_of_their_own(keep, start_gate, upstream, tmp_path, pb):  # noqa: F811
    clock = FakedClock(tmp_path, "2026-03-10 12:30:00", runs=True)
    store = keep(SharedStore("redis", tmp_path, clock=clock))
    secret = tmp_path / "secret"
    secret.write_bytes(bytes(range(32)))
    gates = [start_gate(f"--upstream.url={upstream.url}", environment=clock.environment, config=f"""
marker: true
incumbentGrace: 0
fingerprint: {{secretFile: {secret}}}
shared: {json.dumps({**store.settings_of(ordinal), "timeout": "10s"})}
limits: [{{name: l, each: [job], maxHourlySeries: 320}}]
""") for ordinal in range(2)]
    for gate in gates:
        eventually(lambda: gate.stats["shared"]["state"] == "joined", "it has joined")
    assert len(offer(gates[1], upstream, numbered(4, name="other", job="x"))) == 4
    assert len(offer(gates[0], upstream, numbered(400, job="x"))) == 316
    assert offer(gates[1], upstream, numbered(10, name="new", job="x")) == []
    upstream.clear()
    clock.set("2026-03-10 12:31:00")
    markers = Markers(upstream, pb)
    requests = eventually(lambda: len(markers.requests) == 2 and markers.requests, "a marker of each")
    found = {labels["gate"]: value for request in requests for labels, value, _ in markers.of(request)}
    assert found.keys() == {gate_label(gate) for gate in gates}
    assert found[gate_label(gates[0])] == pytest.approx(84, rel=0.05)
    assert found[gate_label(gates[1])] == 10
    assert found.keys() == {gate["name"] for gate in gates[1].stats["shared"]["gates"]}


# --- who did it

def test_in_a_fleet_each_gate_knows_what_came_to_it(share, keep, tmp_path):  # noqa: F811
    """What another gate has had admitted is not new here; what the store has no room for is refused."""
    one, other = share(keep(SharedStore("redis", tmp_path)), "maxHourlySeries: 1500\n", gates=2).gates
    send(one, requests(1000))
    send(other, requests(2000))
    assert [each["series"] for each in ask(one, "top")] == [1000]
    assert [each["series"] for each in ask(other, "top")] == [500]
    assert [each["series"] for each in ask(other, "top", kind="refused")] == [500]
    assert [each["labels"]["trace_id"] for each in ask(other, "refused", limit=2)] == ["t1999", "t1998"]

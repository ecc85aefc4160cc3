"""Who did it, in a fleet: each gate knows what came to it. The rest: tests/scenes/test_culprits.py."""

from culprits import ask, requests, send
from shared_fleets import share  # noqa: F401
from shared_stores import SharedStore, keep  # noqa: F401


def test_in_a_fleet_each_gate_knows_what_came_to_it(share, keep, tmp_path):  # noqa: F811
    """What another gate has had admitted is not new here; what the store has no room for is refused."""
    one, other = share(keep(SharedStore("redis", tmp_path)), "maxHourlySeries: 1500\n", gates=2).gates
    send(one, requests(1000))
    send(other, requests(2000))
    assert [each["series"] for each in ask(one, "top")] == [1000]
    assert [each["series"] for each in ask(other, "top")] == [500]
    assert [each["series"] for each in ask(other, "top", kind="refused")] == [500]
    assert [each["labels"]["trace_id"] for each in ask(other, "refused", limit=2)] == ["t1999", "t1998"]

"""Backends of one store that die under the requests of many senders. What was answered with success is in exactly one store's
log, exactly once, as it was sent."""

import time
from collections import Counter

from busy import Busy
from backends import body, backends, stores  # noqa: F401 (a fixture)
from upstream import Upstream
from waiting import eventually


class Senders(Busy):
    """They send one body after the other, each until it is taken, and remember what was answered."""

    def __init__(self, gate):
        super().__init__(gate.address, 4, self._send)
        self._answered = []  # statuses; a list, for it is all the senders'
        self.sent, self.taken, self.unsure = [], [], Counter()

    @property
    def statuses(self):
        return Counter(self._answered)

    def _send(self, client, _):
        data = body()
        self.sent.append(data)
        while not self._is_taken(client, data) and not self.ended.is_set():
            self.unsure[data] += 1

    def _is_taken(self, client, data):
        status = client.write(data).status
        self._answered.append(status)
        if status == 204:
            self.taken.append(data)
        return status == 204

    def check(self, stores):
        """What the stores have got is what was sent; once, and again only where the sender has sent it again."""
        got = Counter(data for store in stores for data in store.bodies)
        assert not set(got) - set(self.sent)
        for data in self.taken:
            assert got[data] >= 1, "it was acknowledged and is not there"
        for data, times in got.items():
            assert times <= 1 + self.unsure[data], "it is there more often than it was sent"


def test_backends_that_are_killed_and_restarted_lose_and_double_nothing(start_gate, stores):  # noqa: F811
    gate = start_gate(config=backends(*stores))
    dead, living = [], list(stores)
    with Senders(gate) as senders:
        for turn in range(9):
            at = turn % 3
            count = len(living[at].requests)
            eventually(lambda: len(living[at].requests) > count + 20, "it is asked", 40)
            living[at].stop()
            dead.append(living[at])
            time.sleep(0.2)
            living[at] = Upstream(port=living[at].port)
    for each in living:
        each.stop()
    senders.check(dead + living)
    assert senders.statuses[204] > 100
    assert not set(senders.statuses) - {204, 502}, senders.statuses
    assert senders.statuses[502] <= 9 * 4  # only what was at the backend that died
    stats = gate.stats["samples"]
    assert stats["received"] == stats["accepted"] == senders.statuses.total()
    assert (stats["stored"], stats["failed"]) == (senders.statuses[204], senders.statuses[502])

"""Every fault of a store or a sender that we know, each with one backend of the store and with three.

While the fault lasts and after it: every sample answered 2xx is in the store as it was sent, or was refused by a limit and
counted; nothing is there that was not sent, and nothing twice but what a sender sent again; and the gate's own account
of it comes out even.
"""

import collections

import pytest

import store_ways
from certificates import Authority
from fault_account import by, check_account, compare, tally
from fault_list import FAULTS
from fault_scenes import (SENDERS, Fault, Scene, check_one_backend, check_three_backends, configuration, server_context, welcomes,
                          welcomes_again)
from fault_senders import CUT_OFF, NO_ANSWER, Orders, Senders
from faked_names import FakedNames
from faulty_store import Store
from waiting import eventually

BY_NAME = {fault.name: fault for fault in FAULTS}


@pytest.fixture
def scene(start_gate):
    scenes = []

    def make(*how):
        scenes.append(Scene(start_gate, *how))
        return scenes[-1]

    yield make
    for each in scenes:
        each.stop()


BACKENDS = pytest.mark.parametrize("backends, check", [(1, check_one_backend), (3, check_three_backends)],
                                ids=["one backend", "three backends"])


@BACKENDS
@pytest.mark.parametrize("name", BY_NAME)
def test_a_fault(scene, name, backends, check):
    check(scene(BY_NAME[name], backends))


# --- the same with TLS

# Those in which TLS has a word to say: a connection that ends without its farewell, one that stays.
WITH_TLS = ["refused", "swallowed", "closed inside the request", "reset inside a big request",
            "stops reading", "closed after the request", "reset after the request", "silent", "header cut", "header reset",
            "body cut", "chunks cut", "stops in the body", "garbage", "endless headers", "two answers",
            "success before the body is read", "closed unasked after each answer", "says close"]


@BACKENDS
@pytest.mark.parametrize("name", WITH_TLS)
def test_with_tls(scene, authority, name, backends, check):
    check(scene(BY_NAME[name], backends, authority))


CERTIFICATES = {
    "expired": lambda ours, others: ours.issue("store.test", expired=True),
    "for another name": lambda ours, others: ours.issue("other.test"),
    "of an authority that nobody knows": lambda ours, others: others.issue("store.test"),
    "none at all: it waits for plain HTTP": lambda ours, others: None,
}
SILENT = Fault("silent in the handshake", "connect_timeout", begin=welcomes("hangs"), mend=welcomes_again, smooth=True,
               timeout="2s")


@BACKENDS
@pytest.mark.parametrize("name", CERTIFICATES)
def test_a_certificate_that_is_not_good(scene, authority, tmp_path, name, backends, check):
    contexts = []
    wrong = CERTIFICATES[name](authority, Authority(tmp_path, "others"))

    def begin(backend):
        contexts.append(backend.tls)
        backend.tls = wrong and server_context(wrong)
        backend.cut_off()

    def mend(backend):
        backend.tls = contexts.pop()

    fault = Fault(name, "tls" if wrong else "connect_timeout", begin=begin, mend=mend, smooth=True, timeout="2s")
    check(scene(fault, backends, authority))


@BACKENDS
def test_a_handshake_that_comes_to_no_end(scene, authority, backends, check):
    check(scene(SILENT, backends, authority))


@pytest.mark.parametrize("backends", [1, 3])
def test_a_certificate_that_is_replaced_under_load(scene, authority, backends):
    """New connections get the new one, and nobody is told of anything."""
    def begin(backend):
        backend.tls = server_context(authority.issue("store.test", "new.test"))

    at = scene(Fault("replaced", way="says close", begin=begin), backends, authority)
    _, sent = at.play()
    assert {one.status for one in sent} <= {200, 204}


# --- other names, senders that are cut off

def test_a_name_that_moves(start_gate, tmp_path):
    """The backend moves to another address: the old one refuses. What is asked for goes to the new one within a minute."""
    names = FakedNames(tmp_path)
    with Store(4, store_ways.good) as store:
        old = store.backend()
        names.set(**{"store.test": old.host})
        gate = start_gate(environment=names.environment, config=f"""
upstream: {{url: 'http://store.test:{old.port}/api/v1/write', timeout: 2s}}
{names.one_thread}""")
        senders = Senders(Orders(4, gate.address, pause=0.05, rest=0.5), SENDERS, seconds=100)
        eventually(lambda: senders.answered > 40, "the old address serves")
        new = store.backend(port=old.port)
        names.set(**{"store.test": new.host})
        old.close()
        eventually(lambda: 502 in senders.answers(), "the old address refuses")
        eventually(lambda: new.connections > 0, "the new address is asked", 60)
        wanted = senders.answered + 40
        eventually(lambda: senders.answered > wanted, "and serves", 30)
        sent = senders.end()
        arrived, _, faults = store.results()
        assert not faults and not compare(sent, arrived)
        errors = by(check_account(gate, tally(sent)), "seriesgate_upstream_errors_total", "reason")
        assert set(errors) <= {"connection_refused", "connection_lost"}


@pytest.mark.parametrize("backends", [1, 3])
def test_senders_that_are_cut_off_at_every_stage(start_gate, backends):
    """Before, inside and after the header, inside the body, and with the answer still to come; some reset, some not."""
    with Store(5) as store:
        gate = start_gate(config=configuration([store.backend() for _ in range(backends)], "1s"))
        senders = Senders(Orders(5, gate.address, cuts=0.4, rest=0.02), 2 * SENDERS, seconds=100)
        eventually(lambda: senders.answered > 600, "600 answers", 60)
        sent = senders.end()
        arrived, _, faults = store.results()
        assert not faults, faults[:3]
        contradictions = compare(sent, arrived)
        assert not contradictions, (len(contradictions), contradictions[:3])
        cut = collections.Counter(one.status for one in sent if one.status <= 0)
        assert cut[CUT_OFF] > 100 and cut[NO_ANSWER] > 20, cut
        check_account(gate, tally(sent))
        eventually(lambda: gate.metric("seriesgate_inflight_bytes") == 0, "nothing is held for those who have gone")
        eventually(lambda: gate.metric("seriesgate_connections") == 1, "nor is a connection")

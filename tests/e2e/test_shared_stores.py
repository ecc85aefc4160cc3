"""The stores of the tests of a fleet do what those tests believe that they do."""

import socket
import time

import pytest

import resp
from certificates import Authority
from faked_clock import FakedClock
from shared_stores import User, keep, start_store, store_kind  # noqa: F401
from store_sets import SLOTS, Cluster, SentinelSet

pytestmark = pytest.mark.extended


def test_a_store_keeps_what_it_is_told_to_keep(start_store):
    lost, kept = start_store(name="lost"), start_store(name="kept", kept=True)
    for store in (lost, kept):
        assert store.call("SADD", "numbers", 1, 2, 3) == 3
        assert store.members() == 3
        before = store.info("server")["run_id"]
        store.kill()
        with pytest.raises(OSError):
            store.call("PING")
        store.restart()
        assert store.info("server")["run_id"] != before
    assert (lost.members(), kept.members()) == (0, 3)
    assert kept.call("FLUSHALL") == b"OK"
    assert kept.members() == 0


def test_a_store_that_stands_still_answers_later(start_store):
    store = start_store()
    with resp.Connection(store.address, timeout=0.2) as connection:
        store.stand_still()
        with pytest.raises(socket.timeout):
            connection.call("PING")
        store.go_on()
    assert store.call("CLIENT", "PAUSE", 300) == b"OK"
    started = time.monotonic()
    assert store.call("PING") == b"PONG"
    assert time.monotonic() - started > 0.25


def test_a_store_that_is_full_takes_no_more(start_store):
    store = start_store()
    store.configure("maxmemory", 1)
    with pytest.raises(resp.RespError, match="^OOM "):
        store.call("SET", "a", 1)
    store.configure("maxmemory", 0)
    assert store.call("SET", "a", 1) == b"OK"
    assert store.info("memory")["maxmemory_policy"] == "noeviction"


def test_a_store_at_a_path(start_store):
    store = start_store(at_path=True)
    assert store.settings_of(0) == {"url": f"unix://{store.address}?db=0"}
    assert store.call("PING") == b"PONG"


def test_a_store_with_users_and_tls_lets_nobody_else_in(start_store, tmp_path):
    authority, other = Authority(tmp_path), Authority(tmp_path, "other")
    store = start_store(user=User(), authority=authority)
    settings = store.settings_of(0)
    assert settings["url"] == f"rediss://127.0.0.1:{store.port}/0"
    with resp.Connection(store.address, tls=store.tls(authority.issue("gate.test"))) as connection:
        with pytest.raises(resp.RespError, match="^NOAUTH "):
            connection.call("PING")
        with pytest.raises(resp.RespError, match="^WRONGPASS "):
            connection.call("AUTH", "gate", "guess")
        assert connection.call("AUTH", settings["username"], open(settings["passwordFile"]).read().strip()) == b"OK"
        assert connection.call("SET", "sg:{default}:a", 1) == b"OK"
        assert b"run_id" in connection.call("INFO", "server")
        for refused in (("SET", "another", 1), ("FLUSHALL",), ("CONFIG", "GET", "*"), ("KEYS", "*")):
            with pytest.raises(resp.RespError, match="^NOPERM "):
                connection.call(*refused)
    for certificate in (None, other.issue("gate.test")):
        with pytest.raises(OSError):
            with resp.Connection(store.address, tls=store.tls(certificate)) as connection:
                connection.call("PING")
    with pytest.raises(OSError):
        with resp.Connection(store.address) as connection:
            connection.call("PING")


@pytest.mark.slow
def test_a_replica_takes_the_place_of_its_master(keep, store_kind, tmp_path):
    stores = keep(SentinelSet(store_kind, tmp_path))
    first = stores.master
    first.call("SADD", "numbers", 1, 2)
    second = stores.kill_master()
    assert (first is second, stores.members()) == (False, 2)


@pytest.mark.parametrize("nodes", [1, 3])
def test_a_cluster_has_a_node_for_each_slot(keep, store_kind, tmp_path, nodes):
    cluster = keep(Cluster(store_kind, tmp_path, nodes))
    assert [settings["url"] for settings in map(cluster.settings_of, range(nodes))] == \
        [f"redis://127.0.0.1:{node.port}/0" for node in cluster.nodes]
    slot = cluster.nodes[0].call("CLUSTER", "KEYSLOT", "sg:{default}:head")
    home = cluster.nodes[slot * nodes // SLOTS]
    for node in cluster.nodes:
        if node is home:
            assert node.call("SADD", "sg:{default}:head", 1) == 1
        else:
            with pytest.raises(resp.RespError, match=f"^MOVED {slot} 127.0.0.1:{home.port}$"):
                node.call("SADD", "sg:{default}:head", 1)
    assert (cluster.owners, cluster.members()) == ([home], 1)


def test_a_store_goes_by_the_clock_that_it_is_given(start_store, tmp_path):
    clock = FakedClock(tmp_path, "2026-03-10 12:59:59")
    store = start_store(clock=clock)
    assert store.call("TIME") == [b"1773147599", b"0"]
    assert store.call("SET", "brief", 1, "EX", 10) == b"OK"
    clock.set("2028-02-29 00:00:00")
    assert store.call("EVAL", "return redis.call('TIME')", 0) == [b"1835395200", b"0"]
    assert store.call("GET", "brief") is None

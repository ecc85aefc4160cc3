"""Servers that are one store together: a master with a replica and Sentinels, and the nodes of a cluster."""

import servers
from waiting import eventually

MASTER = "fleet"
SLOTS = 16384
DOWN_AFTER = 2  # seconds without an answer: a Sentinel thinks it is gone, and a node that another one is


class SentinelSet:
    """A master, a replica of it, and three Sentinels of which two have to agree that the master is gone.

    `start`: the fixture start_store(). `how`: of the master and the replica, as of a SharedStore.
    """

    def __init__(self, start, name="", **how):
        quickly = ("repl-diskless-sync-delay", 0), ("repl-ping-replica-period", 1)
        first = start(*quickly, name=f"{name}store-0", **how)
        self.stores = [first, start(*quickly, ("replicaof", "127.0.0.1", first.port), name=f"{name}store-1", **how)]
        self._await_copy(self.stores[1])
        text = f"""sentinel monitor {MASTER} 127.0.0.1 {first.port} 2
sentinel down-after-milliseconds {MASTER} {DOWN_AFTER * 1000}
sentinel failover-timeout {MASTER} 3000
"""
        self.sentinels = [start(name=f"{name}sentinel-{ordinal}", file=text) for ordinal in range(3)]
        eventually(self._complete, "the Sentinels know one another and the replica", 30, every=0.1)

    def settings_of(self, _ordinal):
        """What a gate needs to know: keys of `shared`."""
        return {"sentinel": {"master": MASTER, "addresses": [f"127.0.0.1:{each.port}" for each in self.sentinels]}}

    @property
    def master(self):
        """The store that the Sentinels name, if it is a master and knows it; or None."""
        for sentinel in self.sentinels:
            try:
                _, port = sentinel.call("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)
                named, = [store for store in self.stores if store.port == int(port)]
                return named if named.running and named.call("ROLE")[0] == "master" else None
            except OSError:
                continue
        return None

    @property
    def _replica(self):
        return self._other(self.master)

    def _other(self, store):
        return next(each for each in self.stores if each is not store)

    @staticmethod
    def _await_copy(replica):
        eventually(lambda: replica.info("replication").get("master_link_status") == "up", "the replica has copied", 20)

    def _takes_over(self, replica, seconds):
        return eventually(lambda: self.master is replica and replica, "the replica has become the master", seconds, every=0.05)

    def call(self, *words):
        return self.master.call(*words)

    def kill_master(self, seconds=40):
        """Kills it when the replica has all that it has answered, and waits until that one has taken its place."""
        old, replica = self.master, self._replica
        self._await_copy(replica)
        old.call("CLIENT", "PAUSE", 60_000, "WRITE")
        eventually(lambda: replica.info("replication")["slave_repl_offset"] == old.info("replication")["master_repl_offset"],
                   "the replica has everything", 10)
        old.kill()
        return self._takes_over(replica, seconds)

    def cut_replica(self):
        """From here on the replica gets nothing, and goes on asking for it."""
        master, replica = self.master, self._replica
        assert master.call("ACL", "SETUSER", "default", "-psync", "-sync") == "OK"
        master.call("CLIENT", "KILL", "TYPE", "replica")
        eventually(lambda: replica.info("replication")["master_link_status"] == "down", "the replica is cut off", 10)

    def kill_master_ahead(self, seconds=40):
        """Kills it, and waits until the replica has taken its place with what it has."""
        old = self.master
        old.kill()
        return self._takes_over(self._other(old), seconds)

    def split(self, seconds=40):
        """Halts the master until the replica has taken its place; for a moment then, both believe that they are the master."""
        old = self.master
        old.stand_still()
        self._takes_over(self._other(old), seconds)
        old.go_on()

    def make_whole(self):
        """What has been the master is there again, as a replica that has everything."""
        master = self.master
        other = self._other(master)
        if not other.running:
            other.restart()
        other.call("REPLICAOF", "127.0.0.1", master.port)
        self._await_copy(other)
        eventually(self._complete, "the Sentinels know the replica", 30, every=0.1)

    def stop(self):
        for store in [*self.sentinels, *self.stores]:
            store.stop()

    def _complete(self):
        for sentinel in self.sentinels:
            known = sentinel.info("sentinel").get("master0", "")
            if "status=ok" not in known or "slaves=1" not in known or "sentinels=3" not in known:
                return False
        return True


class Cluster:
    """So many nodes, each with its share of the slots, and none with a replica. `start`: the fixture start_store(). `how`: of each
    node, as of a SharedStore."""

    def __init__(self, start, nodes, name="", **how):
        self.nodes, buses = [], []
        for ordinal in range(nodes):
            buses.append(servers.free_port())
            self.nodes.append(start(("cluster-enabled", "yes"), ("cluster-port", buses[-1]),
                                    ("cluster-node-timeout", DOWN_AFTER * 1000), name=f"{name}node-{ordinal}", **how))
        bounds = [SLOTS * ordinal // nodes for ordinal in range(nodes + 1)]
        for node, first, end in zip(self.nodes, bounds, bounds[1:]):
            node.call("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
        for node, bus in zip(self.nodes[1:], buses[1:]):
            self.nodes[0].call("CLUSTER", "MEET", "127.0.0.1", node.port, bus)
        self.await_complete()

    def await_complete(self):
        eventually(lambda: all(self._complete(node) for node in self.nodes), "the cluster is complete", 30)

    def home(self, key):
        """The node that has the slot of this key."""
        slot = self.nodes[0].call("CLUSTER", "KEYSLOT", key)
        return self.nodes[slot * len(self.nodes) // SLOTS]

    def settings_of(self, ordinal):
        """Gates ask different nodes first: most of them another than the one that has their keys."""
        return {**self.nodes[ordinal % len(self.nodes)].settings_of(ordinal), "cluster": True}

    @property
    def owners(self):
        """The nodes that have keys: one, for all keys of a namespace are in one slot."""
        return [node for node in self.nodes if node.call("DBSIZE")]

    def stop(self):
        for node in self.nodes:
            node.stop()

    def _complete(self, node):
        lines = node.call("CLUSTER", "INFO").splitlines()
        return {"cluster_state:ok", f"cluster_known_nodes:{len(self.nodes)}"} <= set(lines)

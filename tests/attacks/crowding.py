"""Many connections of one sender, and what becomes of them."""

import contextlib

from client import RawConnection
from world import socket


@contextlib.contextmanager
def connections(gate, count, sending=b"", source="127.0.0.1"):
    """So many open connections from one address, each of which has sent the same."""
    made = []
    try:
        for _ in range(count):
            made.append(RawConnection(gate.address, source=source))
            made[-1].send_what_it_takes(sending)
        yield made
    finally:
        for connection in made:
            connection.close()


def is_open(connection):
    """Whether the gate has not closed it."""
    connection.socket.settimeout(0.05)
    try:
        return connection.socket.recv(1, socket.MSG_PEEK) != b""
    except TimeoutError:
        return True
    except ConnectionResetError:
        return False
    finally:
        connection.socket.settimeout(20)


def given_up(gate, reason):
    return gate.metric("seriesgate_connections_given_up_total", reason=reason)


def turned_away(gate, reason):
    return gate.metric("seriesgate_connections_turned_away_total", reason=reason)

"""The side of a gate that takes another's place, word by word: see src/process/takeover_protocol.hpp."""

import os

from world import socket


def asking(path):
    made = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    made.settimeout(20)
    made.connect(str(path))
    return made


def hear(peer):
    """@return the next word; the sockets that come with it are closed here."""
    word, given, _, _ = socket.recv_fds(peer, 1024, 64)
    for each in given:
        os.close(each)
    return word


def is_given_all(peer):
    """Until the place is its own: all is saved, and the lock is free."""
    peer.send(b"seriesgate takeover 1")
    while (word := hear(peer)) != b"that is all":
        assert word.startswith(b"socket "), word
    peer.send(b"go")
    while (word := hear(peer)) != b"yours":
        assert word == b"wait" or word.startswith(b"connections "), word
        if word != b"wait":
            peer.send(b"got")

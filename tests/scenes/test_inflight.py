"""server.maxInflightBytes: what is counted is held, and what is read can be decoded."""

import wire
from bounds import within
from crowding import connections
from upstream import holding
from waiting import eventually
from world import ThreadPoolExecutor

BOUNDS = "server: {maxRequestBytes: 1MiB, maxDecodedBytes: 4MiB, maxInflightBytes: 6MiB}\n"


def blown_up(decoded_bytes, name):
    """A small body that becomes large."""
    return wire.pack(wire.sampled(name, **{f"pad{i}": "x" * 50_000 for i in range(decoded_bytes // 50_000)}))


def test_decoded_bytes_that_were_given_back_keep_nobody_out(limited, upstream):
    """Two requests of 4 MiB decoded that waited for the store kept every third one out, though they held 400 KB."""
    gate = limited(BOUNDS)
    requests = 6
    with within(gate, seconds=20), ThreadPoolExecutor(requests) as senders:
        with holding(upstream):
            replies = []
            for i in range(requests):  # one after the other: they never are decoded at the same time
                replies.append(senders.submit(gate.send, blown_up(3_900_000, f"up{i}")))
                eventually(lambda: len(upstream.requests) == len(replies), "it has come to the store", 10)
            assert gate.metric("seriesgate_inflight_bytes") < 2_000_000
        assert [reply.result().status for reply in replies] == [204] * requests
    assert gate.metric("seriesgate_inflight_bytes") == 0


def test_bodies_leave_room_for_decoding(limited, upstream):
    """Bodies that come slowly took all there is, and then none of them could be decoded."""
    gate = limited(BOUNDS)
    announced = b"POST /api/v1/write HTTP/1.1\r\nHost: gate\r\nContent-Length: 1000000\r\n\r\n"
    with connections(gate, 8, announced + b"x" * 900_000):
        eventually(lambda: gate.metric("seriesgate_requests_rejected_total", reason="overloaded") >= 6,
                   "those for which there is no room are told so", 10)
        assert 900_000 <= gate.metric("seriesgate_inflight_bytes") <= 2 << 20  # 6 MiB without the 4 MiB to decode in
        eventually(lambda: gate.send(blown_up(3_900_000, "up")).status == 204, "one that is complete goes on", 10)
    eventually(lambda: gate.metric("seriesgate_inflight_bytes") == 0, "all of it is given back", 10)


def test_who_asks_how_much_is_in_flight_is_no_part_of_it(limited, upstream):
    with limited(BOUNDS).client() as client:
        metrics = client.request("GET", "/metrics", b"x" * 1000).body
    assert b"\nseriesgate_inflight_bytes 0\n" in metrics


def test_a_request_that_is_alone_is_never_turned_away(limited, upstream):
    """It is within its own bounds, and yet takes more than all may together: half of it is refused, and written anew."""
    gate = limited("maxHourlySeries: 40\nserver: {maxRequestBytes: 4MiB, maxDecodedBytes: 4MiB, maxInflightBytes: 8MiB}\n")
    noise = [wire.sampled("up", a=str(i), pad="".join(chr(33 + i * j * j % 89) for j in range(89)) * 551) for i in range(80)]
    for _ in range(3):
        eventually(lambda: gate.metric("seriesgate_inflight_bytes") == 0, "the one before has ended", 10)
        reply = gate.send(wire.pack(b"".join(noise)))
        assert (reply.status, reply.refused) == (204, (40, 40))

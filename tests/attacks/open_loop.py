"""Senders that do not wait for each other, whatever becomes of the requests before."""

import asyncio
import collections
import multiprocessing
import time

import wire

# --- what is dear to work on, and cheap to send ---------------------------------------------------------------------

SERIES, LIMITS = 1000, 48


def dear_rules():
    """Limits that look at each series of dear_body() with a regular expression, as the last ones that are there."""
    return "limits:\n" + "".join(
        f"  - {{name: l{n}, match: '{{path=~\".*[{n % 10}a-e]{{3}}x.*\"}}', maxHourlySeries: 1000000}}\n"
        for n in range(LIMITS))


def dear_body():
    """Stale markers of series that nobody knows: all rules are asked about each of them, every time, and none is
    remembered."""
    entry = wire.field(wire.SAMPLES, wire.double_field(1, wire.STALE) + wire.number_field(2, 1_700_000_000_000))
    return wire.pack(b"".join(wire.series({"__name__": "m", "path": f"/{n:06x}" * 8}, entry) for n in range(SERIES)))


# --- senders --------------------------------------------------------------------------------------------------------

Answered = collections.namedtuple("Answered", "sent seconds status retry_after")  # status 0: none, given up


async def _ask(connection, request):
    reader, writer = connection
    writer.write(request)
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    fields = dict(line.split(": ", 1) for line in lines[1:] if line)
    await reader.readexactly(int(fields.get("content-length", 0)))
    return int(lines[0].split()[1]), "retry-after" in fields, fields.get("connection") != "close"


class _Senders:
    """Kept connections, as many as there are requests at once."""

    def __init__(self, address, request, patience):
        self.address, self.request, self.patience = address, request, patience
        self.idle, self.answers, self.opened = [], [], 0

    async def send(self):
        sent, status, retry_after, connection = time.monotonic(), 0, False, None
        try:
            async with asyncio.timeout(self.patience):
                if self.idle:
                    connection = self.idle.pop()
                else:
                    self.opened += 1
                    connection = await asyncio.open_connection(*self.address)
                status, retry_after, stays = await _ask(connection, self.request)
                if stays:
                    self.idle.append(connection)
                    connection = None
        except (OSError, asyncio.IncompleteReadError, TimeoutError):
            pass
        if connection:
            connection[1].transport.abort()
        self.answers.append(Answered(sent, time.monotonic() - sent, status, retry_after))


async def _crowd_beside(senders, others, times, at_once, seconds):
    end, tasks = time.monotonic() + seconds, set()

    async def one_after_the_other():
        while time.monotonic() < end:
            await others.send()
            for _ in range(times):
                task = asyncio.create_task(senders.send())
                tasks.add(task)
                task.add_done_callback(tasks.discard)

    await asyncio.gather(*(one_after_the_other() for _ in range(at_once)))
    while tasks:
        await asyncio.wait(tasks)


def _run(addresses, request, patience, arguments, results):
    senders = [_Senders(address, request, patience) for address in addresses]
    asyncio.run(_crowd_beside(*senders, *arguments))
    results.put([(each.answers, each.opened) for each in senders])


def crowd_beside(gate, other, request, times, at_once, seconds, patience=60.0):
    """one_after_the_other() for another gate, and for each of its answers so many requests to this one: so many times of
    what can be answered, on any machine and whatever else it does. @return (what was answered, connections opened) of both,
    this one's first"""
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    process = context.Process(target=_run, daemon=True, args=(
        [gate.address, other.address], request, patience, (times, at_once, seconds), results))
    process.start()
    try:
        return results.get(timeout=seconds + patience + 60)
    finally:
        process.kill()
        process.join()


def one_after_the_other(gate, request, at_once, seconds):
    """So many senders that wait for their answers: never more requests at once. @return what was answered"""
    return crowd_beside(gate, gate, request, 0, at_once, seconds, patience=30.0)[1][0]


def latencies(ask, seconds):
    """How long each question of one sender took, sorted: it asks again and again for so long."""
    took, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        began = time.monotonic()
        ask()
        took.append(time.monotonic() - began)
        time.sleep(0.002)
    return sorted(took)


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]

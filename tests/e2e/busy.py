"""Threads that do the same again and again while a test does something else."""

from client import Client
from world import threading


class Busy:
    """So many threads, each with a connection of its own to `address`: they call work(client, number of the thread) again
    and again, from the beginning of the `with` block to its end. What one of them raises is raised there."""

    def __init__(self, address, count, work):
        self._address, self._work, self._failures = address, work, []
        self.ended = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(number,), daemon=True) for number in range(count)]

    def __enter__(self):
        for each in self._threads:
            each.start()
        return self

    def __exit__(self, failed, *_):
        self.ended.set()
        for each in self._threads:
            each.join(60)
        assert failed or not any(each.is_alive() for each in self._threads), "one of them does not end"
        if self._failures and not failed:
            raise self._failures[0]

    def _run(self, number):
        with Client(self._address) as client:
            try:
                while not self.ended.is_set():
                    self._work(client, number)
            except Exception as failure:
                self._failures.append(failure)

"""Waiting without guessing: poll a condition until it holds or a deadline passes."""

from world import SIMULATED, time


def eventually(condition, what, seconds=15.0, every=0.01):
    """Returns the first truthy value of condition(); fails with `what` when there is none in `seconds`."""
    deadline = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(every)


def wait_out_the_hour(margin):
    """Returns at once, unless the UTC hour ends within `margin` seconds: then when the next one has begun.

    Budgets start anew at the hour, so a test that counts series must not straddle it.
    """
    if not SIMULATED and time.time() % 3600 > 3600 - margin:
        hour = time.time() // 3600
        eventually(lambda: time.time() // 3600 > hour, "the next hour", margin + 5, every=0.2)

"""Several equal backends of one store, and requests that there are only once."""

import itertools
from contextlib import ExitStack

import pytest

import wire
from servers import free_port
from upstream import Upstream
from world import SIMULATED

NUMBER = itertools.count()


def body():
    """One that there is only once."""
    return wire.pack(wire.sampled("m", number=str(next(NUMBER))))


def backends(*stores, **keys):
    urls = ", ".join(f"'{getattr(store, 'url', store)}'" for store in stores)
    more = "".join(f"  {name}: {value}\n" for name, value in keys.items())
    return f"upstream:\n  urls: [{urls}]\n{more}server: {{threads: 2}}\n"


@pytest.fixture
def stores():
    """Three, at ports that are theirs while they are away."""
    with ExitStack() as stack:
        made = [Upstream(port=0 if SIMULATED else free_port()) for _ in range(3)]
        for each in made:
            stack.callback(each.stop)
        yield made

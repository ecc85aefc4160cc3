"""Several equal backends of one store, and requests that there are only once."""

import itertools

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
def stores(keep):
    """Three, at ports that are theirs while they are away."""
    return [keep(Upstream(port=0 if SIMULATED else free_port())) for _ in range(3)]

"""The image is built and mounted by scripts/test-image.sh, in namespaces where nothing else is."""

import fcntl
import json
import os
import socket
import struct
from pathlib import Path

import pytest

from container import Container, Image
from fixtures import keep  # noqa: F401
from names import NameServer

collect_ignore_glob = [] if "SERIESGATE_IMAGE_ROOT" in os.environ else ["test_*.py"]
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 1, 64  # Source: netdevice(7)


@pytest.fixture(scope="session")
def image():
    return Image(Path(os.environ["SERIESGATE_IMAGE_ROOT"]), json.loads(Path(os.environ["SERIESGATE_IMAGE_SAID"]).read_text()))


@pytest.fixture(autouse=True, scope="session")
def loopback():
    """A network of one's own has it down, and `ip` is not everywhere."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP | IFF_RUNNING))


@pytest.fixture(scope="session")
def names(loopback):
    return NameServer()


@pytest.fixture
def start(image, keep):
    return lambda *arguments, **how: keep(Container(image, *arguments, **how))

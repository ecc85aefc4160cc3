"""The image is built and mounted by scripts/test-image.sh, in namespaces where nothing else is."""

import os

import pytest

from container import Container, Image
from names import NameServer

collect_ignore_glob = [] if "SERIESGATE_IMAGE_ROOT" in os.environ else ["test_*.py"]


@pytest.fixture(scope="session")
def image():
    return Image.from_environment()


@pytest.fixture(scope="session")
def names():
    return NameServer()


@pytest.fixture
def start(image):
    started = []

    def begin(*arguments, **how):
        started.append(Container(image, *arguments, **how))
        return started[-1]

    yield begin
    for each in started:
        each.stop()

"""The same fixtures as the end-to-end tests (tests/e2e/fixtures.py), and what packages have besides the binary."""

import subprocess
import sys

import pytest

from fixtures import *  # noqa: F401,F403
from gate import BINARY, REPOSITORY


@pytest.fixture(scope="session")
def generated(tmp_path_factory):
    """The folder with man/, bash/, zsh/ and fish/, as packaging/ makes them of the binary under test."""
    folder = tmp_path_factory.mktemp("generated")
    subprocess.run([sys.executable, "-B", REPOSITORY / "packaging" / "generate.py", BINARY, folder], check=True, timeout=60)
    return folder

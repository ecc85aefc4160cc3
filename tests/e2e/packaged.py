"""What packages have besides the binary, as packaging/ makes it of the binary under test."""

import subprocess
import sys

import pytest

from gate import BINARY, REPOSITORY


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """The folder with man/, bash/, zsh/ and fish/."""
    folder = tmp_path_factory.mktemp("generated")
    subprocess.run([sys.executable, "-B", REPOSITORY / "packaging" / "generate.py", BINARY, folder], check=True, timeout=60)
    return folder

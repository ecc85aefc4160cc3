"""The unit files, read by systemd-analyze."""

import re
import shutil
import subprocess

import pytest
import yaml

from gate import BINARY, REPOSITORY

UNITS = REPOSITORY / "deploy/systemd"


def unit_with(binary, folder, name="seriesgate.service"):
    """Its copy for this machine."""
    made = folder / name
    made.write_text((UNITS / name).read_text().replace("/usr/bin/seriesgate", str(binary)))
    return made


needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="no systemd-analyze")


@needs_systemd
def test_the_units_have_no_mistakes(tmp_path):
    files = [unit_with(BINARY, tmp_path), unit_with(BINARY, tmp_path, "seriesgate.socket")]
    result = subprocess.run(["systemd-analyze", "verify", "--man=no", *files], capture_output=True, text=True, timeout=60)
    ours = [line for line in (result.stdout + result.stderr).splitlines() if "seriesgate" in line]
    assert (result.returncode, ours) == (0, [])


@needs_systemd
def test_the_service_is_exposed_to_little():
    result = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", UNITS / "seriesgate.service"],
                            capture_output=True, text=True, timeout=60)
    level = float(re.search(r"Overall exposure level for seriesgate.service: ([\d.]+)", result.stdout)[1])
    assert level <= 1.5, result.stdout


def test_the_socket_opens_no_more_than_the_configuration_of_the_package():
    """What systemd listens at is the unit's, whatever `listen` says."""
    opened = re.findall(r"^ListenStream=(.*)$", (UNITS / "seriesgate.socket").read_text(), re.M)
    assert opened == [yaml.safe_load((REPOSITORY / "debian/seriesgate.yaml").read_text())["listen"]]


def test_each_start_of_the_service_brings_the_socket_if_that_is_enabled():
    """Else the gate opens `listen` itself, and systemd refuses the socket of a service that runs."""
    wanted_by, = re.findall(r"^WantedBy=(.*)$", (UNITS / "seriesgate.socket").read_text(), re.M)
    assert wanted_by.split() == ["sockets.target", "seriesgate.service"]


def test_the_service_has_the_folder_of_the_unix_socket_that_the_pages_name():
    """/run is read-only for it, and nobody else comes into the folder of its state."""
    named = {folder for page in (REPOSITORY / "docs").glob("*.md") for folder in re.findall(r"unix:/run/(\w+)/", page.read_text())}
    unit = (UNITS / "seriesgate.service").read_text().splitlines()
    assert named == {"seriesgate"} and {"RuntimeDirectory=seriesgate", "RuntimeDirectoryMode=0750"} <= set(unit)


def test_the_service_grants_more_time_than_a_drain_takes():
    unit = (UNITS / "seriesgate.service").read_text()
    drain = re.search(r"drainTimeout: (\d+)s", (REPOSITORY / "config/seriesgate.yaml").read_text())[1]
    assert int(re.search(r"TimeoutStopSec=(\d+)s", unit)[1]) >= int(drain) + 30

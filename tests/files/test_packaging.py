"""What a package says about the source is so, and its unit files are what systemd-analyze wants. The package itself is tried by
scripts/test-package.sh."""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest
import yaml

from commands import output_of, takes
from gate import BINARY, REPOSITORY
from waiting import eventually

pytestmark = pytest.mark.text

BOOST = re.compile(r"^libboost(-[a-z]+)?1\.\d+-dev$")


def build_dependencies():
    control = (REPOSITORY / "debian" / "control").read_text()
    listed = re.search(r"^Build-Depends:\n((?: .*\n)+)", control, re.MULTILINE)[1]
    return {re.sub(r" \(.*\)|:any", "", word.strip()) for line in listed.splitlines() for word in line.strip(" ,").split("|")}


def test_a_package_needs_the_libraries_that_a_build_needs():
    script = (REPOSITORY / "scripts" / "install-deps.sh").read_text()
    installed = set(re.search(r"^libraries=\((.*?)\)", script, re.MULTILINE | re.DOTALL)[1].split())
    assert len(installed) > 5
    wanted = {package for package in build_dependencies() if package.startswith("lib")}
    assert {package for package in wanted if not BOOST.match(package)} == installed
    parts = re.search(r'echo "(libboost.*)"', script)[1].replace('" "', " ").replace("$foreign", "").split()
    for version in ("1.81", "1.83"):
        assert {package for package in wanted if f"{version}-dev" in package} == {part.replace("$1", version) for part in parts}


def test_the_configuration_of_the_package_is_good_and_keeps_state():
    file = REPOSITORY / "debian" / "seriesgate.yaml"
    takes(file)
    assert "\n  dir: /var/lib/seriesgate\n" in file.read_text()


@pytest.mark.parametrize("file", ["install", "docs", "examples", "manpages"])
def test_what_the_package_takes_from_the_tree_is_there(file):
    sources = [line.split()[0] for line in (REPOSITORY / "debian" / file).read_text().splitlines()]
    assert sources
    assert [source for source in sources if not source.startswith("build/") and not list(REPOSITORY.glob(source))] == []


def test_what_the_page_on_security_says_of_the_unit_is_in_it():
    page = (REPOSITORY / "docs/security.md").read_text()
    said = set(re.findall(r"(?:^    |`)([A-Z][A-Za-z]+=[^\s`]+)", page, re.MULTILINE))
    assert {"LimitCORE=0", "NoNewPrivileges=yes", "StateDirectoryMode=0700"} < said
    assert said <= set((REPOSITORY / "deploy/systemd/seriesgate.service").read_text().splitlines())
    assert "deploy/systemd/seriesgate.service" in page


def packages_made(version, release):
    """Names of the .deb files that scripts/package.sh leaves, by its own words for them."""
    script = (REPOSITORY / "scripts/package.sh").read_text()
    full, = re.findall(r"^full_version=.*$", script, re.MULTILINE)
    name, = set(re.findall(r"seriesgate_\$\{full_version\}_\$architecture\.deb", script))
    made = output_of("bash", "-uc", f'version=$1 revision=1 release=$2 architecture=amd64\n{full}\necho "{name}"', "-", version, release).strip()
    return [made, made.replace("_", "-dbgsym_", 1)]


@pytest.mark.parametrize("version", ["0.1.0", "0.1.0~833.g4a1a2b0c7853", "0.1.0+1.g0123456789ab.dirty"])
@pytest.mark.parametrize("release", ["12", "13"])
def test_the_package_that_the_pages_install_is_the_one_that_is_made(version, release):
    """From a clone at any commit, and with nothing else beside it."""
    made = packages_made(version, release)
    named = {(page, name) for page in ("docs/install.md", "docs/upgrades.md")
             for name in re.findall(r"(?:\S*/)?(seriesgate_\S*?\.deb)", (REPOSITORY / page).read_text())}
    assert {page for page, _ in named} == {"docs/install.md", "docs/upgrades.md"}
    assert {(page, name): fnmatch.filter(made, name) for page, name in named} == {each: made[:1] for each in named}
    installed, = re.findall(r"apt install \./(\S+)/seriesgate_", (REPOSITORY / "docs/install.md").read_text())
    script = (REPOSITORY / "scripts/package.sh").read_text()
    assert f"packages=$root/{installed}\n" in script
    assert 'rm -f "$packages"/seriesgate*_*\n' in script  # so that the pattern finds one


def test_the_notices_name_what_is_compiled_in():
    """Where dpkg knows what the binary was built with."""
    if subprocess.run(["dpkg-query", "-s", "libcli11-dev"], capture_output=True).returncode != 0:
        pytest.skip("the binary was not built with Debian's packages")
    printed = output_of("/usr/bin/python3", "-B", REPOSITORY / "packaging" / "notices.py", BINARY)
    linked = re.findall(r"^  (\S+) \S+$", printed.partition("Compiled in")[0], re.MULTILINE)
    assert {"libc6", "libssl3", "libssl3t64"} & set(linked) and len(linked) > 8
    for words in ("Boost Software License - Version 1.0", "libxxhash-dev", "libcli11-dev", "libfmt-dev"):
        assert words in printed
    assert len(printed) < 200_000  # not all of what Boost's package tells


@pytest.mark.skipif(os.geteuid() != 0, reason="only root installs packages")
def test_the_check_of_an_upgrade_is_made_as_the_gate_that_runs_and_never_as_root():
    """Whose variables, flags and folder are what it likes; this one also lets nobody look at it."""
    script = (REPOSITORY / "debian/postinst").read_text()
    functions = script[script.index("takes() {"):script.index('if [ "$1" = configure ]')]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the user nobody starts what is in it
        gate, ready = pathlib.Path(folder, "gate"), pathlib.Path(folder, "ready")
        gate.write_text("#!/bin/sh\nid -u; id -G; echo \"$VALUE\"; pwd; echo $1 $4\n"
                        "[ $(cut -d ' ' -f 6 /proc/$$/stat) = $$ ] && echo without a terminal\n")
        gate.chmod(0o755)
        ready.touch()
        ready.chmod(0o666)
        hides = "import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); open('ready', 'w').write('yes'); time.sleep(100)"
        running = subprocess.Popen(["setpriv", "--reuid=65534", "--regid=65534", "--groups=65534,100", "env", "-i", "VALUE=a b=c", "EMPTY=",
                                    "/usr/bin/python3", "-c", hides, "--flag"], cwd=folder)
        try:
            eventually(ready.read_text, "it hides")
            said = subprocess.run(["sh", "-ec", f"{functions.replace('/usr/bin/seriesgate', str(gate))}\ntakes {running.pid}"],
                                  capture_output=True, text=True)
        finally:
            running.kill()
            running.wait()
        assert said.stdout.splitlines() == ["65534", "65534 100", "a b=c", folder, "-c --check-config", "without a terminal"], said


# --- the unit files

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


def test_the_page_says_how_the_state_may_be_elsewhere():
    """The check of a configuration does not see what systemd forbids the service."""
    unit = (UNITS / "seriesgate.service").read_text()
    section = (REPOSITORY / "docs/operation.md").read_text().partition("## As a service")[2].partition("\n## ")[0]
    assert "ProtectSystem=strict" in unit and "ReadWritePaths=" in section


def test_removal_stops_the_socket_before_the_service():
    """Or a sender that waits has the service started again, and the gate runs on from a file that is gone."""
    script = (REPOSITORY / "debian/prerm").read_text()
    assert "--no-start" in (REPOSITORY / "debian/rules").read_text() and 0 < script.find("stop seriesgate.socket") < script.find("#DEBHELPER#")


def test_the_service_grants_more_time_than_a_drain_takes():
    unit = (UNITS / "seriesgate.service").read_text()
    drain = re.search(r"drainTimeout: (\d+)s", (REPOSITORY / "config/seriesgate.yaml").read_text())[1]
    assert int(re.search(r"TimeoutStopSec=(\d+)s", unit)[1]) >= int(drain) + 30

"""The scripts that a newcomer runs first. They build what is missing; here it has been built already."""

import json
import os
import re
import shutil
import signal
import subprocess
import urllib.request

import pytest

from gate import REPOSITORY
from waiting import eventually

# One at a time: they build in the same folder.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(280), pytest.mark.xdist_group("build")]


@pytest.fixture
def script(tmp_path):
    """script(name, *arguments): the running script, in a process group of its own, and a reader of its output."""
    started = []

    def start(name, *arguments):
        output = tmp_path / "output"
        with open(output, "wb") as sink:
            process = subprocess.Popen([REPOSITORY / "scripts" / name, *arguments], stdin=subprocess.DEVNULL,
                                       stdout=sink, stderr=sink, start_new_session=True)
        started.append(process)
        return process, lambda: output.read_text(errors="replace")

    yield start
    for process in started:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)  # it ends its children, which have groups of their own
            try:
                process.wait(40)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def serves(url):
    try:
        return urllib.request.urlopen(url, timeout=5).status == 200
    except OSError:
        return False


def addresses(output):
    """The http addresses that a script has printed, without their paths."""
    return sorted(set(re.findall(r"http://127\.0\.0\.1:\d+", output)))


FIGURES = re.compile(r"samples (\d+) received, (\d+) accepted, (\d+) refused .* store (\d+) series")


def test_the_demo_brings_samples_into_the_store_and_ends_what_it_started(script):
    process, output = script("demo.sh", "--seconds", "25", "--explode-after", "5")
    assert process.wait(200) == 0, output()
    before, _, after = output().partition("a label explodes")
    assert {refused for _, _, refused, _ in FIGURES.findall(before)} == {"0"}  # the limit has room for what is healthy
    received, accepted, refused, stored = map(int, FIGURES.findall(after)[-1])
    assert received == accepted + refused
    assert min(accepted, refused, stored) > 1000
    healthy = dict(re.findall(r"^ *(cart|search|kube-system) +\d+ +(\d+)$", after, re.MULTILINE))
    assert healthy == {"cart": "0", "search": "0", "kube-system": "0"}
    assert re.search(r"the gate says: .*trace_id.*\n.*http://127\.0\.0\.1:\d+/", after), after
    assert len(addresses(output())) == 3
    assert not any(serves(address + "/metrics") for address in addresses(output()))


def test_the_demo_ends_on_ctrl_c_and_takes_its_children_along(script):
    process, output = script("demo.sh")
    eventually(lambda: re.search(r"samples \d+ received", output()), "a first line of figures", 90, every=0.2)
    started = addresses(output())
    assert len(started) == 3 and all(serves(address + "/metrics") for address in started)
    process.send_signal(signal.SIGINT)
    assert process.wait(40) == 0, output()
    assert not any(serves(address + "/metrics") for address in started)


@pytest.mark.parametrize("store", ["redis-server", "valkey-server"])
def test_the_demo_of_a_fleet_shows_that_the_limit_holds(script, store):
    process, output = script("demo-fleet.sh", "--limit", "3000", "--explode", "5000", "--store", store)
    assert process.wait(200) == 0, output()
    assert re.findall(r"VictoriaMetrics: (\d+) series, the limit is (\d+)", output()) == [("3000", "3000")] * 2
    first, second = [dict(re.findall(r"(gate-\d): (\d+) samples received", half))
                     for half in output().split("gate-2 has been killed")]
    assert first.keys() == second.keys() == {"gate-1", "gate-2", "gate-3"}
    assert sum(map(int, first.values())) == 10_740 + 5000
    assert min(map(int, first.values())) > 2000
    assert re.findall(r"hour (\d+) of", output())[:3] == ["3000"] * 3
    assert len(addresses(output())) == 5
    assert not any(serves(address + "/metrics") for address in addresses(output()))


def test_the_demo_of_a_fleet_says_what_it_does_not_understand(script):
    for arguments, said in [(("--store", "mysql"), "--store is redis-server or valkey-server"),
                            (("--limit", "0"), "--limit needs a number"), (("--gates",), "usage: ")]:
        process, output = script("demo-fleet.sh", *arguments)
        assert process.wait(20) == 1
        assert said in output()


@pytest.mark.parametrize("flags, series, refused, end", [
    ((), 31_817, "0", signal.SIGTERM), (("--maxHourlySeries=10000",), 10_000, r"2\d{4}", signal.SIGINT)])
def test_run_replays_the_recorded_requests_and_stays_up(script, flags, series, refused, end):
    process, output = script("run.sh", "--listen=127.0.0.1:0", *flags)
    eventually(lambda: "run: up" in output(), "the replay is over", 90, every=0.2)
    assert re.search(f"32000 samples of {series} distinct series, {refused} samples refused", output())
    address, = addresses(output())
    stats = json.load(urllib.request.urlopen(address + "/stats", timeout=10))
    assert stats["windows"]["hourly"]["currentSeries"] == series
    process.send_signal(end)
    assert process.wait(40) == 0, output()
    assert not serves(address + "/health")


#: What install-deps.sh finds in PATH, besides apt-get and dpkg-query: so it installs the servers, whatever this machine has.
COMMANDS = ("bash", "cat", "cp", "dirname", "env", "grep", "id", "install", "mktemp", "rm", "tail")
#: `apt-get install` has "killed" end the script, as timeout does.
APT_GET = """#!/bin/sh
case $* in *install*) ;; *) exit ;; esac
cp /usr/sbin/policy-rc.d policy
if [ -e killed ]; then rm killed; kill -KILL $PPID; fi
"""


@pytest.mark.skipif(subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0, reason="no mounts")
@pytest.mark.parametrize("present", [None, "#!/bin/sh\nexit 101\n"], ids=["none", "somebody else's"])
def test_an_installation_that_was_killed_forbids_no_services_after_the_next(tmp_path, present):
    """What forbids them meanwhile, /usr/sbin/policy-rc.d, is in an empty /usr/sbin here."""
    for command in COMMANDS:
        (tmp_path / command).symlink_to(shutil.which(command))
    for command, text in {"apt-get": APT_GET, "dpkg-query": "#!/bin/sh\necho installed\n"}.items():
        (tmp_path / command).write_text(text)
        (tmp_path / command).chmod(0o755)
    (tmp_path / "killed").touch()
    if present:
        (tmp_path / "present").write_text(present)
    script = REPOSITORY / "scripts/install-deps.sh"
    ran = subprocess.run(["unshare", "--mount", "sh", "-c", f"""
        mount -t tmpfs tmpfs /usr/sbin
        if [ -e present ]; then cp present /usr/sbin/policy-rc.d; fi
        for run in 1 2; do PATH={tmp_path} {script} --unit-tests; echo "status $?"; done
        if [ -e /usr/sbin/policy-rc.d ]; then cp /usr/sbin/policy-rc.d left; fi"""],
        cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert re.findall(r"status (\d+)", ran.stdout) == ["137", "0"], ran
    assert "exit 101" in (tmp_path / "policy").read_text()
    left = tmp_path / "left"
    assert (left.read_text() if left.exists() else None) == present


def test_compare_takes_the_vmagent_that_it_is_told(tmp_path):
    def compare(vmagent, *arguments):
        return subprocess.run([REPOSITORY / "bench/compare.sh", *arguments], capture_output=True, text=True, timeout=60,
                              env={**os.environ, "VMAGENT": str(vmagent), "SERIESGATE_BIN": "/nowhere/seriesgate"})

    missing = compare(tmp_path / "vmagent")
    assert missing.returncode == 1
    assert f"missing vmagent: VMAGENT={tmp_path}/vmagent is not a program" in missing.stderr
    (tmp_path / "vmagent").touch(mode=0o755)
    assert "vmagent" not in compare(tmp_path / "vmagent").stderr
    assert "SERIESGATE_SERVERS" in compare("", "--help").stdout.splitlines()[-1]


def test_the_tests_begin_where_git_is_not_installed_yet(tmp_path):
    """In an archive of the source, or on a fresh machine."""
    (tmp_path / "scripts").mkdir()
    for name in ("test.sh", "lib.sh"):
        shutil.copy(REPOSITORY / "scripts" / name, tmp_path / "scripts")
    for name, says in [("install-deps.sh", "echo wanted; exit 1"), ("git", "exit 127")]:
        (tmp_path / "scripts" / name).write_text(f"#!/bin/sh\n{says}\n")
        (tmp_path / "scripts" / name).chmod(0o755)
    ran = subprocess.run([tmp_path / "scripts/test.sh"], capture_output=True, text=True, timeout=60,
                         env={**os.environ, "PATH": f"{tmp_path}/scripts:{os.environ['PATH']}"})
    assert ran.stdout.splitlines()[-1] == "0 passed, 1 failed" and "\nwanted\n" in ran.stdout, ran.stdout + ran.stderr

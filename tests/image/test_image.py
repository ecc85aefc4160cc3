"""The image: what is in it, and that it runs as people run images in production."""

import hashlib
import json
import os
import re
import ssl
import stat
import subprocess

import pytest

import client
from certificates import Authority
from traffic import body, numbered
from upstream import Upstream
from waiting import eventually

STORE = "store.example"
CONFIGURATION = f"""
listen: 0.0.0.0:9201
upstream: {{url: "https://{STORE}:PORT/api/v1/write"}}
state: {{dir: /var/lib/seriesgate}}
maxHourlySeries: 100
"""


# --- what it says of itself

def test_it_says_who_runs_it_and_how(image):
    said = image.config
    assert said["User"] == "10001:10001"
    assert said["Entrypoint"] == ["seriesgate"]
    assert said["Cmd"] == ["--config.file=/etc/seriesgate/seriesgate.yaml"]
    assert list(said["ExposedPorts"]) == ["9201/tcp"]
    assert list(said["Volumes"]) == ["/var/lib/seriesgate"]
    assert said["Healthcheck"]["Test"] == ["CMD", "seriesgate", "--health-check", "http://127.0.0.1:9201/-/healthy"]
    assert said["Healthcheck"]["Timeout"] > 5e9  # what a health check takes at most


def test_its_labels_say_what_it_is_and_of_which_commit(image):
    labels = {name.removeprefix("org.opencontainers.image."): value for name, value in image.config["Labels"].items()}
    commit, epoch = subprocess.run(["git", "log", "-1", "--format=%H %ct"], capture_output=True, text=True).stdout.split()
    version = subprocess.run([image.root / "usr/bin/seriesgate", "--version"], capture_output=True, text=True).stdout
    assert version == f"seriesgate {labels['version']}\n"
    assert labels["revision"] == commit
    assert labels["licenses"] == "Apache-2.0"
    assert labels["title"] == "seriesgate"
    made = subprocess.run(["date", "--utc", f"--date=@{epoch}", "+%Y-%m-%dT%H:%M:%SZ"], capture_output=True, text=True).stdout.strip()
    assert labels["created"] == made == image.said["Docker"]["created"]


# --- what is in it

def test_there_is_nothing_to_run_but_the_gate(image):
    runnable = {str(file.relative_to(image.root)) for file in image.files
                if file.is_file() and not file.is_symlink() and os.access(file, os.X_OK)}
    libraries = {name for name in runnable if re.fullmatch(r"usr/lib/[\w-]+/(ld-linux-[\w-]+|libc)\.so\.\d", name)}
    assert runnable - libraries == {"usr/bin/seriesgate"}


def test_nobody_may_change_what_is_in_it(image):
    for file in image.files:
        what = file.lstat()
        if file.is_symlink():
            continue
        assert not what.st_mode & (stat.S_ISUID | stat.S_ISGID), file
        name = str(file.relative_to(image.root))
        if name == "var/lib/seriesgate":
            assert (what.st_uid, what.st_gid, stat.S_IMODE(what.st_mode)) == (10001, 10001, 0o700)
        else:
            assert (what.st_uid, what.st_gid) == (0, 0), file
            assert not what.st_mode & 0o022 or name == "tmp", file


def test_its_files_are_no_newer_than_the_commit(image):
    epoch = int(subprocess.run(["git", "log", "-1", "--format=%ct"], capture_output=True, text=True).stdout)
    assert max(file.lstat().st_mtime for file in image.files if file.is_file()) <= epoch


def packages(image):
    """{package: version} as scanners see it."""
    entries = [file.read_text() for file in (image.root / "var/lib/dpkg/status.d").iterdir()]
    return {re.search(r"^Package: (\S+)$", text, re.M)[1]: re.search(r"^Version: (\S+)$", text, re.M)[1] for text in entries}


def test_all_that_is_in_it_belongs_to_a_package_with_a_licence(image):
    found = packages(image)
    assert {"seriesgate", "libc6", "libssl3", "libstdc++6", "ca-certificates", "base-files"} <= set(found)
    for package in found:
        licence = image.root / "usr/share/doc" / package / "copyright"
        assert len(licence.read_text(errors="replace")) > 200, package


# --- it runs

@pytest.fixture
def store(tmp_path, keep, names):
    """A store with TLS, whose authority is in `bundle`: in place of the system's, which is what a container is given."""
    authority = Authority(tmp_path)
    issued = authority.issue(STORE)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(issued.certificate, issued.key)
    stub = keep(Upstream(tls=context))
    stub.bundle = authority.certificate
    return stub


@pytest.fixture
def mounted(tmp_path, store):
    """What an engine puts into a container: the configuration, a volume, and how names are resolved."""
    configuration = tmp_path / "seriesgate.yaml"
    configuration.write_text(CONFIGURATION.replace("PORT", str(store.port)))
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    os.chown(state, 10001, 10001)
    resolver = tmp_path / "resolv.conf"
    resolver.write_text("nameserver 127.0.0.1\n")
    hosts = tmp_path / "hosts"
    hosts.write_text("127.0.0.1 localhost\n")
    return {"/etc/seriesgate/seriesgate.yaml": configuration, "/var/lib/seriesgate": state, "/etc/resolv.conf": resolver,
            "/etc/hosts": hosts, "/etc/ssl/certs/ca-certificates.crt": store.bundle}


def send(count):
    return client.send(("127.0.0.1", 9201), body(numbered(count)))


def test_it_runs_as_nobody_who_may_write_and_keeps_its_counts(image, start, store, names, mounted):
    gate = start(mounted)
    gate.await_port(9201)
    assert gate.status("Uid") == ["10001"] * 4 and gate.status("Gid") == ["10001"] * 4
    assert gate.status("CapEff") == ["0" * 16] and gate.status("NoNewPrivs") == ["1"]
    eventually(lambda: client.get(("127.0.0.1", 9201), "/-/ready").status == 200, "the store's name is known")
    reply = send(7)
    assert reply.status == 204, reply
    assert len(store.requests) == 1
    assert STORE in names.asked
    metrics = client.get(("127.0.0.1", 9201), "/metrics").body.decode()
    labels = image.config["Labels"]
    info = re.search(r"^seriesgate_build_info\{(.*)\} 1$", metrics, re.M)[1]
    for name in ("version", "revision"):
        assert f'{name}="{labels["org.opencontainers.image." + name]}"' in info
    checked = gate.check_health()
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")
    status, said = gate.stop()
    assert status == 0, said
    files = {file.name: file.stat() for file in mounted["/var/lib/seriesgate"].iterdir()}
    assert "state" in files
    assert {(each.st_uid, each.st_mode & 0o777) for each in files.values()} == {(10001, 0o600)}
    again = start(mounted)
    again.await_port(9201)
    assert b'"currentSeries":7' in client.get(("127.0.0.1", 9201), "/stats").body.replace(b" ", b"")


def test_its_root_is_one_that_nobody_can_write_to(start, mounted):
    """Without the volume the state has nowhere to go, and the gate says so."""
    gate = start({place: here for place, here in mounted.items() if place != "/var/lib/seriesgate"})
    status, said = gate.process.wait(20), gate.process.stdout.read()
    assert status == 2
    assert "state.dir: " in said and "Read-only file system" in said


def test_without_the_authority_the_store_is_not_believed(start, store, mounted):
    gate = start({place: here for place, here in mounted.items() if "ca-certificates" not in place})
    gate.await_port(9201)
    eventually(lambda: client.get(("127.0.0.1", 9201), "/-/ready").status == 200, "the store's name is known")
    assert send(7).status == 502
    assert store.requests == []


def test_the_authorities_of_the_system_are_in_it(image):
    bundle = (image.root / "usr/lib/ssl/cert.pem").resolve()
    inside = image.root / "etc/ssl/certs/ca-certificates.crt"
    assert os.readlink(image.root / "usr/lib/ssl/cert.pem") == "../../../etc/ssl/certs/ca-certificates.crt"
    assert bundle == inside.resolve()
    assert inside.read_text().count("BEGIN CERTIFICATE") > 100


def test_a_gate_that_does_not_answer_is_not_healthy(start, mounted):
    mounted["/etc/seriesgate/seriesgate.yaml"].write_text(CONFIGURATION.replace("PORT", "1").replace(":9201", ":9301"))
    gate = start(mounted)
    gate.await_port(9301)
    checked = gate.check_health()
    assert checked.returncode == 1
    assert checked.stderr == ("seriesgate: --health-check: http://127.0.0.1:9201/-/healthy: connecting to 127.0.0.1:9201: "
                              "Connection refused\n")


def test_its_own_configuration_is_good(image, start):
    gate = start({}, arguments=[*image.config["Cmd"], "--check-config"])
    assert gate.process.wait(20) == 0
    assert gate.process.stdout.readline() == "/etc/seriesgate/seriesgate.yaml: ok\n"


# --- the list of its parts

def test_all_its_packages_are_on_the_list_of_parts(image):
    """Source: SPDX 2.3, https://spdx.github.io/spdx-spec/v2.3/"""
    said = json.loads((image.root / "usr/share/doc/seriesgate/sbom.spdx.json").read_text())
    assert (said["spdxVersion"], said["dataLicense"], said["SPDXID"]) == ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT")
    assert said["creationInfo"]["created"] == image.said["Docker"]["created"]
    listed = {each["name"]: each["versionInfo"] for each in said["packages"]}
    inside = packages(image)
    own, theirs = listed.pop("seriesgate"), inside.pop("seriesgate")
    assert theirs.startswith(own)
    assert {name: version for name, version in listed.items() if name in inside} == inside
    binary, = said["files"]
    digest = hashlib.sha256((image.root / binary["fileName"]).read_bytes()).hexdigest()
    assert {"algorithm": "SHA256", "checksumValue": digest} in binary["checksums"]

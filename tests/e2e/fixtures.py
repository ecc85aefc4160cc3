"""Fixtures of the end-to-end tests and of the attacks. Where the binary and the servers are found: gate.py and servers.py."""

import importlib
import itertools
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest

import servers
from gate import BINARY, REPOSITORY, Gate, sanitized
from upstream import Upstream
from waiting import wait_out_the_hour
from world import SIMULATED

if SIMULATED:
    import simulated

    STAGE = simulated.begin_session(BINARY.with_name("simulated_gate"))
    SEED = int(os.environ.get("SERIESGATE_SEED", "1"))

    def _world(is_for_this):
        if is_for_this:
            STAGE.begin(SEED)
        yield STAGE
        if is_for_this:
            STAGE.end()

    # Every test has a world of its own, see world.py; the tests of a module that says ONE_WORLD have one together.

    @pytest.fixture(autouse=True, scope="session")
    def stage_of_session():
        yield
        STAGE.finish()

    @pytest.fixture(autouse=True, scope="module")
    def stage_of_module(request):
        yield from _world(hasattr(request.module, "ONE_WORLD"))

    @pytest.fixture(autouse=True)
    def stage(request, stage_of_module):
        yield from _world(not hasattr(request.module, "ONE_WORLD"))


@pytest.fixture(autouse=True)
def within_one_hour(request):
    """Every test sees one hour window from beginning to end."""
    usual = 45 if not SIMULATED and sanitized("asan", "tsan", "ubsan") else 20
    wait_out_the_hour(90 if request.node.get_closest_marker("slow") else usual)


@pytest.fixture(scope="session")
def pb(tmp_path_factory):
    """The generated classes of proto/remote_write_v1.proto: the reference for what a request means."""
    return _generated("remote_write_v1", tmp_path_factory.mktemp("proto"))


@pytest.fixture(scope="session")
def pb_v2(tmp_path_factory):
    """The same for remote write 2."""
    return _generated("remote_write_v2", tmp_path_factory.mktemp("proto"))


def _generated(name, out):
    source = REPOSITORY / "proto"
    subprocess.run(["protoc", f"-I{source}", f"--python_out={out}", f"{name}.proto"], check=True)
    sys.path.insert(0, str(out))
    try:
        return importlib.import_module(f"{name}_pb2")
    finally:
        sys.path.remove(str(out))


@pytest.fixture
def keep():
    """keep(what): has a stop(), which is called after the test."""
    with ExitStack() as stack:
        def kept(what):
            stack.callback(what.stop)
            return what

        yield kept


@pytest.fixture
def open_folder():
    """One that everybody may look into, unlike tmp_path."""
    with tempfile.TemporaryDirectory(prefix="seriesgate-") as folder:
        os.chmod(folder, 0o755)
        yield Path(folder)


@pytest.fixture
def upstream(keep):
    return keep(Upstream())


@pytest.fixture
def victoria_metrics(keep, tmp_path):
    return keep(servers.VictoriaMetrics(tmp_path))


@pytest.fixture(params=[servers.PrometheusStore, servers.VictoriaMetrics], ids=["prometheus", "victoria-metrics"])
def real_store(request, keep, tmp_path):
    return keep(request.param(tmp_path))


@pytest.fixture
def start_gate(tmp_path):
    """start_gate(*flags, config=text): a running gate; stopped after the test, and it has to stop well. Threads: any."""
    started, ordinals = [], itertools.count()

    def start(*flags, config=None, **how):
        file = None
        if config is not None:
            file = tmp_path / f"gate-{next(ordinals)}.yaml"
            file.touch(0o600)  # for the secrets that some have in it
            file.write_text(config)
        gate = Gate(*flags, config_file=file, **how)
        started.append(gate)
        return gate

    yield start
    _stop_all(started)


@pytest.fixture
def gate(start_gate, upstream):
    """A gate without limits in front of the stub upstream."""
    return start_gate(f"--upstream.url={upstream.url}")


@pytest.fixture
def limited(start_gate, upstream):
    """limited(text): a gate with that configuration in front of the stub upstream, which needs no mention in it."""
    def start(text, *flags, **how):
        return start_gate(f"--upstream.url={upstream.url}", *flags, config=text, **how)

    return start


@pytest.fixture
def guarded(tmp_path, start_gate, upstream):
    """guarded(text, *flags): a gate with that web configuration in front of the stub upstream."""
    def start(text, *flags, **how):
        file = tmp_path / "web.yml"
        file.touch(0o600)
        file.write_text(text)
        return start_gate(f"--web.config.file={file}", f"--upstream.url={upstream.url}", *flags, **how)

    return start


def _stop_all(gates):
    failures = []
    for gate in gates:
        try:
            gate.stop()
        except AssertionError as failure:
            failures.append(str(failure))
    assert not failures, "\n".join(failures)

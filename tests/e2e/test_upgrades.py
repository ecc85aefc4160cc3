"""From the last release to this one, and back: what docs/upgrades.md says of it. Both are real binaries, see scripts/last-release.sh."""

import json
import re
import subprocess

import pytest

import documents
import traffic
from gate import BINARY, REPOSITORY
from kept_state import RICH, directory, kept, offer_much, remembered  # noqa: F401 (a fixture)
from shared_fleets import GATES, SECRET, SharedFleet, current
from shared_stores import KINDS, SharedStore, keep  # noqa: F401 (a fixture)
from traffic import numbered, offer
from waiting import eventually

pytestmark = [pytest.mark.extended, pytest.mark.slow, pytest.mark.timeout(200)]

PAGE = "docs/upgrades.md"
LAST = REPOSITORY / "build/last-release"


@pytest.fixture(scope="session")
def last():
    """The binary of the last release."""
    found = subprocess.run([REPOSITORY / "scripts/last-release.sh", "--source"], capture_output=True, text=True, timeout=100)
    if found.returncode == 77:
        pytest.skip(found.stdout)
    assert found.returncode == 0, found.stderr
    binary = LAST / "seriesgate"
    assert binary.exists(), "run scripts/last-release.sh"
    return binary


@pytest.fixture
def shared_store(request, keep, tmp_path):
    return keep(SharedStore(request.param, tmp_path))


on_each_store = pytest.mark.parametrize("shared_store", KINDS, indirect=True)


def quoted(heading):
    """What stands in code marks in the lists of a section, before the colon."""
    items = re.findall(r"^- (.*?):(?: |$)", documents.section(PAGE, heading), re.MULTILINE)
    return {name for item in items for name in re.findall(r"`([^`]+)`", item)}


# --- one gate

@pytest.mark.parametrize("series_set", ("bloom", "exact"))
def test_counts_and_known_series_stay_on_the_way_and_back(limited, upstream, directory, last, series_set):  # noqa: F811
    text = kept(directory, f"seriesSet: {series_set}\n{RICH}")
    gate = limited(text, binary=last)
    admitted = offer_much(gate, upstream)
    assert 0 < gate.current() < sum(map(len, admitted))
    for binary in (BINARY, last):
        before = remembered(gate.stats)
        gate.stop()
        gate = limited(text, binary=binary)
        assert remembered(gate.stats) == before
        assert offer_much(gate, upstream) == admitted  # known ones pass, refused ones stay refused
        assert gate.errors == []


def test_a_takeover_is_possible_on_the_way_and_back(limited, upstream, directory, last):  # noqa: F811
    text = kept(directory, "maxHourlySeries: 5\n")
    gate = limited(text, binary=last)
    assert offer(gate, upstream, numbered(9)) == numbered(5)
    for binary in (BINARY, last):
        successor = limited(text, "--takeover", binary=binary)
        assert gate.wait() == 0
        assert offer(successor, upstream, numbered(9)) == numbered(5)
        assert successor.current() == 5
        gate = successor


# --- a fleet

LIMIT = 90
HEALTHY, EXPLODING = numbered(60), [numbered(300, start=1000 * n, name="bad") for n in range(1, 4)]


class MixedFleet(SharedFleet):
    """`binary`: of the gates that start from now on."""

    def __init__(self, *given, binary, **how):
        self.binary = binary
        super().__init__(*given, **how)

    def start(self, ordinal, port=0):
        state = f"state: {{dir: {self._folder}/state-{ordinal}, interval: 1h}}\n"
        return self._start_gate(f"--listen=127.0.0.1:{port}", config=self.configuration(ordinal, further=state), binary=self.binary)

    def replace(self, ordinal):
        self.gates[ordinal].stop()
        self.restart(ordinal)
        self.all_join()

    def passed_of(self, series):
        """How many of these came through any gate, ever."""
        came = self.admitted()
        return sum(traffic.identity(labels) in came for labels in series)


@pytest.fixture
def mixed(start_gate, keep, tmp_path, shared_store, last):
    """A fleet of the last release."""
    return keep(MixedFleet(start_gate, tmp_path, shared_store, f"maxHourlySeries: {LIMIT}\n", binary=last))


@on_each_store
def test_a_fleet_in_peace_loses_nothing_on_the_way_and_back(mixed, last):
    """Its series have room in either kind."""
    assert mixed.offer_to_all(HEALTHY) == [HEALTHY] * GATES
    for binary in (BINARY, last):
        mixed.binary = binary
        for ordinal in range(GATES):
            mixed.replace(ordinal)
            assert mixed.offer_to_all(HEALTHY) == [HEALTHY] * GATES
            assert mixed.gates[ordinal].errors == []
    assert mixed.refused == 0


@on_each_store
def test_two_kinds_of_gates_count_apart(mixed, last):
    """So that at most twice the limit is admitted, and what the one kind has admitted is refused by the other when it is full."""
    assert mixed.offer_to_all(HEALTHY) == [HEALTHY] * GATES
    mixed.offer_to_all(EXPLODING[0])
    assert len(mixed.admitted()) == LIMIT

    mixed.binary = BINARY
    mixed.replace(0)
    assert (mixed.gates[0].current(), mixed.gates[0].metric("seriesgate_shared_gates")) == (0, 1)
    mixed.offer(0, EXPLODING[1])  # before the healthy ones have come by
    assert len(mixed.admitted()) == 2 * LIMIT
    assert mixed.offer(0, HEALTHY) == []
    assert (mixed.offer(1, HEALTHY), mixed.offer(1, EXPLODING[1])) == (HEALTHY, [])
    for ordinal in range(1, GATES):
        mixed.replace(ordinal)
        mixed.offer_to_all(EXPLODING[2])
    assert len(mixed.admitted()) == 2 * LIMIT
    mixed.all_show(current(), LIMIT)
    eventually(lambda: {gate.metric("seriesgate_shared_gates") for gate in mixed.gates} == {GATES}, "they have heard of each other")

    # On the way back the older kind goes on from what it had counted.
    mixed.binary = last
    for ordinal in range(GATES):
        mixed.replace(ordinal)
        assert mixed.offer(ordinal, HEALTHY) == HEALTHY
        assert mixed.passed_of(mixed.offer(ordinal, EXPLODING[1])) == 0
    assert len(mixed.admitted()) == 2 * LIMIT


# --- configuration

def check(binary, folder, text):
    file = folder / "seriesgate.yaml"
    file.touch(0o600)
    file.write_text(text)
    return subprocess.run([binary, "--config.file=seriesgate.yaml", "--upstream.url=discard:", "--check-config"], cwd=folder,
                          capture_output=True, text=True, timeout=30)


def example(release):
    return (release / "config/seriesgate.yaml").read_text()


def with_store(text, folder):
    """An example as a fleet has it."""
    (folder / "secret").touch(0o600)
    (folder / "secret").write_bytes(SECRET)
    text, stores = re.subn(r"^shared:\n(.*\n)  url: ''", r"shared:\n\1  url: redis://127.0.0.1:6379/0", text, flags=re.MULTILINE)
    text, secrets = re.subn(r"^( +)secretFile: ''", rf"\1secretFile: {folder}/secret", text, flags=re.MULTILINE)
    text, limits = re.subn(r"^maxHourlySeries: 0$", "maxHourlySeries: 1000", text, flags=re.MULTILINE)
    assert (stores, secrets, limits) == (1, 1, 1)
    return text


def test_every_key_of_the_last_release_is_read(last, tmp_path):
    checked = check(BINARY, tmp_path, example(LAST / "source"))
    assert (checked.returncode, checked.stderr) == (0, ""), checked

    def properties(schema, path=()):
        for key, value in schema.get("properties", {}).items():
            yield (*path, key)
            yield from properties(value, (*path, key))
        for key in ("items", "additionalProperties"):
            if isinstance(schema.get(key), dict):
                yield from properties(schema[key], (*path, key))

    def schema(release):
        read = json.loads((release / "docs/seriesgate.schema.json").read_text())
        return {(name, *path) for name, part in {"": read, **read.get("$defs", {})}.items() for path in properties(part)}

    assert len(schema(REPOSITORY)) > 100
    assert schema(LAST / "source") - schema(REPOSITORY) == set()
    # And back: what this release has besides stands in the page.
    assert {".".join(path[1:]) for path in schema(REPOSITORY) - schema(LAST / "source")} <= quoted("Configuration")


def test_a_fleets_configuration_is_read_but_for_what_the_page_says(last, tmp_path):
    old = with_store(example(LAST / "source"), tmp_path)
    checked = check(last, tmp_path, old)
    assert (checked.returncode, checked.stderr) == (0, ""), checked
    refused = check(BINARY, tmp_path, old)
    line, = refused.stderr.splitlines()
    assert refused.returncode == 1 and "seriesSet: must be exact with shared" in line
    mended = check(BINARY, tmp_path, old.replace("\nseriesSet: bloom\n", "\n"))
    line, = mended.stderr.splitlines()
    assert mended.returncode == 0 and "warning: shared.reserve: is not used any more" in line
    page = documents.section(PAGE, "Configuration")
    assert "`must be exact with shared`" in page and "`is not used any more`" in page
    # And so it has nothing to say of one without the two lines, nor has the last release.
    for binary in (BINARY, last):
        checked = check(binary, tmp_path, re.sub(r"\n(seriesSet: bloom|  reserve: 5%)(?=\n)", "", old))
        assert (checked.returncode, checked.stderr) == (0, ""), checked


def test_the_configuration_of_this_release_is_read_by_the_last_without_what_is_new(last, tmp_path):
    text = example(REPOSITORY)
    lines = text.split("\n")
    for said in check(last, tmp_path, text).stderr.splitlines():
        _, at, key, why = re.split(": |:(?=\\d)", said)
        assert why == "unknown key" and key in quoted("Configuration"), said
        lines[int(at) - 1] = ""
    checked = check(last, tmp_path, "\n".join(lines))
    assert (checked.returncode, checked.stderr) == (0, ""), checked


def test_flags_stay(last):
    def flags(binary):
        return set(re.findall(r"--[\w.-]+", subprocess.run([binary, "--help"], capture_output=True, text=True, timeout=30).stdout))

    assert flags(last) and flags(last) - flags(BINARY) == set()


def test_defaults_stay_but_for_those_on_the_page(start_gate, last):
    def in_force(binary):
        gate = start_gate("--upstream.url=discard:", binary=binary)
        return {line for line in gate.get("/config").body.decode().splitlines() if not line.lstrip().startswith(("#", "listen:"))}

    changed = {line.strip().split(":")[0] for line in in_force(last) ^ in_force(BINARY)}
    assert changed <= {name.split(".")[-1] for name in quoted("Configuration")}


# --- figures

def shown_metrics(gate):
    """Each metric with its labels, and their values but for those of this run."""
    return {(name, frozenset((label, "" if label in ("store", "door", "version", "revision", "compiler") else value) for label, value in labels))
            for name, labels in gate.metrics}


def keys_of(value, path=""):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}".lstrip(".")
            yield from keys_of(inner, f"{path}.{key}")


def test_metrics_and_keys_of_stats_of_a_gate_stay(limited, upstream, last):
    metrics, stats = {}, {}
    for binary in (last, BINARY):
        gate = limited(RICH, binary=binary)
        offer_much(gate, upstream)
        metrics[binary] = {(name, frozenset(label for label, _ in labels)) for name, labels in shown_metrics(gate)}
        stats[binary] = set(keys_of(gate.stats))
    assert metrics[last] - metrics[BINARY] == set()
    assert stats[last] - stats[BINARY] == set()


@on_each_store
def test_metrics_and_keys_of_stats_stay_but_for_those_on_the_page(start_gate, keep, tmp_path, shared_store, last):
    metrics, stats = {}, {}
    for binary in (last, BINARY):
        folder = tmp_path / binary.parent.name
        folder.mkdir(exist_ok=True)
        limits = "maxHourlySeries: 5\ntenants: {default: {maxHourlySeries: 5}}\n"
        fleet = keep(MixedFleet(start_gate, folder, shared_store, limits, gates=1, binary=binary))
        fleet.offer(0, numbered(9), "shop")
        metrics[binary], stats[binary] = shown_metrics(fleet.gates[0]), set(keys_of(fleet.gates[0].stats))
    gone = quoted("Metrics")
    kept_names = {name for name, _ in metrics[BINARY]}
    assert [(name, dict(labels)) for name, labels in metrics[last] - metrics[BINARY]
            if not ({value for _, value in labels} if name in kept_names else {name}) & gone] == []
    assert stats[last] - stats[BINARY] <= gone


def test_alerts_and_rules_keep_their_names(last):
    def names(release):
        return {name for file in ("alerts", "rules")
                for name in re.findall(r"(?:alert|record): (\S+)", (release / f"monitoring/{file}.yaml").read_text())}

    assert names(LAST / "source") - names(REPOSITORY) == set()


def test_lines_of_the_log_stay_but_for_those_on_the_page(last):
    def lines(release):
        return set(re.findall(r"^(?:\| |- )`([^`]+)`(?: \||$)", (release / "docs/logs.md").read_text(), re.MULTILINE))

    assert len(lines(REPOSITORY)) > 100
    assert lines(LAST / "source") - lines(REPOSITORY) <= quoted("Metrics")

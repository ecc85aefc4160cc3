"""What a finding says to paste stops the explosion and takes nothing else: a real Prometheus and a real vmagent load it."""

import collections
import re
import signal
import textwrap
import time

import pytest

from culprits import ask
from exploding_targets import SCENES, Target
from servers import start_sender
from waiting import eventually
from wire import identity, fields, TIMESERIES

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

HEALTHY_SCRAPES = 4
ROOM = 2_000  # series in an hour: some of the explosion are admitted, and the rest refused


EVERY_CHANGE = ("Prometheus", "vmagent")


class Arrived:
    """What reached the store."""

    def __init__(self, store):
        self._store, self._read, self.times = store, 0, collections.defaultdict(list)

    def look(self):
        """By series (its labels) when its samples are of, milliseconds."""
        requests = self._store.requests[self._read:]
        self._read += len(requests)
        for request in requests:
            for number, _, payload, _, _ in fields(request.raw):
                if number != TIMESERIES:
                    continue
                series = frozenset(identity(payload))
                self.times[series] += [dict((n, v) for n, _, v, _, _ in fields(sample)).get(2, 0)
                                       for kind, _, sample, _, _ in fields(payload) if kind == 2]
        return self.times


def labels_of(series):
    return {name.decode(): value.decode() for name, value in series}


@pytest.mark.parametrize("scene,sender_name", [
    pytest.param(scene, name, id=f"{scene.name.replace(' ', '-')}-{name}",
                 marks=[] if scene is SCENES[0] and name in EVERY_CHANGE else pytest.mark.extended)
    for scene in SCENES for name in scene.senders])
def test_a_rule_that_is_pasted_stops_it_and_takes_nothing_else(scene, sender_name, start_gate, upstream, keep, tmp_path,
                                                                   record_property):
    gate = start_gate(f"--upstream.url={upstream.url}", f"--maxHourlySeries={ROOM}")
    targets = {job: keep(Target(lines, scene.exploding.get(job))) for job, lines in scene.healthy.items()}
    sender = keep(start_sender(sender_name, tmp_path, gate, targets))
    arrived = Arrived(upstream)
    eventually(lambda: all(target.asked >= HEALTHY_SCRAPES for target in targets.values()), "healthy scrapes", 30)
    time.sleep(2)
    lines = sum(len(target.lines) for target in targets.values())
    eventually(lambda: len(ours(arrived.look())) >= lines, "all healthy series have come", 30)
    healthy = set(arrived.times)
    record_property("series before", len(ours(healthy)))
    for target in targets.values():
        target.is_exploding = True
    if not scene.has_rule:
        found, = eventually(lambda: [each for each in findings(gate, scene) if each["refused"]], "it has exploded", 60)
        assert found["remedy"]["relabel"] == "", found
        assert found["remedy"]["note"]
        record_property("rule", "none: " + found["remedy"]["note"])
        return
    rules = eventually(lambda: rules_of(gate, scene), "rules are offered", 90)
    record_property("rule", "".join(rules))
    record_property("series with it", len(ours(arrived.look())))
    relabel = "    metric_relabel_configs:\n" + textwrap.indent("".join(rules), "      ")
    sender.file.write_text(sender.file.read_text().replace("']}]\n", f"']}}]\n{relabel}"))
    sender.process.send_signal(signal.SIGHUP)
    eventually(lambda: no_more(arrived, targets, scene), "none of it comes any more", 60)
    check_healthy(arrived, targets, healthy)
    record_property("series after", len(ours({series for series, times in arrived.times.items() if times})))


def ours(all_series):
    """Those of the targets, and not what a sender says of a scrape."""
    return {series for series in all_series if not re.match("up$|scrape_", labels_of(series)["__name__"])}


def findings(gate, scene):
    return [each for each in ask(gate, "findings") if each["label"] in scene.finds.split("|")]


def rules_of(gate, scene):
    """All that it takes, once the gate has seen so much that it offers them."""
    found = [each["remedy"]["relabel"] for each in findings(gate, scene)]
    return found if len(found) == scene.rules and all(found) else None


def no_more(arrived, targets, scene):
    """For three scrapes."""
    arrived.look()
    for samples in arrived.times.values():
        samples.clear()
    before = {job: target.asked for job, target in targets.items()}
    eventually(lambda: all(target.asked >= before[job] + 4 for job, target in targets.items()), "scrapes", 30)
    return not [series for series, times in arrived.look().items() if times and scene.is_exploding(labels_of(series))]


def check_healthy(arrived, targets, healthy):
    """Each of them has one sample of each scrape, and no other comes."""
    lines = sum(len(target.lines) for target in targets.values())
    assert len(ours(healthy)) == lines
    scrapes = {dict(labels_of(series))["job"]: len(times) for series, times in arrived.times.items()
               if labels_of(series)["__name__"] == "up"}
    for series, times in arrived.times.items():
        labels = labels_of(series)
        if times or series in healthy:
            assert series in healthy, labels
            assert len(set(times)) == len(times), (labels, times)
            assert abs(len(times) - scrapes[labels["job"]]) <= 1, (labels, times, scrapes)

"""What a finding says to paste stops the explosion: a real Prometheus and a real vmagent, before and after."""

import itertools
import signal
import textwrap

import pytest

from answering import Answering
from culprits import ask
from servers import Server
from waiting import eventually

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

PATHS, IDS = 4, 400


def exploding():
    """A program that is measured, with a label that has new values at every scrape."""
    numbers = itertools.count()

    def figures(_):
        lines = ["# TYPE http_requests_total counter"]
        for path in range(PATHS):
            lines += [f'http_requests_total{{path="/{path}",trace_id="t{next(numbers):08}"}} 1'
                      for _ in range(IDS // PATHS)]
        return ("\n".join(lines) + "\n").encode()

    return Answering(figures)


def scrape_config(target, remedy=""):
    relabel = "    metric_relabel_configs:\n" + textwrap.indent(remedy, "      ") if remedy else ""
    return (f"global: {{scrape_interval: 1s}}\nscrape_configs:\n  - job_name: shop\n    static_configs: [{{targets: "
            f"['127.0.0.1:{target.server_port}']}}]\n{relabel}")


def prometheus(folder, gate):
    return Server("prometheus", lambda port: [f"--config.file={folder}/scrape.yml", f"--storage.tsdb.path={folder}/data",
                                                     f"--web.listen-address=127.0.0.1:{port}"], folder, "/-/ready")


def vmagent(folder, gate):
    return Server("vmagent", lambda port: [
        f"-promscrape.config={folder}/scrape.yml", f"-httpListenAddr=127.0.0.1:{port}", f"-remoteWrite.tmpDataPath={folder}/queue",
        f"-remoteWrite.url={gate.url}/api/v1/write", "-remoteWrite.flushInterval=200ms", "-memory.allowedBytes=268435456"],
        folder, "/health")


SENDERS = {"Prometheus": prometheus, "vmagent": vmagent}


@pytest.mark.parametrize("name", SENDERS)
def test_a_rule_that_is_pasted_stops_it(name, start_gate, tmp_path):
    gate = start_gate("--upstream.url=discard:", "--maxHourlySeries=600")
    target = exploding()
    write = f"remote_write:\n  - url: {gate.url}/api/v1/write\n    queue_config: {{batch_send_deadline: 200ms}}\n"
    (tmp_path / "scrape.yml").write_text(scrape_config(target) + (write if name == "Prometheus" else ""))
    sender = SENDERS[name](tmp_path, gate)
    try:
        found, = eventually(lambda: [each for each in ask(gate, "findings") if each["series"] > 1200], "it has exploded", 60)
        assert (found["metric"], found["label"], found["job"], found["sender"]) == (
            "http_requests_total", "trace_id", "shop", "127.0.0.1")
        assert found["userAgent"].lower().startswith(name.lower())
        (tmp_path / "scrape.yml").write_text(
            scrape_config(target, found["remedy"]["relabel"]) + (write if name == "Prometheus" else ""))
        sender.process.send_signal(signal.SIGHUP)

        def refused():
            return {each["labels"]["trace_id"] for each in ask(gate, "refused", match='{trace_id!=""}', limit=1000)}

        def is_quiet():
            """What was on its way has come, and nothing comes for three scrapes more."""
            before, scrapes = refused(), target.asked
            eventually(lambda: target.asked >= scrapes + 3, "three scrapes", 30)
            return refused() == before

        eventually(is_quiet, "no series with the label come any more", 60)
        assert target.asked > 5
    finally:
        sender.stop()
        target.stop()

"""docs/recipes: its snippets, run with the programs that they are for. tests/files/test_documents.py reads all of them."""

import base64
import json
import re
import shlex
import signal

import pytest
import yaml

import client
import documents
import recorded
import servers
import traffic
import wire
from recipes import GATE, PROMETHEUS, RECIPES, SINGLE, at, general, numbers, shell, snippet
from tables import check_rows
from waiting import eventually
from world import time

slow, extended = [pytest.mark.slow], [pytest.mark.extended, pytest.mark.slow]


def address(server):
    return f"127.0.0.1:{server.port if isinstance(server, servers.Server) else server.address[1]}"


def scraping(text, *targets):
    """prometheus.yml: what the page has, scraping every second and sending soon."""
    config = yaml.safe_load(text) or {}
    for remote in config.get("remote_write", []):
        remote["queue_config"] = {"batch_send_deadline": "200ms"}
    jobs = [{"job_name": name, "static_configs": [{"targets": [target]}]} for name, target in targets]
    return yaml.safe_dump({"global": {"scrape_interval": "1s"}, "scrape_configs": jobs, **config})


def before_victoria_metrics(start_gate, store, recipe=SINGLE):
    return start_gate(config=at(snippet(recipe, "yaml", GATE), victoria_metrics=address(store)))


def has_arrived(gate, store):
    """By the commands of the pages."""
    eventually(lambda: min(numbers(at(general("senders"), gate=address(gate)))) > 0, "samples come and are stored")
    in_store = at(snippet(SINGLE, "sh"), victoria_metrics=address(store))
    stored, = eventually(lambda: json.loads(shell(in_store))["data"]["result"], "they are in the store")
    assert float(stored["value"][1]) > 100
    assert json.loads("{" + shell(at(general("stores"), gate=address(gate))) + "}")["delivery"]["stored"] > 0


# --- senders

@pytest.mark.parametrize("heading, newest", [
    pytest.param("Prometheus", False, marks=slow), pytest.param("Prometheus", True, marks=extended),
    pytest.param("Prometheus, remote write 2", True, marks=extended)])
def test_prometheus(start_gate, victoria_metrics, keep, tmp_path, heading, newest):
    recipe = ("senders", heading)
    gate = before_victoria_metrics(start_gate, victoria_metrics, recipe if "2" in heading else SINGLE)
    text = at(snippet(recipe, "yaml", PROMETHEUS), gate=address(gate))
    prometheus = keep(servers.Prometheus(
        tmp_path, lambda port: scraping(text, ("prometheus", f"127.0.0.1:{port}")), newest=newest))
    has_arrived(gate, victoria_metrics)
    if "2" in heading:
        assert gate.metric("seriesgate_requests_forwarded_total", kind="translated") > 0  # so it was version 2
        assert numbers(at(snippet(recipe, "sh"), gate=address(gate))) == [0]
    else:
        eventually(lambda: [lag for lag in prometheus.ask(snippet(recipe, "promql")).values() if 0 <= lag < 30],
                   "it knows how far it is, and that is not far")


def start_vmagent(folder, command, addresses, *flags, newest=False):
    """As the page has it, in this folder."""
    def all_flags(port):
        (folder / "prometheus.yml").write_text(scraping("", ("vmagent", f"127.0.0.1:{port}")))
        words = [word.replace("=prometheus.yml", f"={folder}/prometheus.yml").replace("/var/lib/vmagent", f"{folder}/queue")
                 for word in shlex.split(at(command, **addresses))]
        assert words[0] == "vmagent"
        return [*words[1:], *flags, f"-httpListenAddr=127.0.0.1:{port}", "-remoteWrite.flushInterval=200ms",
                "-memory.allowedBytes=268435456"]

    return servers.Server("vmagent", all_flags, folder, "/health", newest=newest)


@pytest.mark.parametrize("newest", [pytest.param(False, marks=slow), pytest.param(True, marks=extended)])
def test_vmagent(start_gate, victoria_metrics, keep, tmp_path, newest):
    gate = before_victoria_metrics(start_gate, victoria_metrics)
    run_it, check = [block for kind, block in documents.FENCE.findall(RECIPES["senders", "vmagent"])]
    vmagent = keep(start_vmagent(tmp_path, run_it, {"gate": address(gate)}, newest=newest))
    has_arrived(gate, victoria_metrics)

    def counts_an_answer():  # a moment after the store has the samples
        page = shell(at(check, vmagent=address(vmagent))).splitlines()
        return [line for line in page if 'status_code="2XX"' in line and line[-2:] != " 0"]

    eventually(counts_an_answer, "vmagent counts the gate's answer")


# --- stores

def send(to, series, moment, *headers, path=client.WRITE):
    return client.send(("127.0.0.1", int(address(to).split(":")[1])), traffic.body(series, moment), [*recorded.HEADERS, *headers], path)


@pytest.mark.slow
def test_prometheus_as_a_store_and_its_trap(start_gate, keep, tmp_path):
    recipe = ("stores", "Prometheus")
    flag, = re.findall(r"`(--web\.[\w-]+)`", RECIPES[recipe])
    now = int(time.time() * 1000)
    late, fresh = traffic.numbered(1), traffic.numbered(1, start=1)
    for text, status, stored in ((snippet(recipe, "yaml", PROMETHEUS), 204, 2), ("", 400, 1)):
        folder = tmp_path / str(status)
        folder.mkdir()
        store = keep(servers.Prometheus(folder, scraping(text), flag))
        gate = start_gate(config=at(snippet(recipe, "yaml", GATE), prometheus=address(store)))
        assert send(gate, late, now).status == 204
        both = wire.pack(wire.unpack(traffic.body(late, now - 60_000)) + wire.unpack(traffic.body(fresh, now)))
        reply = gate.send(both, recorded.HEADERS)
        assert (reply.status, b"out of order" in reply.body) == (status, status == 400)
        assert list(store.ask("count(m)").values()) == [stored]


TENANT, OTHER = ("X-Scope-OrgID", "team-a"), ("THANOS-TENANT", "team-a")
BASIC = "Basic " + base64.b64encode(b"123456:secret").decode()
#: Where a sender writes and with what; where the store gets it, and one header that it gets.
STORES = {
    "VictoriaMetrics, cluster": ("/insert/7/prometheus/api/v1/write", (), "/insert/7/prometheus/api/v1/write", ()),
    "Mimir": ("/api/v1/push", (TENANT,), "/api/v1/push", TENANT),
    "Thanos Receive": ("/api/v1/receive", (OTHER,), "/api/v1/receive", OTHER),
    "Cortex": ("/api/v1/push", (TENANT,), "/api/v1/push", TENANT),
    "Grafana Cloud": ("/api/v1/write", (), "/api/prom/push", ("Authorization", BASIC)),
    "Amazon": ("/api/v1/write", (), "/workspaces/ws-1234/api/v1/remote_write", ()),
}


def test_a_store_gets_what_its_recipe_says(start_gate, upstream, tmp_path):
    secret = tmp_path / "secret"
    secret.touch(0o600)
    secret.write_text("secret\n")

    def gets_it(heading, path, headers, target, header):
        text = re.sub(r"https?://[^/\s]+", upstream.url.removesuffix("/api/v1/write"), snippet(("stores", heading), "yaml", GATE))
        gate = start_gate(config=text.replace("/etc/seriesgate/password", str(secret)))
        upstream.clear()
        for replica in "ab":
            assert send(gate, traffic.numbered(5, cluster="c", __replica__=replica), 1, *headers, path=path).status == 204
        requests = upstream.requests
        assert [request.target for request in requests] == [target] * 2
        assert not header or requests[0].get(header[0]) == header[1]
        assert gate.current() == (5 if heading in ("Mimir", "Cortex") else 10)  # a pair counts once
        if headers or "cluster" in heading:
            assert set(traffic.tenants(gate.stats)) == {"team-a" if headers else "7"}

    check_rows({heading: (heading, *row) for heading, row in STORES.items()}, gets_it)


# --- moving

RELOADED = "prometheus_config_last_reload_success_timestamp_seconds"


@pytest.mark.slow
def test_in_front_of_a_production_and_back(start_gate, victoria_metrics, keep, tmp_path):
    recipe = ("moving", "In front of a running production")
    listen = f"127.0.0.1:{servers.free_port()}"
    here = {"gate": listen, "victoria_metrics": address(victoria_metrics)}
    configs, writes = ({where: at(snippet(recipe, "yaml", f"{start}, {where}"), **here) for where in ("beside", "between")}
                       for start in (GATE, PROMETHEUS))
    gate = start_gate(config=configs["beside"], listen=listen)
    prometheus = keep(servers.Prometheus(tmp_path, lambda port: scraping(writes["beside"], ("p", f"127.0.0.1:{port}"))))

    def goes_on(text=None):
        if text:
            before = prometheus.metric(RELOADED)
            (tmp_path / "prometheus.yml").write_text(scraping(text, ("p", address(prometheus))))
            prometheus.process.send_signal(signal.SIGHUP)
            eventually(lambda: prometheus.metric(RELOADED) > before, "it goes by the new file", 30)
        moment = time.time()
        eventually(lambda: max(victoria_metrics.ask("timestamp(up)").values(), default=0) > moment, "what is newer is stored")

    goes_on()
    eventually(lambda: gate.stats["samples"]["received"] > 0, "the gate sees it too")
    gate.stop()
    gate = start_gate(config=configs["between"], listen=listen)
    goes_on(writes["between"])
    eventually(lambda: gate.stats["samples"]["stored"] > 0, "the gate counts the store's answer")
    assert numbers(at(snippet(recipe, "sh"), **here)) == [1]
    assert gate.reload(configs["between"].replace("mode: observe\n", "")).body == b"configuration reloaded\nmode observe -> enforce\n"
    assert gate.reload(configs["between"]).body == b"configuration reloaded\nmode enforce -> observe\n"
    goes_on(writes["between"].replace(listen, here["victoria_metrics"]))
    seen = gate.stats["samples"]["received"]
    goes_on()
    assert gate.stats["samples"]["received"] == seen

    def scraped(server):
        found = json.loads(server.get("/api/v1/query", query="up[5m]"))["data"]["result"][0]["values"]
        return sorted({moment for moment, _ in found})

    stored, all_scrapes = scraped(victoria_metrics), scraped(prometheus)
    lost = [sum(before < moment < after for moment in all_scrapes) for before, after in zip(stored, stored[1:])]
    assert max(lost) < 4, stored


@pytest.mark.slow
def test_the_queries_find_whom_a_limit_would_hit(start_gate, keep, tmp_path):
    whom, metrics, observed = [block for kind, block in documents.FENCE.findall(RECIPES["moving", "Whom would a limit hit?"])]
    gate = start_gate(config="""
upstream: {url: "discard:"}
limits: [{name: per-namespace, each: [namespace], mode: observe, maxHourlySeries: 270}]
""")
    store = keep(servers.Prometheus(tmp_path, scraping("", ("seriesgate", address(gate))), "--web.enable-remote-write-receiver"))
    now = int(time.time() * 1000)
    orders = traffic.numbered(300, name="orders", namespace="shop", job="shop")
    for series, moment in ((orders[250:], now - 1_800_000), (orders[:250], now),  # 50 of them ended half an hour ago
                           (traffic.numbered(150, name="orders", namespace="infra", job="infra"), now)):
        assert (send(store, series, moment).status, send(gate, series, moment).status) == (204, 204)
    assert "> 20000" in whom
    found = store.ask(whom.replace("20000", "270"))
    assert {dict(labels)["namespace"]: value for labels, value in found.items() if labels} == {"shop": 300}
    assert store.ask(metrics)[("__name__", "orders"), ("job", "shop")] == 300
    hit = eventually(lambda: store.ask(observed), "the gate has been scraped")
    assert [(dict(labels)["limit"], dict(labels)["group"], value) for labels, value in hit.items()] == [
        ("per-namespace", '{namespace="shop"}', 30)]


@pytest.mark.slow
def test_from_the_limit_of_vmagent(start_gate, victoria_metrics, keep, tmp_path):
    recipe = ("moving", "From vmagent's limit")
    rows = [re.findall(r"`([^`]+)`", row) for row in re.findall(r"^\| `.*$", RECIPES[recipe], re.MULTILINE)]
    (flag, key), _, (current, its_current), (dropped, its_dropped) = rows
    limited, = re.findall(rf"^{key}$", snippet(recipe, "yaml"), re.MULTILINE)
    command = snippet(recipe, "sh", "vmagent")
    folders = [tmp_path / "before", tmp_path / "after"]
    for folder in folders:
        folder.mkdir()
    agent = keep(start_vmagent(folders[0], command, {"gate": address(victoria_metrics)}, flag.replace("1000000", "100")))
    eventually(lambda: agent.metric(dropped) > 0, "vmagent drops")
    assert agent.metric(current) == 100
    agent.stop()

    text = at(snippet(recipe, "yaml"), victoria_metrics=address(victoria_metrics)).replace(limited, "maxHourlySeries: 100")
    gate = start_gate(config=text.replace("/var/lib/seriesgate", f"{tmp_path}/state"))
    keep(start_vmagent(folders[1], command, {"gate": address(gate)}))
    eventually(lambda: f"\n{its_dropped[:-1]}," in gate.get("/metrics").body.decode(), "the gate refuses")
    shown = shell(at(snippet(recipe, "sh", "curl"), gate=address(gate)))
    assert shown == f"{its_current} 100\n"

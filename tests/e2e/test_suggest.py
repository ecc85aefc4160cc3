"""seriesgate suggest: a first configuration from a real Prometheus and a real VictoriaMetrics, and why there is none."""

import json
import subprocess

import pytest
import yaml

from answering import impostor  # noqa: F401 (a fixture)
from gate import BINARY, run, why_it_comes_to_nothing
from servers import PrometheusStore, VictoriaMetrics
from tables import check_rows
from traffic import body, figures, limits, numbered
from upstream import unused_port
from waiting import eventually
from web_files import ALICE_CHANGED, users
from world import time

SERIES = [*numbered(900, name="requests", job="shop", namespace="shop"),
          *numbered(60, name="requests", job="node", namespace="infra"),
          *numbered(50, name="errors", job="node", namespace="${odd}: 'name'"),
          *numbered(7, name="up")]


def suggested(url, *flags):
    """The configuration, as text."""
    made = run("suggest", f"--from={url}", *flags, seconds=90)
    assert (made.returncode, made.stderr) == (0, ""), made
    return made.stdout


def failure(*flags):
    return why_it_comes_to_nothing("suggest", *flags, seconds=90)


@pytest.fixture
def store(real_store):
    """It has SERIES."""
    real_store.write(body(SERIES, int(time.time() * 1000)))
    if isinstance(real_store, PrometheusStore):  # it keeps what it has counted for half a minute: nobody asks before that
        eventually(lambda: real_store.metric("prometheus_tsdb_head_series") == len(SERIES), "all are in the head")
    return real_store


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_gate_with_the_configuration_of_its_store_would_refuse_nothing(store, start_gate, tmp_path):
    text = suggested(store.url)
    file = tmp_path / "suggested.yaml"
    file.write_text(text)
    checked = run(f"--config.file={file}", "--check-config")
    assert (checked.returncode, checked.stderr) == (0, "") and ": ok\n" in checked.stdout
    made = yaml.safe_load(text)
    assert made["mode"] == "observe" and made["upstream"]["url"] == f"{store.url}/api/v1/write"

    gate = start_gate(config=text)
    now = int(time.time() * 1000)
    for each in (now, now + 1):
        assert gate.send(body(SERIES, each)).status == 204
    stats = gate.stats
    assert (stats["mode"], stats["limits"][0]["name"]) == ("observe", "per-namespace")
    assert figures(stats["windows"], "hourly") == (1600, len(SERIES), 0)
    # Prometheus does not tell how many series a day has: 0 is no limit.
    assert figures(stats["windows"], "daily") == (1600 if "protocol" in made["upstream"] else 0, len(SERIES), 0)
    # 1.5 times the series. The limit goes by infra, and shop, which has more than twice as many, has an override.
    assert {name: figures(each) for name, each in limits(stats, "per-namespace").items()} == {
        "shop": (1400, 900, 0), "infra": (90, 60, 0), "${odd}: 'name'": (90, 50, 0)}
    assert f": {len(SERIES):,}.\nmaxHourlySeries: 1600\n" in text
    assert "#             900  shop\n#              60  infra\n#              50  ${odd}: 'name'\nlimits:\n" in text


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_limit_may_go_by_another_label(store):
    by_metric = yaml.safe_load(suggested(store.url, "--by=metric"))["limits"][0]
    assert (by_metric["name"], by_metric["each"], "match" in by_metric) == ("per-metric", ["__name__"], False)
    by_job = yaml.safe_load(suggested(f"{store.url}/", "--by", "job"))["limits"][0]
    assert by_job["maxHourlySeries"] == 170
    assert [(each["group"], each["maxHourlySeries"]) for each in by_job["overrides"]] == [({"job": "shop"}, 1400)]
    assert failure(f"--from={store.url}", "--by=nothing") == (
        f"seriesgate suggest: {store.url}: --by: the store names no series with the label 'nothing'")


@pytest.mark.slow
def test_yesterday_counts_where_a_day_has_just_begun(victoria_metrics):
    now = int(time.time() * 1000)
    victoria_metrics.write(body(SERIES, now - 86_400_000), body(SERIES[:5], now))
    text = suggested(victoria_metrics.url)
    assert f"\n# All series of the larger of today and yesterday (UTC): {len(SERIES):,}.\n" in text


@pytest.mark.slow
def test_a_store_without_series_has_no_configuration(victoria_metrics):
    assert failure(f"--from={victoria_metrics.url}").endswith(
        ": the store has no series yet, or has not counted them: ask again in a minute")


# --- why there is none

PATH = "/api/v1/status/tsdb"
NO_ANSWERS = {
    "a page": (b"<html>", 200, "the answer is not that of a Prometheus or VictoriaMetrics"),
    "not there": (b"", 404, f"{PATH} is not there (404): is this the root of a Prometheus or VictoriaMetrics?"),
    "a stranger": (b"", 401, "the store wants to know who asks (401): --username and --password-file, or "
                             "--bearer-token-file, say it"),
    "nobody's business": (b"", 403, "this user may not see the store's status (403)"),
    "an error": (b"\x1b[2Jbusy", 503, f"{PATH} answers 503"),
    "an error of the API": (json.dumps({"status": "error", "error": "too \x1b many"}).encode(), 422,
                            f"{PATH} answers 422: too ? many"),
}


def test_why_there_is_no_configuration_is_one_line(impostor, start_gate):  # noqa: F811
    """Answers that are too large or too deep: test_top.py, for both ask by src/top/client.cpp."""
    def is_said(answer, status, said):
        url = impostor(answer, status)
        assert failure(f"--from={url}") == f"seriesgate suggest: {url}: {said}"

    check_rows(NO_ANSWERS, is_said)
    holder, port = unused_port()
    address = f"127.0.0.1:{port}"
    with holder:
        assert failure(f"--from=http://{address}") == (
            f"seriesgate suggest: http://{address}: connecting to {address}: Connection refused")
    assert failure() == "seriesgate: suggest: --from: needs the store's URL, such as http://127.0.0.1:9090"
    gate = start_gate("--upstream.url=discard:")
    assert " is not there (404): is this the root of " in failure(f"--from={gate.url}")


def test_a_configuration_that_finds_no_room_is_an_error(impostor):  # noqa: F811
    url = impostor(json.dumps({"status": "success", "data": {
        "headStats": {"numSeries": 100}, "seriesCountByMetricName": [{"name": "up", "value": 100}],
        "labelValueCountByLabelName": [], "seriesCountByLabelValuePair": []}}).encode())
    with open("/dev/full", "w") as full:
        made = subprocess.run([BINARY, "suggest", f"--from={url}"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert (made.returncode, made.stderr) == (1, "seriesgate: stdout: No space left on device\n")


@pytest.mark.slow
def test_a_store_that_wants_to_know_who_asks_is_told(keep, tmp_path):
    name, password, _ = ALICE_CHANGED
    (tmp_path / "web.yml").write_text(users(ALICE_CHANGED))
    right, wrong = tmp_path / "right", tmp_path / "wrong"
    right.write_text(password + "\n")
    wrong.write_text("guess\n")
    server = keep(VictoriaMetrics(tmp_path, f"-httpAuth.username={name}", f"-httpAuth.password={password}"))
    assert "(401): --username" in failure(f"--from={server.url}")
    assert failure(f"--from={server.url}", f"--username={name}", f"--password-file={wrong}").endswith(
        ": the store does not know these credentials (401)")
    assert "no series yet" in failure(f"--from={server.url}", f"--username={name}", f"--password-file={right}")

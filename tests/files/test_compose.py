"""docker/: what compose starts, as far as one can tell without an engine. scripts/test-image.sh builds and runs the image itself."""

import json
import re

import pytest
import yaml

import servers
from commands import output_of, takes
from gate import REPOSITORY
from manifests import VERSION, drain_seconds, read

pytestmark = pytest.mark.text

FOLDER = REPOSITORY / "docker"
DOCKERFILE = (FOLDER / "Dockerfile").read_text()
COMPOSE, = read(FOLDER / "compose.yaml")
SERVICES = COMPOSE["services"]
SETTINGS, = read(FOLDER / "seriesgate.yaml")


def test_images_are_pinned_and_ours_is_of_this_version():
    assert SERVICES.keys() == {"victoria-metrics", "seriesgate", "prometheus"}
    assert SERVICES["seriesgate"]["image"] == f"seriesgate:{VERSION}"
    for name, service in SERVICES.items():
        assert re.fullmatch(r"[\w./-]+:v?\d+\.\d+\.\d+", service["image"]), name
    build = SERVICES["seriesgate"]["build"]
    assert (FOLDER / build["context"] / build["dockerfile"]).resolve() == FOLDER / "Dockerfile"


def test_volumes_are_declared_and_files_are_there():
    used = set()
    for service in SERVICES.values():
        for volume in service["volumes"]:
            source, place, *mode = volume.split(":")
            assert place.startswith("/")
            if source.startswith("."):
                assert (FOLDER / source).exists() and mode == ["ro"], volume
            else:
                used.add(source)
    assert used == COMPOSE["volumes"].keys()
    names = [each["name"] for each in COMPOSE["volumes"].values()]
    assert len(set(names)) == len(names) and all(name.startswith("seriesgate-") for name in names)


def test_the_gate_sees_a_configuration_that_an_editor_has_replaced():
    """A file that is mounted by itself stays the old one, and a reload says that all is well."""
    sources = {place: FOLDER / source for source, place, *_ in (volume.split(":") for volume in SERVICES["seriesgate"]["volumes"])}
    assert sources["/etc/seriesgate"].is_dir() and (sources["/etc/seriesgate"] / "seriesgate.yaml").exists()


def test_the_state_is_in_a_volume_that_the_image_has_made_for_its_user():
    places = [volume.split(":")[1] for volume in SERVICES["seriesgate"]["volumes"]]
    assert SETTINGS["state"]["dir"] in places
    assert json.loads(re.search(r"^VOLUME (.*)$", DOCKERFILE, re.M)[1]) == [SETTINGS["state"]["dir"]]
    assert SERVICES["seriesgate"]["read_only"] is True


def test_who_waits_for_whom_is_there():
    for service in SERVICES.values():
        waits = service.get("depends_on", [])
        assert set(waits) <= SERVICES.keys()
        for name, how in waits.items() if isinstance(waits, dict) else []:
            assert how == {"condition": "service_healthy"} and "healthcheck" in SERVICES[name]


def test_the_health_check_is_that_of_the_image_and_asks_where_it_listens():
    check = SERVICES["seriesgate"]["healthcheck"]
    options, command = re.search(r"^HEALTHCHECK (.*?)CMD (\[.*\])$", DOCKERFILE.replace("\\\n", " "), re.M).groups()
    assert check["test"] == ["CMD", *json.loads(command)]
    for key, value in re.findall(r"--([\w-]+)=(\w+)", options):
        assert str(check[key.replace("-", "_")]) == value
    port = SETTINGS["listen"].rpartition(":")[2]
    assert check["test"][-1] == f"http://127.0.0.1:{port}/-/healthy"
    assert f"127.0.0.1:{port}:{port}" in SERVICES["seriesgate"]["ports"]
    assert f"\nEXPOSE {port}\n" in DOCKERFILE


def test_the_gate_understands_its_configuration():
    takes(FOLDER / "seriesgate.yaml")
    store = re.fullmatch(r"http://([\w-]+):(\d+)/.*", SETTINGS["upstream"]["url"])
    assert store[1] in SERVICES
    assert any(published.endswith(f":{store[2]}") for published in SERVICES[store[1]]["ports"])
    assert SETTINGS["upstream"]["protocol"] == "v1"  # all that VictoriaMetrics takes


def test_there_is_time_to_drain():
    granted = re.fullmatch(r"(\d+)s", SERVICES["seriesgate"]["stop_grace_period"])
    assert drain_seconds((FOLDER / "seriesgate.yaml").read_text()) < int(granted[1])


def test_prometheus_understands_its_configuration_and_writes_to_the_gate(tmp_path):
    settings, = read(FOLDER / "prometheus.yml")
    assert [each["url"] for each in settings["remote_write"]] == [
        f"http://seriesgate:{SETTINGS['listen'].rpartition(':')[2]}/api/v1/write"]
    rules, = settings["rule_files"]
    mounted = {volume.split(":")[1]: volume.split(":")[0] for volume in SERVICES["prometheus"]["volumes"]}
    folder, _, pattern = rules.rpartition("/")
    found = list((FOLDER / mounted[folder]).glob(pattern))
    assert {file.name for file in found} >= {"rules.yaml", "alerts.yaml"}
    file = tmp_path / "prometheus.yml"
    file.write_text(yaml.safe_dump({**settings, "rule_files": [str(each) for each in found]}))
    output_of(servers.binary("promtool"), "check", "config", file)

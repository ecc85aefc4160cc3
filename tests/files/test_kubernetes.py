"""What deploy/kubernetes/ has is what Kubernetes and the gate understand, as far as one can tell without Kubernetes."""

import copy
import json
import re
import subprocess
import sys

import pytest
import yaml

import rule_tests
import servers
from commands import output_of, takes
from dashboards import DASHBOARD
from gate import REPOSITORY
from manifests import (COMPONENTS, FOLDER, LAYOUTS, VALKEY, VERSION, by_name, configuration, containers, documents, drain_seconds, gate,
                       kustomization_of, kustomize, kustomized, mistakes, of_kind, pod, read, workload)
from tables import check_rows, named
from waiting import eventually

pytestmark = pytest.mark.text

CENTRAL = ["fleet", "single"]
SECRETS = ("/etc/seriesgate-secret/fingerprint", "/etc/seriesgate-secret/password")
#: That they are answered with 200: tests/scenes/test_seeing.py.
HEALTH_PATHS = {"/-/healthy", "/-/ready"}


def of_all(layouts):
    """One test of all these layouts."""
    def made(check):
        def test():
            check_rows(named(layouts), check)

        test.__name__ = check.__name__
        return test

    return made


# --- the schema

@of_all(LAYOUTS)
def test_every_document_is_of_its_published_schema(layout):
    found = documents(layout, [*COMPONENTS, VALKEY])
    assert {"ConfigMap"} < {each["kind"] for each in found}
    assert [mistake for each in found for mistake in mistakes(each)] == []


MISTAKES = [
    (lambda it: it.update(apiVersion="apps/v1beta1"), "apps/v1beta1 Deployment: unknown"),
    (lambda it: it["spec"].update(replica=3), "spec: Additional properties are not allowed ('replica' was unexpected)"),
    (lambda it: it["spec"].update(replicas="3"), "spec.replicas: '3' is not of type 'integer'"),
    (lambda it: it["spec"].pop("selector"), "Invalid value for `selector`, must not be `None`"),
    (lambda it: it["spec"]["template"]["spec"]["containers"][0].pop("name"), "Invalid value for `name`, must not be `None`"),
    (lambda it: it["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]["httpGet"].update(prot=1),
     "containers.0.readinessProbe.httpGet: Additional properties are not allowed ('prot' was unexpected)"),
    (lambda it: it["spec"]["template"]["spec"]["containers"][0]["lifecycle"]["preStop"]["sleep"].update(seconds="5"),
     "preStop.sleep.seconds: '5' is not of type 'integer'"),
    (lambda it: it["spec"]["template"]["spec"].update(automountServiceAccountToken="no"), "'no' is not of type 'boolean'"),
    (lambda it: it["spec"]["template"]["spec"].update(volumes={}), "volumes: {} is not of type 'array'"),
    (lambda it: it["metadata"].update(labels={"a": 1}), "metadata.labels.a: 1 is not of type 'string'"),
]


def test_a_mistake_would_be_found():
    def would_be_found(change, mistake):
        deployment = copy.deepcopy(workload("fleet"))
        change(deployment)
        assert any(mistake in each for each in mistakes(deployment)), mistakes(deployment)

    check_rows({f"{at}: {mistake}": (change, mistake) for at, (change, mistake) in enumerate(MISTAKES)}, would_be_found)


# --- who names whom

@of_all(LAYOUTS)
def test_selectors_find_the_pods(layout):
    spec = workload(layout)["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    for spread in pod(layout).get("topologySpreadConstraints", []):
        assert spread["labelSelector"]["matchLabels"] == labels
    for each in of_kind(layout, "PodDisruptionBudget"):
        assert each["spec"]["selector"]["matchLabels"] == labels
    for each in of_kind(layout, "Service"):
        assert each["spec"]["selector"] == labels
    for each in of_kind(layout, "NetworkPolicy"):
        assert each["spec"]["podSelector"]["matchLabels"] == labels
    if layout in CENTRAL:  # one of its Services is scraped: by two each gate would be there twice
        monitor, = of_kind(layout, "ServiceMonitor", components=COMPONENTS)
        wanted = monitor["spec"]["selector"]["matchLabels"].items()
        assert [each["metadata"]["name"] for each in of_kind(layout, "Service") if wanted <= each["metadata"]["labels"].items()] == [
            "seriesgate"]


@of_all(LAYOUTS)
def test_volumes_and_accounts_are_there(layout):
    spec = workload(layout)["spec"]
    claims = {each["metadata"]["name"] for each in spec.get("volumeClaimTemplates", [])}
    volumes = {each["name"]: each for each in pod(layout)["volumes"]}
    assert claims.isdisjoint(volumes)
    mounts = {mount["name"] for each in containers(layout) for mount in each["volumeMounts"]}
    assert mounts == claims | volumes.keys()
    config_map, = of_kind(layout, "ConfigMap")
    assert volumes["configuration"]["configMap"]["name"] == config_map["metadata"]["name"]
    accounts = [each["metadata"]["name"] for each in of_kind(layout, "ServiceAccount")]
    assert accounts == [pod(layout)["serviceAccountName"]] if accounts else "serviceAccountName" not in pod(layout)
    if workload(layout)["kind"] == "StatefulSet":
        named_services = [each for each in of_kind(layout, "Service") if each["metadata"]["name"] == spec["serviceName"]]
        assert [each["spec"]["clusterIP"] for each in named_services] == ["None"]  # it gives pods names, and balances nothing


@of_all(LAYOUTS)
def test_the_image_is_of_this_version(layout):
    assert gate(layout)["image"] == f"seriesgate:{VERSION}"
    assert kustomization_of(FOLDER / layout)["images"] == [{"name": "seriesgate", "newTag": VERSION}]
    for each in containers(layout):
        assert re.fullmatch(r"[\w./-]+:v?\d[\w.]+", each["image"]), "pinned"
    user = re.search(r"^USER (\d+):(\d+)$", (REPOSITORY / "docker/Dockerfile").read_text(), re.M)
    context = {**pod(layout)["securityContext"], **gate(layout)["securityContext"]}
    assert (context["runAsUser"], context["runAsGroup"]) == (int(user[1]), int(user[2]))


# --- ports

def ports(container):
    return {each["name"]: each["containerPort"] for each in container["ports"]}


@of_all(LAYOUTS)
def test_the_gate_listens_where_others_look_for_it(layout):
    settings = yaml.safe_load(configuration(layout))
    assert settings["admin"]["listen"] == f"0.0.0.0:{ports(gate(layout))['admin']}"
    if layout in CENTRAL:
        assert settings["listen"] == f"0.0.0.0:{ports(gate(layout))['write']}"
    for container in containers(layout):
        for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
            if probe in container:
                assert container[probe]["httpGet"]["port"] in ports(container)


@of_all(CENTRAL)
def test_services_and_policies_name_its_ports(layout):
    for service in of_kind(layout, "Service"):
        assert {each["name"]: each["port"] for each in service["spec"]["ports"]} == ports(gate(layout))
        assert all(each["targetPort"] == each["name"] for each in service["spec"]["ports"])
    monitor, = of_kind(layout, "ServiceMonitor", components=COMPONENTS)
    assert [each["port"] for each in monitor["spec"]["endpoints"]] == ["admin"]
    policies = {each["metadata"]["name"]: each["spec"] for each in of_kind(layout, "NetworkPolicy")}
    ingress = [port["port"] for rule in policies["seriesgate"]["ingress"] for port in rule["ports"]]
    assert sorted(ingress) == ["admin", "write"]
    out = {port["port"] for policy in policies.values() for rule in policy.get("egress", []) for port in rule["ports"]}
    settings = yaml.safe_load(configuration(layout))
    urls = [settings["upstream"]["url"], *([settings["shared"]["url"]] if layout == "fleet" else [])]
    assert out == {53, *(int(re.search(r":(\d+)/", url)[1]) for url in urls)}


# --- the gate's own configuration

def test_the_gate_understands_its_configuration(tmp_path):
    secret, file = tmp_path / "secret", tmp_path / "seriesgate.yaml"
    secret.write_bytes(b"s" * 32)
    secret.chmod(0o440)  # as the fleet's Deployment mounts it

    def is_understood(layout):
        text = configuration(layout)
        for path in SECRETS:
            assert (path in text) == (layout == "fleet")
            text = text.replace(path, str(secret))
        file.write_text(text)
        takes(file)

    check_rows(named(LAYOUTS), is_understood)


def place_of(container, path):
    """The mount that a path of the container is in."""
    return next((each for each in container["volumeMounts"] if path.startswith(each["mountPath"] + "/")), None)


@of_all(LAYOUTS)
def test_its_files_are_where_it_looks_for_them(layout):
    container = gate(layout)
    config_map, = of_kind(layout, "ConfigMap")
    path = container["args"][0].removeprefix("--config.file=")
    assert place_of(container, path)["name"] == "configuration"
    assert path.removeprefix(place_of(container, path)["mountPath"] + "/") in config_map["data"]
    settings = yaml.safe_load(configuration(layout))
    if layout == "fleet":
        assert "state" not in settings
        for path in (settings["fingerprint"]["secretFile"], settings["shared"]["passwordFile"]):
            assert place_of(container, path) == {"name": "secret", "mountPath": "/etc/seriesgate-secret", "readOnly": True}
    else:
        state = place_of(container, settings["state"]["dir"])
        assert state["name"] == "state" and not state.get("readOnly", False)


# --- how it runs

@of_all(LAYOUTS)
def test_pods_are_restricted(layout):
    """Source: Kubernetes, Pod Security Standards, "restricted"; and what it does not ask for: a root that cannot be written to."""
    spec = pod(layout)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert spec.keys().isdisjoint({"hostNetwork", "hostPID", "hostIPC"})
    assert not any("hostPath" in volume for volume in spec["volumes"])
    for container in containers(layout):
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False and context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert "hostPort" not in str(container["ports"])
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert container["resources"]["limits"].keys() == {"memory"}


@of_all(LAYOUTS)
def test_its_probes_are_the_gates_and_it_has_time_to_drain(layout):
    container = gate(layout)
    probes = [container[each] for each in ("readinessProbe", "livenessProbe", "startupProbe") if each in container]
    assert len(probes) == (2 if layout == "sidecar" else 3)
    startup = container["startupProbe"]  # until it serves, liveness is not asked for
    granted = re.search(r"TimeoutStartSec=(\d)min", (REPOSITORY / "deploy/systemd/seriesgate.service").read_text())[1]
    # Ready is who knows the store's address: without that a gate would be restarted, and a Prometheus beside it never started.
    assert startup["httpGet"]["path"] == "/-/healthy"
    assert layout == "sidecar" or container["readinessProbe"]["httpGet"]["path"] == "/-/ready"
    assert startup["periodSeconds"] * startup["failureThreshold"] >= (60 * int(granted) if layout == "single" else 60)
    assert {probe["httpGet"]["path"] for probe in probes} <= HEALTH_PATHS
    drains = drain_seconds(configuration(layout))
    pause = container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    sending = 60 if layout == "sidecar" else 0  # Prometheus' own flush, before the gate is told
    assert pod(layout)["terminationGracePeriodSeconds"] > pause + drains + sending


@of_all(CENTRAL)
def test_a_fleet_is_spread_and_one_gate_is_alone(layout):
    spec = workload(layout)["spec"]
    if layout == "single":
        assert (workload(layout)["kind"], spec["replicas"]) == ("StatefulSet", 1)
        assert of_kind(layout, "PodDisruptionBudget") == []
    else:
        assert spec["replicas"] >= 2
        assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
        budget, = of_kind(layout, "PodDisruptionBudget")
        assert budget["spec"]["maxUnavailable"] == 1
        assert "topologySpreadConstraints" in pod(layout)


# --- another configuration, and what is watched

@of_all(LAYOUTS)
def test_another_configuration_is_a_roll_out(layout):
    """Kustomize puts a hash of the files behind the name of a generated ConfigMap, in the pods, too."""
    generator, = kustomization_of(FOLDER / layout)["configMapGenerator"]
    assert "disableNameSuffixHash" not in generator["options"]
    assert (FOLDER / layout / "seriesgate.yaml").read_text() == configuration(layout)
    assert [each["metadata"]["name"] for each in of_kind(layout, "ConfigMap")] == [generator["name"]]


def test_components_are_named_where_they_can_be_taken_in():
    assert {each.name for each in (FOLDER / "components").iterdir()} == {*COMPONENTS, VALKEY}
    assert f"Add ../components/{VALKEY}, if you have no Valkey" in (FOLDER / "fleet/kustomization.yaml").read_text()
    named_there = f"# components: [{', '.join(f'../components/{each}' for each in COMPONENTS)}]\n"
    for layout in CENTRAL:
        assert named_there in (FOLDER / layout / "kustomization.yaml").read_text()
        # A cluster without the operator knows none of its kinds.
        assert of_kind(layout, "ServiceMonitor", "PrometheusRule") == []


def test_the_rules_and_the_dashboard_are_those_of_monitoring(tmp_path):
    rule, = of_kind("single", "PrometheusRule", components=COMPONENTS)
    assert rule["spec"]["groups"] == [group for file in rule_tests.FILES for group in rule_tests.groups(file)]
    *_, dashboard = of_kind("single", "ConfigMap", components=COMPONENTS)
    text, = dashboard["data"].values()
    assert json.loads(text) == DASHBOARD
    assert len(text) < 200_000  # kubectl apply writes it into an annotation once more, of 256 KiB at most
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    subprocess.run([sys.executable, "-B", REPOSITORY / "scripts/kubernetes-monitoring.py", tmp_path], check=True, timeout=30)
    made = {file.relative_to(tmp_path): file.read_bytes() for file in tmp_path.rglob("*.*") if file.is_file()}
    assert len(made) == 4
    for name, content in made.items():
        assert (REPOSITORY / "deploy" / name).read_bytes() == content, "call scripts/kubernetes-monitoring.py"


def test_kustomize_makes_the_same_of_it(tmp_path):
    """Where there is one: scripts/fetch-servers.sh newest."""
    if not kustomize():
        pytest.skip("neither kustomize nor kubectl")

    def is_the_same(layout, components):
        found, hashed = kustomized(layout, components, tmp_path / layout)
        own = "prometheus" if layout == "sidecar" else "seriesgate"
        assert [plain for name, plain in hashed.items() if plain == own and name != plain] == [own]
        assert by_name(found) == by_name(documents(layout, components))

    check_rows({"fleet": ("fleet", [*COMPONENTS, VALKEY]), "single": ("single", COMPONENTS), "sidecar": ("sidecar", [])}, is_the_same)


# --- the Valkey of a fleet

def test_its_valkey_wants_the_password_of_the_gates(tmp_path):
    """The command of the pod, with a Valkey of here and the files at other places."""
    spec, = [each["spec"]["template"]["spec"] for each in of_kind("fleet", "StatefulSet", components=[VALKEY])]
    container, = spec["containers"]
    assert container["securityContext"] == gate("fleet")["securityContext"]
    assert spec["securityContext"]["runAsNonRoot"] is True and spec["automountServiceAccountToken"] is False
    config_map, = [each for each in of_kind("fleet", "ConfigMap", components=[VALKEY]) if each["metadata"]["name"] == "valkey"]
    secrets = {each["secret"]["secretName"] for each in [*spec["volumes"], *pod("fleet")["volumes"]] if "secret" in each}
    assert secrets == {"seriesgate"}
    assert container["volumeMounts"][2] == {"name": "data", "mountPath": "/data"}
    settings = yaml.safe_load(configuration("fleet"))["shared"]
    assert settings["url"] == f"redis://valkey:{ports(container)['valkey']}/0"

    data, file, password, socket = (tmp_path / each for each in ("data", "valkey.conf", "password", "valkey"))
    data.mkdir()
    password.write_text("one line\n")
    file.write_text(config_map["data"]["valkey.conf"].replace("dir /data\n", f"dir {data}\n"))
    shell, flag, command = container["command"]
    for path, here in (("/etc/valkey/valkey.conf", file), ("/etc/valkey-secret/password", password),
                       ("valkey-server ", f"{servers.binary('valkey-server')} ")):
        assert path in command
        command = command.replace(path, str(here))

    def ask(*arguments):
        return subprocess.run([servers.binary("valkey-cli"), "-s", socket, *arguments], capture_output=True, text=True, timeout=10).stdout

    with subprocess.Popen([shell, flag, f"{command} --port 0 --unixsocket {socket}"], stdout=subprocess.DEVNULL) as valkey:
        try:
            eventually(lambda: ask("ping").startswith("NOAUTH"), "Valkey asks for a password", 20, every=0.05)
            assert ask("-a", "one line", "--no-auth-warning", "config", "get", "maxmemory-policy").split() == [
                "maxmemory-policy", "noeviction"]
        finally:
            valkey.terminate()


# --- the Prometheus beside it

def test_the_prometheus_of_the_sidecar_writes_to_it(tmp_path):
    config_map, = of_kind("sidecar", "ConfigMap")
    file = tmp_path / "prometheus.yml"
    file.write_text(config_map["data"]["prometheus.yml"])
    output_of(servers.binary("promtool"), "check", "config", file)
    theirs, ours = yaml.safe_load(file.read_text()), yaml.safe_load(configuration("sidecar"))
    host, port = ours["listen"].split(":")
    assert host == "127.0.0.1"
    assert [each["url"] for each in theirs["remote_write"]] == [f"http://localhost:{port}/api/v1/write"]
    targets = {job["job_name"]: job["static_configs"][0]["targets"] for job in theirs["scrape_configs"]}
    assert targets["seriesgate"] == [f"localhost:{ours['admin']['listen'].split(':')[1]}"]


def test_a_gate_stands_beside_the_prometheus_of_kube_prometheus_stack(tmp_path):
    values, = read(FOLDER / "kube-prometheus-stack/values.yaml")
    config_map, = values["extraManifests"]
    spec, text = values["prometheus"]["prometheusSpec"], config_map["data"]["seriesgate.yaml"]
    assert mistakes(config_map) == []
    assert spec.keys() == {"remoteWrite", "storageSpec", "volumes", "initContainers"}
    claim = spec["storageSpec"]["volumeClaimTemplate"]
    as_a_pod = {"containers": [{"name": "prometheus"}], "initContainers": spec["initContainers"], "volumes": spec["volumes"]}
    assert mistakes({**workload("sidecar"), "spec": {**workload("sidecar")["spec"], "volumeClaimTemplates": [claim], "template": {
        "metadata": {}, "spec": as_a_pod}}}) == []

    ours, = spec["initContainers"]
    theirs = gate("sidecar")  # but for the names of what the operator's pod has already
    for key in ("name", "restartPolicy", "image", "args", "resources"):
        assert ours[key] == theirs[key]
    assert {key: theirs["securityContext"][key] for key in ours["securityContext"]} == ours["securityContext"]
    assert text == configuration("sidecar").split("\n", 1)[1]
    name, = ports(ours)
    assert len(name) <= 15
    for each in ("startupProbe", "livenessProbe"):
        assert ours[each] == {**theirs[each], "httpGet": {**theirs[each]["httpGet"], "port": name}}
    monitor, = values["prometheus"]["additionalPodMonitors"]
    assert [each["port"] for each in monitor["podMetricsEndpoints"]] == [name]
    assert [each["name"] for each in ours["volumeMounts"]] == [spec["volumes"][0]["name"], claim["metadata"]["name"]]
    assert spec["volumes"][0]["configMap"]["name"] == config_map["metadata"]["name"]
    assert [each["url"] for each in spec["remoteWrite"]] == ["http://localhost:9201/api/v1/write"]

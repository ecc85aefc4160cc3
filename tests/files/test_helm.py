"""The chart makes what deploy/kubernetes/ has, and what Kubernetes and the gate understand, as far as one can tell without Helm:
tests/helm/render.go stands for it, which Go builds of Debian's packages."""

import json
import os
import re
import shutil
import subprocess

import jsonschema
import pytest
import yaml

from certificates import Authority
from commands import output_of, takes
from gate import REPOSITORY
from manifests import COMPONENTS, VERSION, Loader, by_name, documents, kustomize, kustomized, mistakes
from tables import check_rows

pytestmark = [pytest.mark.text, pytest.mark.xdist_group("helm")]  # they share the renderer
#: What needs Go: scripts/install-deps.sh --helm.
rendering = pytest.mark.extended

CHART = REPOSITORY / "deploy/helm/seriesgate"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
VALUES = yaml.load((CHART / "values.yaml").read_text(), Loader)
ABOUT = yaml.load((CHART / "Chart.yaml").read_text(), Loader)
SECRET_FOLDER = "/etc/seriesgate-secret"
#: Labels that Helm's own conventions ask for, and the plain manifests have not.
OF_HELM = {"app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"}

STORE = {"upstream": {"url": "http://victoria-metrics:8428/api/v1/write", "protocol": "v1"}}
MONITORED = {"serviceMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}, "dashboard": {"enabled": True}}
SHARED = {"shared": {"url": "redis://valkey:6379/0", "passwordFile": f"{SECRET_FOLDER}/password"}, "replicas": 3,
          "existingSecret": "seriesgate"}


def to_pods(name, port):
    return {"to": [{"podSelector": {"matchLabels": {"app.kubernetes.io/name": name}}}], "ports": [{"protocol": "TCP", "port": port}]}


TO_STORE, TO_VALKEY = to_pods("victoria-metrics", 8428), to_pods("valkey", 6379)
#: Those that are compared with kustomize, by the layout's name.
LAYOUTS = {
    "single": {"config": STORE, **MONITORED, "networkPolicy": {"enabled": True, "egress": [TO_STORE]}},
    "fleet": {"config": STORE, **SHARED, **MONITORED, "networkPolicy": {"enabled": True, "egress": [TO_STORE, TO_VALKEY]}}}
SETS = {
    **LAYOUTS,
    "as little as possible": {"config": STORE},
    "with a Sentinel and limits": {
        **SHARED, "shared": {"sentinel": {"master": "gates", "addresses": ["sentinel:26379"]}},
        "config": {**STORE, "limits": [{"name": "per-team", "each": ["team"], "maxHourlySeries": 1000}]}},
    "with TLS": {
        "config": {"upstream": {"url": "https://store/api/v1/push", "tls": {"caFile": f"{SECRET_FOLDER}/ca.crt"}},
                   "web": {"config": {"file": f"{SECRET_FOLDER}/web.yml"}}},
        "existingSecret": "tls", "scheme": "HTTPS", "serviceMonitor": {"enabled": True, "tlsConfig": {"insecureSkipVerify": True}}},
    "several backends": {"config": {"upstream": {"urls": ["http://a:8428/w", "http://b:8428/w"], "protocol": "v1"}}},
    "no daily limit": {"config": {**STORE, "maxDailySeries": None, "maxHourlySeries": 0}},
    "a monitor that an operator looks for": {
        "config": STORE, "serviceMonitor": {"enabled": True, "interval": "30s", "labels": {"release": "prometheus"}},
        "prometheusRule": {"enabled": True, "labels": {"release": "prometheus"}},
        "dashboard": {"enabled": True, "labels": {"grafana_dashboard": None, "dashboards": "yes"}}},
    "resources and volume": {
        "config": {**STORE, "server": {"threads": 4, "drainTimeout": "1m"}}, "terminationGracePeriodSeconds": 70,
        "storage": {"size": "20Gi", "className": "fast"},
        "resources": {"requests": {"cpu": "2", "memory": "4Gi"}, "limits": {"memory": "8Gi"}}},
    "labels and pods": {
        "config": STORE, "labels": {"team": "observability"}, "image": {"repository": "registry/seriesgate", "tag": "1", "pullPolicy": "Always"},
        "pod": {"tolerations": [{"operator": "Exists"}], "nodeSelector": {"disk": "ssd"}, "imagePullSecrets": [{"name": "registry"}],
                "priorityClassName": "high", "affinity": {"nodeAffinity": {}}}},
    "a ConfigMap of one's own": {"existingConfigMap": "mine"},
    "a fleet's ConfigMap of one's own": {"existingConfigMap": "mine", **SHARED},
}


@pytest.fixture(scope="module")
def renderer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("helm")
    assert shutil.which("go"), "no go: run scripts/install-deps.sh --helm"
    program, source = folder / "render", folder / "go/src/render"
    source.mkdir(parents=True)
    shutil.copy(REPOSITORY / "tests/helm/render.go", source)
    # With this Go finds a package `name/v3` in the folder `name`, too: Debian has some there, which depends on its release.
    (source / "go.mod").write_text("module render\n")
    # Debian's packages only: nothing is fetched.
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": f"{folder / 'go'}:/usr/share/gocode", "GOFLAGS": "",
                   "GOCACHE": str(folder / "cache")}
    output_of("go", "build", "-o", program, "render", env=environment, timeout=300)
    return program


def run_renderer(program, values, release="seriesgate", chart=CHART, kubernetes="v1.30.0"):
    """(exit status, what it prints, errors)."""
    ended = subprocess.run([program, chart, release, kubernetes], input=yaml.safe_dump(values), capture_output=True, text=True,
                           timeout=30)
    return ended.returncode, ended.stdout, ended.stderr


def rendered(program, values, release="seriesgate"):
    """The documents, once the values are of the chart's schema."""
    assert wrong_values(values) == []
    status, text, errors = run_renderer(program, values, release)
    assert (status, errors) == (0, "")
    return json.loads(text)["documents"]


def wrong_values(values):
    """What Helm says of values before it renders: [where: what]. It asks about those of the user and of the chart together."""
    checker = jsonschema.Draft7Validator(SCHEMA)
    return [f"{'.'.join(map(str, each.absolute_path))}: {each.message}" for each in checker.iter_errors(together(values, VALUES))]


def together(theirs, defaults):
    """The user's values over those of the chart; null takes one away."""
    if not isinstance(theirs, dict) or not isinstance(defaults, dict):
        return theirs
    return {key: together(theirs[key], defaults.get(key)) if key in theirs else defaults[key]
            for key in [*defaults, *(key for key in theirs if key not in defaults)] if theirs.get(key, key) is not None}


def plain(documents):
    """Documents of the chart or of kustomize without what only one of them has: Helm's labels, the way to a roll-out, the form and the
    comments of seriesgate.yaml, and how the rules for networks are cut into policies."""
    found = [_without_labels(each) for each in documents]
    policies = [each for each in found if each["kind"] == "NetworkPolicy"]
    for more in policies[1:]:
        assert more["spec"]["podSelector"] == policies[0]["spec"]["podSelector"] and more["spec"]["policyTypes"] == ["Egress"]
        policies[0]["spec"]["egress"] += more["spec"]["egress"]
        found.remove(more)
    for each in found:
        template = each.get("spec", {}).get("template", {})
        template.get("metadata", {}).pop("annotations", None)
        for container in template.get("spec", {}).get("containers", []):
            if container.get("imagePullPolicy") == "IfNotPresent":  # what a tag has without it
                del container["imagePullPolicy"]
        if "seriesgate.yaml" in each.get("data", {}):
            each["data"]["seriesgate.yaml"] = yaml.safe_load(each["data"]["seriesgate.yaml"])
    return found


def _without_labels(value):
    if isinstance(value, dict):
        return {key: _without_labels(each) for key, each in value.items() if key not in OF_HELM}
    return [_without_labels(each) for each in value] if isinstance(value, list) else value


# --- values

def test_the_chart_is_of_this_version():
    assert ABOUT["version"] == ABOUT["appVersion"] == VERSION
    assert {each.name for each in CHART.iterdir()} == {"Chart.yaml", "values.yaml", "values.schema.json", "templates", "files"}


def test_every_value_is_in_the_schema_and_tried():
    assert {name: wrong for name, values in SETS.items() if (wrong := wrong_values(values))} == {}
    assert wrong_values({}) == wrong_values({"enabled": True, "global": {}}) == []
    assert {key for values in SETS.values() for key in values} == VALUES.keys()
    used = "".join(file.read_text() for file in (CHART / "templates").iterdir())
    assert set(re.findall(r"\.Values\.(\w+)", used)) == VALUES.keys()


@pytest.mark.parametrize("values, mistake", [
    ({"replica": 3}, ": Additional properties are not allowed ('replica' was unexpected)"),
    ({"replicas": "3"}, "replicas: '3' is not of type 'integer'"),
    ({"image": {"pullPolicy": "always"}}, "image.pullPolicy: 'always' is not one of ['Always', 'IfNotPresent', 'Never']"),
    ({"image": "seriesgate:1"}, "image: 'seriesgate:1' is not of type 'object'"),
    ({"config": "upstream:\n  url: x\n"}, "config: 'upstream:\\n  url: x\\n' is not of type 'object'"),
    ({"serviceMonitor": True}, "serviceMonitor: True is not of type 'object'"),
    ({"serviceMonitor": {"interval": 15}}, "serviceMonitor.interval: 15 is not of type 'string'"),
    ({"dashboard": {"labels": {"grafana_dashboard": 1}}}, "dashboard.labels.grafana_dashboard: 1 is not of type 'string'"),
    ({"pod": {"hostNetwork": True}}, "pod: Additional properties are not allowed ('hostNetwork' was unexpected)"),
    ({"storage": {"size": "1GB"}}, "storage.size: '1GB' does not match"),
    ({"networkPolicy": {"egress": {}}}, "networkPolicy.egress: {} is not of type 'array'"),
    ({"resources": {"cpu": 1}}, "resources: Additional properties are not allowed ('cpu' was unexpected)"),
])
def test_wrong_values_are_named(values, mistake):
    found, = wrong_values(values)
    assert found.startswith(mistake)


@rendering
def test_values_that_do_not_fit_each_other_are_named(renderer):
    def is_named(values, mistake):
        assert wrong_values(values) == []
        status, text, errors = run_renderer(renderer, values)
        assert (status, text) == (1, "")
        assert errors.rstrip("\n").endswith(f": {mistake}"), errors

    check_rows({
        "no store": ({}, "config.upstream.url: the store is missing, such as http://victoria-metrics:8428/api/v1/write"),
        "no upstream": ({"config": {"upstream": None}},
                        "config.upstream.url: the store is missing, such as http://victoria-metrics:8428/api/v1/write"),
        "two that do not share": ({"config": STORE, "replicas": 2},
                                  "replicas: more than one gate needs `shared`, else each admits up to the limits"),
        "no secret": ({"config": STORE, "shared": SHARED["shared"]},
                      "existingSecret: gates of a fleet need a Secret with the file fingerprint (head -c 32 /dev/urandom >fingerprint)"),
        "another place": ({"config": {**STORE, "shared": SHARED["shared"]}},
                          "config.shared: write it as `shared`, which also makes the gates a fleet"),
    }, is_named)
    status, _, errors = run_renderer(renderer, LAYOUTS["single"], kubernetes="v1.29.9")
    assert status == 1 and "chart requires kubeVersion: >=1.30.0-0 which is incompatible with Kubernetes v1.29.9" in errors


# --- what comes of it

@rendering
def test_it_makes_what_the_manifests_have(renderer, tmp_path):
    def makes_the_same(layout, values):
        theirs = kustomized(layout, COMPONENTS, tmp_path / layout)[0] if kustomize() else documents(layout, COMPONENTS)
        ours, theirs = by_name(plain(rendered(renderer, values))), by_name(plain(theirs))
        assert ours.keys() == theirs.keys()
        for name, each in ours.items():
            assert each == theirs[name], name

    check_rows({layout: (layout, values) for layout, values in LAYOUTS.items()}, makes_the_same)


@rendering
def test_every_document_is_of_its_published_schema(renderer):
    def is_of_its_schema(values):
        found = rendered(renderer, values)
        assert len(by_name(found)) == len(found) >= 4
        assert [mistake for each in found for mistake in mistakes(each)] == []
        for each in found:
            assert "app.kubernetes.io/version" in each["metadata"]["labels"]
            assert values.get("labels", {}).items() <= each["metadata"]["labels"].items()

    check_rows({name: (values,) for name, values in SETS.items()}, is_of_its_schema)


@rendering
def test_the_gate_understands_its_configuration(renderer, tmp_path):
    certificate = Authority(tmp_path).issue("gate")
    for name, text in {"fingerprint": "f" * 32, "password": "one line\n", "ca.crt": certificate.certificate.read_text(), "web.yml":
                       f"tls_server_config: {{cert_file: {certificate.certificate}, key_file: {certificate.key}}}\n"}.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o440)

    def is_understood(values):
        texts = [each["data"]["seriesgate.yaml"] for each in rendered(renderer, values)
                 if each["kind"] == "ConfigMap" and "seriesgate.yaml" in each["data"]]
        if "existingConfigMap" in values:
            assert texts == []
            return
        text, = texts
        file = tmp_path / "seriesgate.yaml"
        file.write_text(text.replace(SECRET_FOLDER, str(tmp_path)))
        takes(file)
        wanted = together(values["config"], VALUES["config"])
        ours = yaml.safe_load(text)
        if "urls" in wanted["upstream"]:
            del wanted["upstream"]["url"]
        assert ours == {**wanted, "listen": "0.0.0.0:9201", "admin": {"listen": "0.0.0.0:9202"}, **(
            {"shared": values["shared"], "fingerprint": {"secretFile": f"{SECRET_FOLDER}/fingerprint"}} if "shared" in values else
            {"state": {"dir": "/var/lib/seriesgate/state"}})}

    check_rows({name: (values,) for name, values in SETS.items()}, is_understood)


@rendering
@pytest.mark.parametrize("name", ["with TLS", "several backends"])
def test_who_asks_a_gate_speaks_as_it_does(renderer, name):
    documents = rendered(renderer, SETS[name] | {"serviceMonitor": {"enabled": True}})
    spoken = SETS[name].get("scheme", "HTTP")
    [container] = [each for document in documents if document["kind"] in ("StatefulSet", "Deployment")
                   for each in document["spec"]["template"]["spec"]["containers"]]
    probes = [container[f"{which}Probe"]["httpGet"] for which in ("startup", "readiness", "liveness")]
    assert [each.get("scheme", "HTTP") for each in probes] == [spoken] * 3
    [monitor] = [each for each in documents if each["kind"] == "ServiceMonitor"]
    assert monitor["spec"]["endpoints"][0].get("scheme", "http") == spoken.lower()


@rendering
def test_names_and_selectors_meet(renderer):
    """Two releases in one namespace have nothing in common, and each finds its own."""
    def meet(values, release, name):
        found = by_name(rendered(renderer, values, release))
        workload, = [each for (kind, _), each in found.items() if kind in ("Deployment", "StatefulSet")]
        pod = workload["spec"]["template"]
        selector = {"app.kubernetes.io/name": "seriesgate", "app.kubernetes.io/instance": release}
        assert all(own == name or own.startswith(f"{name}-") for _, own in found) and len(name) <= 52
        assert workload["spec"]["selector"]["matchLabels"] == selector and selector.items() <= pod["metadata"]["labels"].items()
        assert pod["spec"]["serviceAccountName"] == found["ServiceAccount", name]["metadata"]["name"]
        for kind, own in found:
            spec = found[kind, own].get("spec", {})
            if kind == "Service":
                assert spec["selector"] == selector
            if kind == "ServiceMonitor":
                assert [service for of, service in found if of == "Service"
                        and selector.items() <= found[of, service]["metadata"]["labels"].items()] == [name]
                assert spec["selector"]["matchLabels"] == selector
            if kind in ("NetworkPolicy", "PodDisruptionBudget"):
                assert (spec.get("podSelector") or spec["selector"])["matchLabels"] == selector
        for spread in pod["spec"].get("topologySpreadConstraints", []):
            assert spread["labelSelector"]["matchLabels"] == selector
        if workload["kind"] == "StatefulSet":
            assert found["Service", workload["spec"]["serviceName"]]["spec"]["clusterIP"] == "None"
        maps = [each["configMap"]["name"] for each in pod["spec"]["volumes"] if "configMap" in each]
        assert maps == [values.get("existingConfigMap", name)]
        assert values.get("existingConfigMap") or ("ConfigMap", name) in found
        assert f"http://{name}.default:9201/api/v1/write" in json.loads(run_renderer(renderer, values, release)[1])["notes"]

    check_rows({f"{title}, {release}": (values, release, name) for title, values in SETS.items()
                for release, name in (("seriesgate", "seriesgate"), ("my-seriesgate", "my-seriesgate"), ("true", "true-seriesgate"),
                                        (f"{'a' * 40}-eu", f"{'a' * 40}-seriesgate"), (f"{'a' * 42}-seriesgate", f"{'a' * 41}-seriesgate"))}, meet)


@rendering
def test_another_configuration_is_a_roll_out(renderer):
    def annotations(values):
        workload, = [each for each in rendered(renderer, values) if each["kind"] == "StatefulSet"]
        return workload["spec"]["template"]["metadata"].get("annotations")

    one, same, other = ({"config": {**STORE, "maxHourlySeries": limit}, "labels": labels}
                        for limit, labels in ((1, {}), (1, {"a": "b"}), (2, {})))
    assert annotations(one) == annotations(same) != annotations(other)
    assert annotations({"existingConfigMap": "mine"}) is None


# --- the renderer

@rendering
def test_the_renderer_does_as_helm(renderer, tmp_path):
    """Source: helm.sh/docs, Chart Template Guide."""
    (tmp_path / "templates").mkdir()
    for name, text in {
            "Chart.yaml": "{apiVersion: v2, name: small, version: 1.2.3, appVersion: four, kubeVersion: '>=1.30.0-0'}",
            "values.yaml": "{a: {b: 1, gone: 2}, list: [1, 2], number: 1000000, more: ''}",
            "files/text": "{{ not a template }}",
            "templates/_parts.tpl": '{{- define "part" }}p: {{ .x }}\nq: 1{{ end }}',
            "templates/NOTES.txt": "of {{ .Release.Name }}",
            "templates/none.yaml": "{{- if .Values.nothing }}\na: b\n{{- end }}",
            "templates/one.yaml": """\
included: {{- include "part" (dict "x" "z") | nindent 2 }}
values: {{- toYaml .Values.a | nindent 2 }}
list: {{ .Values.list | toJson }}
number: {{ toYaml .Values.number }}
file: {{ .Files.Get "files/text" | quote }}
absent: {{ .Values.nothing | default "none" }}
empty: [{{ .Values.nothing }}]
chart: {{ .Chart.Name }}-{{ .Chart.Version }} {{ .Chart.AppVersion }}
---
# another
mode: 0440
{{ .Values.more }}
"""}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    status, text, errors = run_renderer(renderer, {"a": {"gone": None, "c": 3}, "list": [4]}, "mine", tmp_path)
    assert (status, errors) == (0, "")
    assert json.loads(text) == {"notes": "of mine", "documents": [
        {"included": {"p": "z", "q": 1}, "values": {"b": 1, "c": 3}, "list": [4], "number": 1000000, "file": "{{ not a template }}",
         "absent": "none", "empty": [], "chart": "small-1.2.3 four"},
        {"mode": 0o440}]}
    # Python reads the second, Kubernetes does not.
    for wrong in ("mode: 1", 'more: {a:{"b": 1}}'):
        status, text, errors = run_renderer(renderer, {"more": wrong}, "mine", tmp_path)
        assert (status, text) == (1, "") and "templates/one.yaml: error converting YAML to JSON" in errors

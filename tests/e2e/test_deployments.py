"""What deploy/ has for Kubernetes is what a gate understands, as far as one can tell without Kubernetes."""

import re

import yaml

from gate import REPOSITORY, run

FILE = REPOSITORY / "deploy" / "kubernetes-shared.yaml"


def documents():
    """{kind: document}"""
    return {each["kind"]: each for each in yaml.safe_load_all(FILE.read_text())}


def test_the_gate_understands_its_configuration(tmp_path):
    text = documents()["ConfigMap"]["data"]["seriesgate.yaml"]
    secret = tmp_path / "fingerprint"
    secret.write_bytes(bytes(32))
    assert "/etc/seriesgate-secret/fingerprint" in text
    file = tmp_path / "seriesgate.yaml"
    file.write_text(text.replace("/etc/seriesgate-secret/fingerprint", str(secret)))
    checked = run(f"--config.file={file}", "--check-config")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_its_parts_name_each_other():
    found = documents()
    pod = found["Deployment"]["spec"]["template"]
    container, = pod["spec"]["containers"]
    labels = pod["metadata"]["labels"]
    for kind in ("Deployment", "PodDisruptionBudget"):
        assert found[kind]["spec"]["selector"]["matchLabels"] == labels
    assert found["Service"]["spec"]["selector"] == labels
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["spec"]["volumes"]}
    port, = container["ports"]
    assert {container[probe]["httpGet"]["port"] for probe in ("readinessProbe", "livenessProbe")} == {port["name"]}
    listens = yaml.safe_load(found["ConfigMap"]["data"]["seriesgate.yaml"])["listen"]
    assert listens == f"0.0.0.0:{port['containerPort']}"


def test_its_probes_are_answered_and_it_has_time_to_drain(limited):
    found = documents()
    pod = found["Deployment"]["spec"]["template"]["spec"]
    container, = pod["containers"]
    gate = limited("")
    for probe in ("readinessProbe", "livenessProbe"):
        assert gate.get(container[probe]["httpGet"]["path"]).status == 200
    settings = yaml.safe_load(gate.get("/config").body)
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    drains = re.fullmatch(r"(\d+)s", settings["server"]["drainTimeout"])
    assert pod["terminationGracePeriodSeconds"] > pause + int(drains[1])

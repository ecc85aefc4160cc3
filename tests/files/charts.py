"""deploy/helm/seriesgate as Helm reads it, without one: tests/helm/render.go, which Go builds of Debian's packages."""

import json
import os
import shutil
import subprocess

import jsonschema
import yaml

from gate import REPOSITORY
from manifests import Loader

CHART = REPOSITORY / "deploy/helm/seriesgate"
SCHEMA = json.loads((CHART / "values.schema.json").read_text())
VALUES = yaml.load((CHART / "values.yaml").read_text(), Loader)
ABOUT = yaml.load((CHART / "Chart.yaml").read_text(), Loader)
SECRET_FOLDER = "/etc/seriesgate-secret"
#: Labels that Helm's own conventions ask for, and the plain manifests have not.
OF_HELM = {"app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"}


def build_renderer(folder):
    assert shutil.which("go"), "no go: run scripts/install-deps.sh --helm"
    program, source = folder / "render", folder / "go/src/render"
    source.mkdir(parents=True)
    shutil.copy(REPOSITORY / "tests/helm/render.go", source)
    # With this Go finds a package `name/v3` in the folder `name`, too: Debian has some there, which depends on its release.
    (source / "go.mod").write_text("module render\n")
    # Debian's packages only: nothing is fetched.
    environment = {**os.environ, "GO111MODULE": "off", "GOPATH": f"{folder / 'go'}:/usr/share/gocode", "GOFLAGS": "",
                   "GOCACHE": str(folder / "cache")}
    built = subprocess.run(["go", "build", "-o", program, "render"], env=environment, capture_output=True, text=True, timeout=300)
    assert built.returncode == 0, built.stderr
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

"""The files of deploy/kubernetes/ as Kubernetes would read them, without one: the schema is that of python3-kubernetes, whose classes are
made from what Kubernetes publishes."""

import functools
import json
import re
import shutil
from types import SimpleNamespace

import jsonschema
import yaml
from kubernetes.client import ApiClient, models

import servers
from commands import output_of
from gate import REPOSITORY

VERSION = re.search(r"project\(seriesgate VERSION ([\d.]+)", (REPOSITORY / "CMakeLists.txt").read_text())[1]
FOLDER = REPOSITORY / "deploy" / "kubernetes"
LAYOUTS = ["fleet", "single", "sidecar"]
#: Folders that a layout takes in where somebody says so, without ../components.
COMPONENTS = ["servicemonitor", "prometheusrule", "dashboard"]
VALKEY = "valkey"  # for a fleet
VERSIONS = {
    "ConfigMap": "v1", "Service": "v1", "ServiceAccount": "v1", "Deployment": "apps/v1", "StatefulSet": "apps/v1",
    "NetworkPolicy": "networking.k8s.io/v1", "PodDisruptionBudget": "policy/v1", "ServiceMonitor": "monitoring.coreos.com/v1",
    "PrometheusRule": "monitoring.coreos.com/v1"}
#: What Kubernetes has had since 1.22, which is that of Debian 12: (class, field): type.
LATER = {("V1Handler", "sleep"): {"seconds": "int"},         # 1.30
         ("V1Container", "restartPolicy"): "str"}            # 1.29, of init containers
#: Of the operator's own kinds what we use. Source: prometheus-operator, Documentation/api-reference/api.md
OPERATORS = {
    "ServiceMonitor": {"selector": "V1LabelSelector", "endpoints": [{"port": "str", "path": "str", "interval": "str", "scheme": "str", "tlsConfig": "object"}]},
    "PrometheusRule": {"groups": [{"name": "str", "rules": [{
        "record": "str", "alert": "str", "expr": "str", "for": "str", "labels": "dict(str, str)", "annotations": "dict(str, str)"}]}]}}
PLAIN = {"str": {"type": "string"}, "int": {"type": "integer"}, "bool": {"type": "boolean"}, "float": {"type": "number"},
         "datetime": {"type": "string"}, "object": {}}  # the last is a number or a name
#: To which 3.0 is no integer.
Validator = jsonschema.validators.extend(jsonschema.Draft7Validator, type_checker=jsonschema.Draft4Validator.TYPE_CHECKER)


class Loader(yaml.SafeLoader):
    """Repeated keys are a mistake, not an override."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        assert len(keys) == len(set(keys)), f"a key is there twice: {keys}, {node.start_mark}"
        return super().construct_mapping(node, deep)


def read(file):
    return list(yaml.load_all(file.read_text(), Loader))


def kustomization_of(folder):
    found, = read(folder / "kustomization.yaml")
    assert found.keys() <= {"apiVersion", "kind", "resources", "configMapGenerator", "images"}
    assert (found["apiVersion"].removeprefix("kustomize.config.k8s.io/"), found["kind"]) in (("v1beta1", "Kustomization"),
                                                                                             ("v1alpha1", "Component"))
    return found


def generated(folder, generator):
    """The ConfigMap of a generator, without the hash behind its name."""
    assert generator.keys() == {"name", "files", "options"}
    assert generator["options"].keys() <= {"labels", "disableNameSuffixHash"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": generator["name"], "labels": generator["options"]["labels"]},
            "data": {name: (folder / name).read_text() for name in generator["files"]}}


def applied(folder):
    """The documents that a folder applies. Each file in it has to be one of them, or in one."""
    kustomization = kustomization_of(folder)
    here = [folder / name for name in kustomization.get("resources", [])]
    maps = kustomization.get("configMapGenerator", [])
    assert {file for file in folder.iterdir() if file.name != "kustomization.yaml"} == {
        each for each in here if each.parent == folder and each.suffix} | {folder / name for each in maps for name in each["files"]}
    return [document for each in here for document in (applied(each.resolve()) if each.is_dir() else read(each))] + [
        generated(folder, each) for each in maps]


def documents(layout, components=()):
    """[document] of a layout, each name of a kind once."""
    found = [document for folder in (layout, *(f"components/{each}" for each in components)) for document in applied(FOLDER / folder)]
    names = [(each["kind"], each["metadata"]["name"]) for each in found]
    assert len(names) == len(set(names)), names
    return found


def by_name(found):
    """{(kind, name): document}, for comparing; of blanks in expressions, which the folded lines of YAML are read with, one is like many."""
    named = {(each["kind"], each["metadata"]["name"]): each for each in found}
    assert len(named) == len(found)
    return {key: _with_single_blanks(each) if key[0] == "PrometheusRule" else each for key, each in named.items()}


def _with_single_blanks(value):
    if isinstance(value, dict):
        return {key: " ".join(each.split()) if key == "expr" else _with_single_blanks(each) for key, each in value.items()}
    return [_with_single_blanks(each) for each in value] if isinstance(value, list) else value


def of_kind(layout, *kinds, components=()):
    return [each for each in documents(layout, components) if each["kind"] in kinds]


def kustomize():
    """The command that makes a folder's documents, or None; it needs no cluster."""
    newest = servers.NEWEST / "kustomize"
    path = str(newest) if newest.exists() else shutil.which("kustomize")
    return [path, "build"] if path else ["kubectl", "kustomize"] if shutil.which("kubectl") else None


def kustomized(layout, components, folder):
    """What kustomize makes of a layout with these components, in a copy of the tree below an empty folder: (documents without the
    hashes behind the names of ConfigMaps, {name with its hash: without})."""
    shutil.copytree(FOLDER, folder, dirs_exist_ok=True)
    file = folder / layout / "kustomization.yaml"
    file.write_text(f"{file.read_text()}\ncomponents: [{', '.join(f'../components/{each}' for each in components)}]\n")
    text = output_of(*kustomize(), file.parent)
    hashed = {name: re.sub(r"-[a-z0-9]{10}$", "", name) for name in re.findall(
        r"^kind: ConfigMap\nmetadata:\n(?:  .*\n)*?  name: (\S+)$", text, re.M)}
    for name, plain in hashed.items():
        text = text.replace(f"name: {name}\n", f"name: {plain}\n")
    return list(yaml.safe_load_all(text)), hashed


def workload(layout):
    found, = of_kind(layout, "Deployment", "StatefulSet")
    return found


def pod(layout):
    return workload(layout)["spec"]["template"]["spec"]


def containers(layout):
    return [*pod(layout).get("initContainers", []), *pod(layout)["containers"]]


def gate(layout):
    found, = [each for each in containers(layout) if each["name"] == "seriesgate"]
    return found


def configuration(layout):
    """The text of the gate's configuration."""
    found, = of_kind(layout, "ConfigMap")
    return found["data"]["seriesgate.yaml"]


def drain_seconds(text):
    """How long a gate with this configuration drains; the commented file has the default."""
    for each in (text, (REPOSITORY / "config/seriesgate.yaml").read_text()):
        if found := re.search(r"drainTimeout: (\d+)s", each):
            return int(found[1])
    raise AssertionError("no drainTimeout")


# --- the schema

def mistakes(document):
    """What Kubernetes would not take, or would silently leave out: [where: what]."""
    kind = document.get("kind")
    if document.get("apiVersion") != VERSIONS.get(kind) or kind is None:
        return [f"{document.get('apiVersion')} {kind}: unknown"]
    schema = schema_of(f"V1{kind}") if kind not in OPERATORS else {"required": ["spec"], **map_of(
        {"apiVersion": "str", "kind": "str", "metadata": "V1ObjectMeta", "spec": OPERATORS[kind]})}
    found = [f"{'.'.join(map(str, each.absolute_path))}: {each.message}" for each in Validator(schema).iter_errors(document)]
    if found:
        return found
    parts = [(document, f"V1{kind}")]
    if kind in OPERATORS:
        parts = [(document.get("metadata", {}), "V1ObjectMeta"), (document["spec"].get("selector", {}), "V1LabelSelector")]
    try:  # the classes themselves know what has to be there, and which words a field may have
        for part, of in parts:
            ApiClient().deserialize(SimpleNamespace(data=json.dumps(part)), of)
    except ValueError as error:
        return [f"{kind}: {error}"]
    return []


def schema_of(kind):
    """The JSON schema of a type as OPERATORS has them, or as a class of Kubernetes names it: `dict(str, V1Container)`."""
    if isinstance(kind, dict):
        return map_of(kind)
    if isinstance(kind, list):
        return {"type": "array", "items": schema_of(kind[0])}
    if listed := re.fullmatch(r"list\[(.+)\]", kind):
        return schema_of([listed[1]])
    if mapped := re.fullmatch(r"dict\(str, (.+)\)", kind):
        return {"type": "object", "propertyNames": {"type": "string"}, "additionalProperties": schema_of(mapped[1])}
    return PLAIN[kind] if kind in PLAIN else schema_of_class(getattr(models, kind))


def map_of(kinds):
    return {"type": "object", "additionalProperties": False, "properties": {name: schema_of(kind) for name, kind in kinds.items()}}


@functools.cache
def schema_of_class(model):
    return map_of({**{name: model.openapi_types[attribute] for attribute, name in model.attribute_map.items()},
                   **{field: kind for (of, field), kind in LATER.items() if of == model.__name__}})

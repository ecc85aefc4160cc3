#!/usr/bin/env python3
"""Makes what Kubernetes gets of monitoring/: scripts/kubernetes-monitoring.py [FOLDER]

    kubernetes/components/prometheusrule/prometheusrule.yaml   monitoring/rules.yaml and monitoring/alerts.yaml, for the Prometheus operator
    kubernetes/components/dashboard/seriesgate.json            monitoring/dashboard.json, without blanks: kubectl keeps a copy of 256 KiB at most
    helm/seriesgate/files/                                     the same, for the chart

FOLDER is deploy, unless it is given. Kustomize and Helm take no files from outside the folder that they apply, so these are copies; a test
compares them. Call it after a change in monitoring/, such as another address of the documents.
"""

import json
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
SAYS_WHOSE = "# Made by scripts/kubernetes-monitoring.py of monitoring/rules.yaml and monitoring/alerts.yaml: change those."
HEAD = SAYS_WHOSE + """ An operator that looks for rules
# with a label of its own (ruleSelector) needs that label here.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: seriesgate, labels: {app.kubernetes.io/name: seriesgate}}
spec:
"""


def groups(files):
    """`groups:` with those of all files, and their comments."""
    found = [file.read_text().split("\ngroups:\n", 1)[1].rstrip("\n") for file in files]
    return "groups:\n" + "".join(text + "\n" for text in found)


def indented(text):
    return "".join(f"  {line}" if line.strip() else line for line in text.splitlines(keepends=True))


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "deploy"
    monitoring = REPOSITORY / "monitoring"
    rules = groups([monitoring / "rules.yaml", monitoring / "alerts.yaml"])
    dashboard = json.dumps(json.loads((monitoring / "dashboard.json").read_text()), ensure_ascii=False, separators=(",", ":")) + "\n"
    made = {
        "kubernetes/components/prometheusrule/prometheusrule.yaml": HEAD + indented(rules),
        "kubernetes/components/dashboard/seriesgate.json": dashboard,
        "helm/seriesgate/files/rules.yaml": f"{SAYS_WHOSE}\n{rules}",
        "helm/seriesgate/files/dashboard.json": dashboard}
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__.strip())
    else:
        main()

#!/usr/bin/env python3
"""Makes what Kubernetes gets of monitoring/: scripts/kubernetes-monitoring.py [FOLDER]

    prometheus-operator/prometheusrule.yaml   monitoring/rules.yaml and monitoring/alerts.yaml, for the Prometheus operator
    dashboard/seriesgate.json                 monitoring/dashboard.json, without blanks: kubectl keeps a copy of 256 KiB at most

FOLDER is deploy/kubernetes/components, unless it is given. Kustomize takes no files from outside the folder that it applies, so these are
copies; a test compares them. Call it after a change in monitoring/, such as another address of the documents.
"""

import json
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
HEAD = """\
# Made by scripts/kubernetes-monitoring.py of monitoring/rules.yaml and monitoring/alerts.yaml: change those. An operator that looks for rules
# with a label of its own (ruleSelector) needs that label here.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: seriesgate, labels: {app.kubernetes.io/name: seriesgate}}
spec:
  groups:
"""


def prometheus_rule(files):
    """The groups of the files, with their comments."""
    groups = [file.read_text().split("\ngroups:\n", 1)[1] for file in files]
    return HEAD + "".join(f"  {line}\n" if line else "\n" for text in groups for line in text.rstrip("\n").split("\n"))


def main():
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else REPOSITORY / "deploy/kubernetes/components"
    monitoring = REPOSITORY / "monitoring"
    made = {
        "prometheus-operator/prometheusrule.yaml": prometheus_rule([monitoring / "rules.yaml", monitoring / "alerts.yaml"]),
        "dashboard/seriesgate.json": json.dumps(json.loads((monitoring / "dashboard.json").read_text()), ensure_ascii=False,
                                                separators=(",", ":")) + "\n"}
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__.strip())
    else:
        main()

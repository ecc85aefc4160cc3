"""monitoring/*.yaml in promtool: what the rules make of series that a test makes up."""

import json
import re
import subprocess

import yaml

from gate import REPOSITORY
from servers import binary

FOLDER = REPOSITORY / "monitoring"
#: Where the links of monitoring/ lead as shipped: the documents of the Debian package.
DOCUMENTS = "file:///usr/share/doc/seriesgate"
ALERTS_FILE, RECORDS_FILE = FOLDER / "alerts.yaml", FOLDER / "rules.yaml"
FILES = (RECORDS_FILE, ALERTS_FILE)


def groups(file):
    return yaml.safe_load(file.read_text())["groups"]


def rules(file):
    """All rules of a file, in order."""
    return [rule for group in groups(file) for rule in group["rules"]]


ALERTS = {rule["alert"]: rule for rule in rules(ALERTS_FILE)}
RECORDS = rules(RECORDS_FILE)
GROUPS = [group["name"] for file in FILES for group in groups(file)]


def promtool(*arguments):
    result = subprocess.run([binary("promtool"), *arguments], capture_output=True, text=True, timeout=120)
    return result.returncode, result.stdout + result.stderr


def asks(expression, minute, *samples):
    """What an expression has to give in a minute: samples as (labels, value), labels as in `{a="b"}`."""
    return {"expr": expression, "eval_time": f"{minute}m",
            "exp_samples": [{"labels": labels, "value": value} for labels, value in samples]}


def fires(alert, minute, number):
    """How many alerts of that name have to fire in a minute."""
    return asks(f'count(ALERTS{{alertname="{alert}",alertstate="firing"}})', minute, *([("{}", number)] if number else []))


def tells(alert, minute, labels, summary):
    """What the only alert of that name says in a minute; its other annotations are no templates."""
    return {"alertname": alert, "eval_time": f"{minute}m", "exp_alerts": [
        {"exp_labels": {**labels, **ALERTS[alert]["labels"]},
         "exp_annotations": {**ALERTS[alert]["annotations"], "summary": summary}}]}


def scenario(name, series, *questions, told=(), interval="1m"):
    """`series`: {name and labels: values, one each `interval`, as promtool reads them}. Minute 0 is midnight (UTC). `told`: what
    tells() has made. JSON is YAML."""
    return {"interval": interval, "name": name, "promql_expr_test": list(questions), "alert_rule_test": list(told),
            "input_series": [{"series": each, "values": values} for each, values in series.items()]}


def check(folder, *scenarios, order=1, alerts=frozenset(ALERTS), every="1m", status=0):
    """@param order 1: what is recorded is there before alerts are looked at; -1: alerts see that of the minute before. A Prometheus
    does either. @param alerts to evaluate. @param every how often rules are evaluated. @return what promtool says"""
    chosen = folder / ALERTS_FILE.name
    chosen.write_text(json.dumps({"groups": [
        {**group, "rules": [rule for rule in group["rules"] if rule["alert"] in alerts]} for group in groups(ALERTS_FILE)]}))
    file = folder / "rules_test.yml"
    file.write_text(json.dumps({"rule_files": [str(RECORDS_FILE), str(chosen)], "evaluation_interval": every,
                                "group_eval_order": GROUPS[::order], "tests": scenarios}))
    ended, said = promtool("test", "rules", file)
    assert ended == status, said
    return said


def metric_names(expression):
    """The metrics that an expression asks for, buckets of histograms and recorded ones included."""
    without_strings = re.sub(r'"(?:[^"\\]|\\.)*"', '""', expression)
    return set(re.findall(r"\b(?:seriesgate[_:][\w:]+|process_\w+|ALERTS|up)\b", without_strings))

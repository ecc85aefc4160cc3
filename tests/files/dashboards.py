"""monitoring/dashboard.json as Grafana reads it: its panels, their expressions, and what variables stand for in them."""

import json
import re
from dataclasses import dataclass

from gate import REPOSITORY

FILE = REPOSITORY / "monitoring/dashboard.json"
DASHBOARD = json.loads(FILE.read_text())
ROWS = [panel for panel in DASHBOARD["panels"] if panel["type"] == "row"]
#: Also those that a row has folded away.
PANELS = [panel for each in DASHBOARD["panels"] for panel in (each["panels"] if each["type"] == "row" else [each])]
VARIABLES = {variable["name"]: variable for variable in DASHBOARD["templating"]["list"]}
BUILT_IN = {"__rate_interval": "5s", "__range": "30s"}
ALL = "All"

_VARIABLE = re.compile(r"\$(\w+)|\$\{(\w+)\}")


@dataclass(frozen=True)
class Target:
    """One expression of a panel, or of what is marked in all of them."""
    panel: str
    legend: str
    text: str

    @property
    def name(self):
        return f"{self.panel}: {self.legend}" if self.legend else self.panel


TARGETS = [*(Target(panel["title"], target["legendFormat"], target["expr"]) for panel in PANELS for target in panel["targets"]),
           *(Target(each["name"], each["textFormat"], each["expr"])
             for each in DASHBOARD["annotations"]["list"] if "expr" in each)]


def escaped(value):
    """A value inside a regular expression inside a string in double quotes, as Grafana's Prometheus data source writes it
    (`${name:regex}` is for other strings: it leaves one backslash, which such a string takes for its own)."""
    return re.sub(r"[$^*{}\[\]+?.()|]", r"\\\\\g<0>", value.replace("\\", "\\\\\\\\"))


def substituted(text, chosen, offered):
    """An expression with its variables replaced. `chosen`: {variable: list of values, or ALL}; `offered`: {variable: all values
    that there are}, which All stands for where the variable has no value of its own for it."""
    def value(match):
        name = match[1] or match[2]
        if name in BUILT_IN:
            return BUILT_IN[name]
        variable, values = VARIABLES[name], chosen.get(name, ALL)
        if values == ALL and variable.get("allValue"):
            return variable["allValue"]
        texts = [escaped(each) for each in (offered[name] if values == ALL else values)]
        return texts[0] if len(texts) == 1 else f"({'|'.join(texts)})"

    return _VARIABLE.sub(value, text)


def variables_in(text):
    """The names of variables that a text has."""
    return {short or braced for short, braced in _VARIABLE.findall(text)}


def label_values(variable):
    """What a variable asks for: (selector, label)."""
    return re.fullmatch(r"label_values\((.*), (\w+)\)", VARIABLES[variable]["query"]["query"]).groups()

"""What docs/stats.schema.json and docs/stats.md say of /stats, and where no gate is needed to know that it is so."""

import copy
import json
import re

import jsonschema
import pytest

from gate import REPOSITORY

SCHEMA = json.loads((REPOSITORY / "docs/stats.schema.json").read_text())
PAGE = (REPOSITORY / "docs/stats.md").read_text()


@pytest.mark.text
def test_the_part_about_a_fleet_takes_no_other_key_and_needs_each():
    validator = jsonschema.Draft202012Validator({"$defs": SCHEMA["$defs"], **SCHEMA["properties"]["shared"]})
    # As tests/admin/stats_test.cpp has it.
    part = {"state": "joined", "namespace": "shop", "gates": [{"name": "gate-1", "version": "1.2.3", "seenSecondsAgo": 0}],
            "claims": 8, "known": 100, "taken": 20, "refused": 3, "unanswered": 5, "untold": 4, "owed": 6, "waiting": 2,
            "clockOffsetSeconds": -1.5, "latencySeconds": 0.25}
    validator.validate(part)
    for where in ([], ["gates", 0]):
        def there(value, path=where):
            for key in path:
                value = value[key]
            return value
        more = copy.deepcopy(part)
        there(more)["another"] = 0
        assert not validator.is_valid(more), where
        for key in there(part):
            less = copy.deepcopy(part)
            del there(less)[key]
            assert not validator.is_valid(less), key
    for state in ("joining", "away"):
        validator.validate(part | {"state": state})
    assert not validator.is_valid(part | {"state": "gone"})


# --- the documentation

def keys_of(schema, path=""):
    """Every key that is no object with keys of its own, as the table has it: `windows.*.start`, `tenants[].mode`."""
    if "$ref" in schema:
        schema = SCHEMA["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "items" in schema:
        return keys_of(schema["items"], path + "[]")
    if "properties" not in schema:
        return {path}
    return {key for name, inner in schema["properties"].items()
            for key in keys_of(inner, f"{path}.{'*' if name in ('hourly', 'daily') else name}".lstrip("."))}


def keys_documented():
    table = PAGE[PAGE.index("| key |"):].split("\n\n")[0]
    return [key for row in table.splitlines()[2:] for key in re.findall(r"`([^`]+)`", row.split("|")[1])]


@pytest.mark.text
def test_every_key_is_documented_once_and_nothing_else_is():
    assert sorted(keys_documented()) == sorted(keys_of(SCHEMA))

"""Series that explode, and how a gate is asked who did it."""

import json
import urllib.parse

from shared_fleets import NUMBER
from traffic import TENANT, body

NAME = "http_requests_total"


def ask(gate, path, **arguments):
    query = "?" + urllib.parse.urlencode(arguments) if arguments else ""
    reply = gate.get(f"/api/v1/{path}{query}")
    assert reply.status == 200, reply.body
    assert dict(reply.headers)["Content-Type"] == "application/json"
    answer = json.loads(reply.body)
    assert sorted(answer) == ["data", "status"] and answer["status"] == "success"
    return answer["data"]


def error(gate, path, query):
    reply = gate.get(f"/api/v1/{path}?{query}")
    assert reply.status == 400
    answer = json.loads(reply.body)
    assert sorted(answer) == ["error", "errorType", "status"]
    assert (answer["status"], answer["errorType"]) == ("error", "bad_data")
    return answer["error"]


def requests(count, start=0, **labels):
    return [{"__name__": NAME, "job": "shop", "instance": f"a{i % 5}:80", "trace_id": f"t{i}", **labels}
            for i in range(start, start + count)]


def send(gate, series, agent="Prometheus/3.5.0", tenant=None, at_once=1000):
    headers = [("User-Agent", agent), (NUMBER, "1")] + ([(TENANT, tenant)] if tenant is not None else [])
    for start in range(0, len(series), at_once):
        assert gate.send(body(series[start:start + at_once]), headers).status == 204

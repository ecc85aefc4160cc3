"""A store with the query API of Prometheus, as far as a warm start asks it."""

import json
import re
from urllib.parse import parse_qs, urlsplit

from upstream import Answer, Upstream
from world import time

QUERY = re.compile(r"last_over_time\(\{(.*)\}\[(\d+)s\](?: offset (\d+)s)?\)")
MATCHER = re.compile(r'([\w.]+)(=~|!=|!~|=)"((?:[^"\\]|\\.)*)"')

#: How long before the start there are samples, in seconds.
OLD = range(0, 7200, 30)
YOUNG = range(0, 1800, 30)
ENDED = range(3700, 7200, 30)


def json_answer(value, status=200):
    return Answer(status, [("Content-Type", "application/json")], json.dumps(value).encode())


def refusal(why="the query needs too much", status=422):
    return json_answer({"status": "error", "errorType": "execution", "error": why}, status)


class QueryStore(Upstream):
    """`add(series, ages)`: it has them. More than `series_max` in an answer are refused."""

    def __init__(self, **how):
        self.series = []
        self.series_max = self.breaks_above = 1_000_000
        self.respond_after = 0  # seconds
        self.fails_at = None  # a metric name: 500
        self.scripted = []  # answers to the first requests
        self.queries = []  # (names or None, seconds, offset, the tenant's header)
        super().__init__(handler=self._respond, **how)
        self.root = f"http://{self.host}"

    def add(self, series, ages, tenant=None):
        self.series += [(labels, ages, tenant) for labels in series]

    def _respond(self, request):
        time.sleep(self.respond_after)
        if self.scripted:
            return self.scripted.pop(0)
        url = urlsplit(request.target)
        tenant = request.get("X-Scope-OrgID")
        if url.path.endswith("/api/v1/label/__name__/values"):
            assert request.method == "GET", request
            names = {labels["__name__"] for labels, _, owner in self.series if owner == tenant}
            return json_answer({"status": "success", "data": sorted(names)})
        assert (request.method, url.path[-13:]) == ("POST", "/api/v1/query"), request
        arguments = parse_qs(request.body.decode())
        matchers, seconds, offset = QUERY.fullmatch(arguments["query"][0]).groups()
        assert abs(float(arguments["time"][0]) - time.time()) < 600
        found = self._find(matchers, int(seconds), int(offset or 0), tenant)
        self.queries.append((matchers, int(seconds), int(offset or 0), tenant))
        if self.fails_at and self.fails_at in matchers:
            return Answer(500)
        if len(found) > self.breaks_above:
            return Answer(200, cut=20)
        if len(found) > self.series_max:
            return refusal(f"{len(found)} series are more than {self.series_max}")
        result = [{"metric": labels, "value": [1, "1"]} for labels in found]
        return json_answer({"status": "success", "data": {"resultType": "vector", "result": result}})

    def _find(self, matchers, seconds, offset, tenant):
        found = []
        parsed = [(name, op, json.loads(f'"{value}"')) for name, op, value in MATCHER.findall(matchers)]
        for labels, ages, owner in self.series:
            matching = all(_accepts(labels.get(name, ""), op, value) for name, op, value in parsed)
            if owner == tenant and matching and any(offset <= age < offset + seconds for age in ages):
                found.append(labels)
        return found


def _accepts(value, op, wanted):
    equal = re.fullmatch(wanted, value) is not None if "~" in op else value == wanted
    return equal != op.startswith("!")

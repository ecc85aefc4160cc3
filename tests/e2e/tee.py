"""A recording pass-through: stands between the gate and a real server, and knows what the gate sent."""

import urllib.error
import urllib.request

from upstream import Answer, Upstream

PASSED = ("content-type", "content-encoding", "x-prometheus-remote-write-version")


class Tee(Upstream):
    """Forwards each request to `target` and its status and body back. Requests the server took are in `taken`, but
    for vmagent's question which protocol it speaks: that one has no body.

    While `away` is set, it answers 503 and forwards nothing.
    """

    def __init__(self, target):
        super().__init__(handler=self._forward)
        self._target = target
        self.taken = []
        self.away = False

    def _forward(self, request):
        if self.away:
            return Answer(503, [], b"the store is away\n")
        headers = {name: value for name, value in request.headers if name.lower() in PASSED}
        _, question, query = request.target.partition("?")
        onward = urllib.request.Request(self._target + question + query, data=request.body, headers=headers,
                                        method="POST")
        try:
            with urllib.request.urlopen(onward, timeout=30) as answer:
                if request.body:
                    self.taken.append(request)
                return Answer(answer.status, [], answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, [], error.read())


def samples(pb, requests):
    """The samples in requests, decoded by the generated classes: {labels as sorted pairs: {timestamp in ms: value}}."""
    found = {}
    for request in requests:
        for timeseries in pb.WriteRequest.FromString(request.raw).timeseries:
            labels = tuple(sorted((label.name, label.value) for label in timeseries.labels))
            values = found.setdefault(labels, {})
            for sample in timeseries.samples:
                values[sample.timestamp] = sample.value
    return found


def sample_count(found):
    return sum(len(values) for values in found.values())


def metadata_names(pb, requests):
    return {entry.metric_family_name for request in requests
            for entry in pb.WriteRequest.FromString(request.raw).metadata}



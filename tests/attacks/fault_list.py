"""Every fault of a store that we know: test_fault_suite.py plays them."""

from fault_scenes import Fault, opens_anew, welcomes, welcomes_again

LOST, INVALID, LATE = "connection_lost", "invalid_answer", "timeout"

FAULTS = [
    # --- there is no connection
    Fault("refused", "connection_refused", begin=lambda backend: backend.close(), mend=lambda backend: backend.open(), smooth=True),
    Fault("swallowed", "connect_timeout", begin=lambda backend: backend.swallow(), mend=opens_anew, smooth=True, timeout="2s"),
    Fault("reset before the request", LOST, begin=welcomes("resets"), mend=welcomes_again),
    Fault("accepted and forgotten", LATE, begin=welcomes("hangs"), mend=welcomes_again, timeout="2s"),
    # --- amid the request
    Fault("closed inside the request", LOST, way="closes inside the request"),
    Fault("reset inside the request", LOST, way="resets inside the request"),
    Fault("reset inside a big request", LOST, way="resets inside the request", big=True),
    Fault("stops reading", LATE, way="stops reading", big=True, timeout="8s"),
    # --- instead of an answer
    Fault("closed after the request", LOST, way="closes"),
    Fault("reset after the request", LOST, way="resets"),
    Fault("silent", LATE, way="says nothing", timeout="2s"),
    Fault("too slow", LATE, way="too slow", timeout="2s"),
    Fault("slow", way="just in time", timeout="6s"),
    # --- half an answer
    Fault("header cut", LOST, way="cuts its head"),
    Fault("header reset", LOST, way="resets amid its head"),
    Fault("body cut", LOST, way="cuts its body"),
    Fault("chunks cut", LOST, way="cuts its chunks"),
    Fault("stops in the header", LATE, way="stops in its head", timeout="2s"),
    Fault("stops in the body", LATE, way="stops in its body", timeout="2s"),
    # --- no answer that makes sense
    Fault("garbage", INVALID, way="garbage"),
    Fault("another protocol", INVALID, way="another protocol"),
    Fault("a status that is none", INVALID, way="a status that is none"),
    Fault("switches protocols", INVALID, way="switches protocols"),
    Fault("endless headers", INVALID, way="endless headers"),
    Fault("an endless header", INVALID, way="an endless header"),
    Fault("a storm of interim answers", INVALID, way="a storm of interim answers"),
    Fault("endless chunk extensions", INVALID, way="endless chunk extensions"),
    # --- too much of an answer
    Fault("interim answers", way="interim"),
    Fault("two answers", way="two answers"),
    Fault("an error behind the answer", way="an error behind the answer"),
    Fault("more body than it said", way="more body than it said"),
    # --- too early
    Fault("an error before the body is read", way="an error before the body is read", big=True),
    Fault("success before the body is read", INVALID, way="success before the body is read", big=True),
    # --- kept connections
    Fault("closed unasked after each answer", at_times=LOST, way="closes unasked"),  # over the next request: with a reset
    Fault("says close", way="says close"),
    # --- errors of its own
    Fault("500", way="500"),
    Fault("503", way="503"),
    Fault("429", way="429"),
    Fault("400", way="400"),
]

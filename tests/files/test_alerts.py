"""monitoring/alerts.yaml: every alert fires when it should and not when it should not.

What they ask a gate for: tests/scenes/test_seeing.py. In a real Prometheus: tests/e2e/test_monitoring.py.
"""

import re

import pytest

import documents
import rule_tests
from commands import output_of
from gate import REPOSITORY
from rule_tests import ALERTS
from servers import binary
from tables import check_rows, named

pytestmark = pytest.mark.text

RUNBOOK = REPOSITORY / "docs/runbook.md"
GATE = 'job="gate",instance="a"'


def of_one(name, firing, quiet):
    """A metric that moves with some labels, and with others."""
    return tuple({f"{name}{{{GATE},{labels}}}": "0x4 1x20"} for labels in (firing, quiet))


def lasting(reason):
    """One that waits whether it lasts: five minutes of it, and one request."""
    return going_on(f'seriesgate_requests_rejected_total{{reason="{reason}"}}')


def going_on(series):
    return one(series, "0+1x20", "0x4 1x20")


def one(series, firing, quiet):
    name, _, labels = series.partition("{")
    full = f"{name}{{{GATE}" + (f",{labels}" if labels else "}")
    return {full: firing}, {full: quiet}


def beside(bound, current, labels, firing, quiet):
    """A figure and the bound that it is held against, ten."""
    both = [{f"{bound}{{{GATE},{labels}}}": f"{most}x20", f"{current}{{{GATE},{labels}}}": f"{now}x20"}
            for most, now in (firing, quiet)]
    return both[0], both[1]


TENANT = 'tenant="shop",mode="enforce",window="hourly"'
EXEMPT = 'limit="exempt",group="",tenant="shop",mode="observe",window="daily"'
GROUP = 'limit="per-ns",group="{namespace=\\"a\\"}",tenant="",mode="enforce",window="daily"'

BY_LIMIT = f"seriesgate_limit_samples_%s_total{{{GATE}"


def both_refused(figure, counter):
    """A figure of what was refused, with the counter that says that it really was, and without."""
    return {figure: "0x4 1x20", counter: "_x4 1x20"}, {figure: "0x4 1x20"}


def growing(values):
    """A budget of a thousand series an hour that a group spends."""
    figure = f'seriesgate_limit_series_%s{{{GATE},{GROUP.replace("daily", "hourly")}}}'
    return {figure % "current": values, figure % "max": "1000x40"}


def not_stored(ratio, failed="0+1x20"):
    return {f"seriesgate_samples_stored_ratio{{{GATE}}}": ratio, f"seriesgate_samples_failed_total{{{GATE}}}": failed}


def not_let_in(reason, code, writes):
    """Requests of all kinds, and those that write."""
    return {f'seriesgate_requests_rejected_total{{{GATE},reason="{reason}"}}': "0+1x20",
            f'seriesgate_requests_total{{{GATE},code="{code}"}}': writes}


def doors(*up, store="s", requests="0+7x20"):
    """The backends of a store, of which the last gets requests."""
    return {**{f'seriesgate_upstream_door_up{{{GATE},store="{store}",door="{door}"}}': values for door, values in enumerate(up)},
            f'seriesgate_upstream_door_requests_total{{{GATE},store="{store}",door="{len(up) - 1}"}}': requests}


def answered_within(seconds):
    """A histogram all of whose claims took so long, and no less than the bucket below."""
    return {f'seriesgate_shared_claim_duration_seconds_bucket{{{GATE},le="{bound}"}}':
            "0+10x20" if float(bound) >= float(seconds) else "0x20" for bound in ("0.05", "0.1", "0.25", "+Inf")}


def build_info(*gates, name="build_info"):
    return {f'seriesgate_{name}{{job="gate",instance="{gate}"}}': "1x20" for gate in gates}


def warm_start(complete, running="0", started=0):
    return {f"seriesgate_warm_start_complete{{{GATE}}}": f"{complete}x100",
            f"seriesgate_warm_start_running{{{GATE}}}": f"{running}x100",
            f"process_start_time_seconds{{{GATE}}}": f"{started}x100"}


# Series that make an alert fire, and series that do not; each a value a minute, looked at in minute 8, or in that of MINUTES.
CASES = {
    "SeriesgateRequestsMalformed": lasting("malformed"),
    "SeriesgateHttpInvalid": of_one("seriesgate_requests_rejected_total", 'reason="invalid_http"', 'reason="malformed"'),
    "SeriesgateRequestsTooLarge": lasting("too_large"),
    "SeriesgateMediaUnsupported": lasting("unsupported_media"),
    "SeriesgateRequestsMisdirected": one('seriesgate_requests_rejected_total{reason="unknown_path"}', "0+3x20", "0+2x20"),
    "SeriesgateLeftOut": one('seriesgate_series_left_out_total{reason="label_too_long"}', "0+1x20", "0x4 1x20"),
    "SeriesgateUntranslated": lasting("untranslated"),
    "SeriesgateOverloaded": lasting("overloaded"),
    "SeriesgateTooBusy": lasting("queue_delay"),
    "SeriesgateSendersSlow": lasting("timeout"),
    "SeriesgateSendersNotLetIn": (not_let_in("unauthenticated", 401, "0+1x20"), not_let_in("unauthenticated", 401, "3x20")),
    "SeriesgatePasswordsHeld": lasting("passwords_held"),
    "SeriesgateLoop": lasting("loop"),
    "SeriesgateConnectionsTurnedAway": one('seriesgate_connections_turned_away_total{reason="max_connections"}', "0x4 1x20", "7x20"),
    "SeriesgateHandshakesFail": one('seriesgate_tls_handshakes_total{outcome="certificate"}', "0x4 10x20", "0x4 2x20"),
    "SeriesgateCertificateExpires": one("seriesgate_tls_certificate_not_after_timestamp_seconds{", "600000x20", "700000x20"),
    "SeriesgateNotStored": (not_stored("1 0.98x20"), not_stored("0.99x20")),
    "SeriesgateStoreRejects": ({f'seriesgate_upstream_responses_total{{{GATE},code="400"}}': "0+1x20"},
                               {f'seriesgate_upstream_responses_total{{{GATE},code="{code}"}}': "0+1x20"
                                for code in ("200", "204", "429", "500")}),
    "SeriesgateStoreFails": ({f'seriesgate_upstream_responses_total{{{GATE},code="429"}}': "0+1x20"},
                             {f'seriesgate_upstream_responses_total{{{GATE},code="400"}}': "0+1x20",
                              f'seriesgate_upstream_responses_total{{{GATE},code="503"}}': "0x4 1x20"}),
    "SeriesgateStoreUnreachable": one('seriesgate_upstream_errors_total{reason="dns"}', "0+1x20", "0x4 1x20"),
    "SeriesgateStoreDoorDown": (doors("1 0x20", "1x20"), doors("1x20", "1x20")),
    "SeriesgateStoreBusy": one('seriesgate_upstream_errors_total{reason="busy"}', "0x4 1x20", "1x20"),
    "SeriesgateReplicaFails": one('seriesgate_replica_samples_failed_total{replica="r"}', "0+1x20", "0x4 1x20"),
    "SeriesgateWriteUnconfirmed": going_on("seriesgate_unconfirmed_requests_total{"),
    "SeriesgatePartlyWritten": going_on("seriesgate_partly_written_requests_total{"),
    "SeriesgateSeriesRefused": one("seriesgate_samples_refused_by_limits_total{", "0x4 100x20", "100x20"),
    "SeriesgateGlobalRefused": of_one("seriesgate_limit_samples_refused_total", 'limit="global",tenant="shop"', 'limit="tenant",tenant="shop"'),
    "SeriesgateLimitNear": beside("seriesgate_series_max", "seriesgate_series_current", 'window="hourly"', (100, 91), (0, 91)),
    "SeriesgateTenantNear": beside("seriesgate_tenant_series_max", "seriesgate_tenant_series_current", TENANT, (100, 81), (100, 80)),
    "SeriesgateTenantRefused": both_refused(f"seriesgate_tenant_series_refused{{{GATE},{TENANT}}}",
                                            f'{BY_LIMIT % "refused"},limit="tenant",tenant="shop"}}'),
    "SeriesgateBudgetNear": beside("seriesgate_limit_series_max", "seriesgate_limit_series_current", GROUP, (100, 81), (100, 80)),
    "SeriesgateBudgetFullSoon": (growing("100+20x40"), growing("200+10x40")),
    "SeriesgateBudgetRefused": both_refused(f"seriesgate_limit_series_refused{{{GATE},{GROUP}}}",
                                            f'{BY_LIMIT % "refused"},limit="per-ns",tenant="shop"}}'),
    "SeriesgateExemptSpent": of_one("seriesgate_limit_series_refused", EXEMPT, GROUP),
    "SeriesgateIgnoredValuesSpent": of_one("seriesgate_limit_series_refused", EXEMPT.replace("exempt", "ignored-values"), EXEMPT),
    "SeriesgateWouldRefuse": of_one("seriesgate_limit_series_refused", GROUP.replace("enforce", "observe"), GROUP),
    "SeriesgateWarmStartIncomplete": (warm_start(complete=0), warm_start(complete=1)),
    "SeriesgateSharedAway": one("seriesgate_shared_up{", "1x4 0x20", "1x4 0x1 1x20"),
    "SeriesgateSharedUnanswered": one("seriesgate_shared_unanswered_series_total{", "0+1x20", "7x20"),
    "SeriesgateSharedFull": going_on('seriesgate_shared_claim_failures_total{reason="out_of_memory"}'),
    "SeriesgateSharedSlow": (answered_within("0.25"), answered_within("0.1")),
    "SeriesgateSharedClock": one("seriesgate_shared_clock_offset_seconds{", "-6x20", "-5x20"),
    "SeriesgateSharedWrongClock": of_one("seriesgate_shared_state", 'state="away: clock"', 'state="away"'),
    "SeriesgateNotShared": tuple(build_info("a", "b") | build_info(*sharing, name="shared_up") for sharing in ("a", "ab")),
    "SeriesgateAbsent": ({"up{}": "0x20"}, {f"seriesgate_build_info{{{GATE}}}": "1x20"}),
    "SeriesgateAllDown": ({'up{job="seriesgate",instance="a"}': "1x1 0x20", 'up{job="seriesgate",instance="b"}': "0x20",
                           'up{job="seriesgate-staging",instance="c"}': "1x20"},
                          {'up{job="seriesgate",instance="a"}': "0x20", 'up{job="seriesgate",instance="b"}': "1x20",
                           'up{job="node",instance="c"}': "0x20"}),
    "SeriesgateDown": ({'up{job="team/seriesgate",instance="a"}': "1x1 0x20", 'up{job="seriesgate",instance="b"}': "1x20"},
                       {'up{job="seriesgate",instance="a"}': "1x20", 'up{job="node",instance="b"}': "0x20"}),
    "SeriesgateReloadFailed": one("seriesgate_config_last_reload_successful{", "1x4 0x20", "1x20"),
    "SeriesgateWebConfigNotTaken": one("seriesgate_web_config_last_reload_successful{", "1x4 0x20", "1x20"),
    "SeriesgateStateNotSaved": one("seriesgate_state_last_save_successful{", "1x4 0x20", "1x20"),
    "SeriesgateClockInDoubt": one("seriesgate_clock_in_doubt{", "0x4 1x20", "0x20"),
    "SeriesgateLogLost": one("seriesgate_log_lines_lost_total{", "0x4 5x20", "5x20"),
}
MINUTES = {"SeriesgateBudgetFullSoon": 31, "SeriesgateNotStored": 12}

OBSERVED = TENANT.replace("enforce", "observe")
REFUSED = f'seriesgate_series_refused{{{GATE},window="daily"}}'
OBSERVES = f"seriesgate_observe{{{GATE}}}"


def refused_by(limit, tenant="shop", gate=GATE):
    return f'seriesgate_limit_samples_refused_total{{{gate},limit="{limit}",tenant="{tenant}"}}'


def of_tenant(name, mode="enforce", value="0x4 1x20"):
    return {f'seriesgate_tenant_series_refused{{{GATE},tenant="{name}",mode="{mode}",window="hourly"}}': value}


def of_group(mode="enforce", name="a"):
    group = GROUP.replace("enforce", mode).replace("namespace", name)
    return {f"seriesgate_limit_series_refused{{{GATE},{group}}}": "0x4 1x20"}


# The codes of the store with which senders drop data.
DROPPED_WITH = ("300", "400", "401", "403", "404", "405", "409", "410", "413", "415", "422", "451")

# More of the same: (alert, series, whether it fires).
MORE_CASES = [
    *[("SeriesgateSharedAway", {f"seriesgate_shared_up{{{GATE}}}": "1x4 0x20",
                                f'seriesgate_shared_state{{{GATE},state="{state}"}}': other}, fires)
      for state, other, fires in (("away: clock", "0x4 1x20", False), ("refilling", "0x4 1x20", False), ("refilling", "0x20", True))],
    ("SeriesgateWouldRefuse", {f"seriesgate_tenant_series_refused{{{GATE},{OBSERVED}}}": "0x4 1x20"}, True),
    ("SeriesgateWouldRefuse", {REFUSED: "0x4 1x20", OBSERVES: "1x20"}, True),
    ("SeriesgateWouldRefuse", {REFUSED: "0x4 1x20", OBSERVES: "0x20"}, False),
    ("SeriesgateWouldRefuse", {f"seriesgate_limit_series_refused{{{GATE},{EXEMPT}}}": "0x4 1x20"}, False),
    # It has observed once, and enforces now.
    ("SeriesgateWouldRefuse", {REFUSED: "0x4 1x20", OBSERVES: "1x2 0x20",
                               refused_by("global").replace("refused", "would_refuse"): "1x20"}, False),
    ("SeriesgateLimitNear", {REFUSED.replace("refused", "max"): "100x20", REFUSED.replace("refused", "current"): "90x20"},
     False),
    ("SeriesgateLimitNear", {REFUSED.replace("refused", "max").replace("daily", "active"): "100x20",
                             REFUSED.replace("refused", "current").replace("daily", "active"): "95x20"}, True),
    ("SeriesgateWarmStartIncomplete", warm_start(complete=0, running=1), False),
    ("SeriesgateWarmStartIncomplete", warm_start(complete=0, started=-3600), False),
    # It has taken an hour, and ended just now.
    ("SeriesgateWarmStartIncomplete", {**warm_start(complete=0, started=-3600),
                                       f"seriesgate_warm_start_running{{{GATE}}}": "1x1 0x20"}, True),
    *(("SeriesgateStoreRejects", {f'seriesgate_upstream_responses_total{{{GATE},code="{code}"}}': "0+1x20"}, True)
      for code in DROPPED_WITH),
    # Of several rules one is broken now, another then.
    ("SeriesgateLeftOut", {f'seriesgate_series_left_out_total{{{GATE},reason="label_too_long"}}': "0 1x4 2x20",
                           f'seriesgate_series_left_out_total{{{GATE},reason="too_many_labels"}}': "0x3 1x4 2x20"}, True),
    # Each store has one address: no other has its share.
    ("SeriesgateStoreDoorDown", {**doors("1 0x20"), **doors("1x20", store="t")}, False),
    # Nobody asks that store: whether the backend is back is unknown.
    ("SeriesgateStoreDoorDown", doors("1 0x20", "1x20", requests="7x20"), False),
    # A single gate in another namespace, whose Service has the same name.
    ("SeriesgateNotShared", {'seriesgate_build_info{job="seriesgate",namespace="staging",instance="a"}': "1x20",
                             'seriesgate_build_info{job="seriesgate",namespace="prod",instance="b"}': "1x20",
                             'seriesgate_shared_up{job="seriesgate",namespace="prod",instance="b"}': "1x20"}, False),
    # No claim is answered in time.
    ("SeriesgateSharedSlow", {f"seriesgate_shared_claims_total{{{GATE}}}": "0x20",
                              f'seriesgate_shared_claim_failures_total{{{GATE},reason="timeout"}}': "0+10x20"}, True),
    *(("SeriesgateBudgetNear", {f"seriesgate_limit_series_max{{{GATE},{of}}}": "100x20",
                                f"seriesgate_limit_series_current{{{GATE},{of}}}": "90x20"}, False)
      for of in (EXEMPT, EXEMPT.replace("exempt", "ignored-values"))),
    ("SeriesgateRequestsMisdirected", {f'seriesgate_requests_rejected_total{{{GATE},reason="{reason}"}}': "0+2x20"
                                       for reason in ("unknown_path", "method_not_allowed")}, True),
    ("SeriesgateSendersNotLetIn", not_let_in("forbidden", 403, "0+1x20"), True),
    # A scrape or a probe without credentials.
    ("SeriesgateSendersNotLetIn", lasting("unauthenticated")[0], False),
    # The writes are those of another gate.
    ("SeriesgateSendersNotLetIn", {**lasting("unauthenticated")[0],
                                   'seriesgate_requests_total{job="gate",instance="b",code="401"}': "0+1x20"}, False),
    # Stale markers of series that nobody admitted.
    ("SeriesgateSeriesRefused", {f"seriesgate_samples_refused_total{{{GATE}}}": "1000x4 1005x20",
                                 f"seriesgate_samples_refused_by_limits_total{{{GATE}}}": "1000x20",
                                 refused_by("__unknown__"): "0x4 5x20"}, False),
    # What would have been refused before a reload to enforce, and another tenant, limit or gate that has refused.
    ("SeriesgateTenantRefused", {**of_tenant("shop"), refused_by("tenant", "other"): "1x20"}, False),
    ("SeriesgateTenantRefused", {**of_tenant("shop"), refused_by("global"): "1x20"}, False),
    ("SeriesgateTenantRefused", {**of_tenant("shop"), refused_by("tenant", gate='job="gate",instance="b"'): "1x20"}, False),
    ("SeriesgateTenantRefused", {**of_tenant("shop", mode="observe"), refused_by("tenant"): "1x20"}, False),
    ("SeriesgateTenantRefused", {**of_tenant("shop", value="0x20"), refused_by("tenant"): "1x20"}, False),
    # Several tenants, one limit.
    ("SeriesgateGlobalRefused", {refused_by("global", "a"): "0x4 1x20", refused_by("global", "b"): "0x4 1x20"}, True),
    ("SeriesgateTenantRefused", {**of_tenant(""), refused_by("tenant", ""): "1x20"}, True),
    ("SeriesgateTenantRefused", {**of_tenant("shop"), refused_by("tenant", "__other__"): "1x20"}, True),
    ("SeriesgateTenantRefused", {**of_tenant("__overflow__"), refused_by("tenant", "other"): "1x20"}, True),
    ("SeriesgateBudgetRefused", {**of_group(), refused_by("other"): "1x20"}, False),
    ("SeriesgateBudgetRefused", {**of_group(), refused_by("per-ns", gate='job="gate",instance="b"'): "1x20"}, False),
    ("SeriesgateBudgetRefused", {**of_group(mode="observe"), refused_by("per-ns"): "1x20"}, False),
    *[("SeriesgateConnectionsTurnedAway",
       {f'seriesgate_connections_turned_away_total{{{GATE},reason="{reason}"}}': "0x20",
        f'seriesgate_connections_given_up_total{{{GATE},reason="{reason}"}}': "0x4 1x20"}, fires)
      for reason, fires in (("descriptors", True), ("max_connections", False))],
    ("SeriesgateSharedClock", {f"seriesgate_shared_clock_offset_seconds{{{GATE}}}": "6x20"}, True),
    ("SeriesgateSharedFull", {f'seriesgate_shared_claim_failures_total{{{GATE},reason="timeout"}}': "0+1x20"}, False),
    # The room that is left is kept for incumbents.
    ("SeriesgateTenantRefused", {**of_tenant("shop", value="0+1x20"), refused_by("tenant"): "1x20",
                                 f"seriesgate_tenant_series_max{{{GATE},{TENANT}}}": "200x40"}, True),
    ("SeriesgateBudgetRefused", {**dict.fromkeys(of_group(), "0+1x20"), refused_by("per-ns"): "1x20",
                                 f"seriesgate_limit_series_max{{{GATE},{GROUP.replace('namespace', 'a')}}}": "200x40"}, True),
    # Of another group of the raised limit series are refused yet.
    ("SeriesgateBudgetRefused", {**dict.fromkeys(of_group(), "5x20"), refused_by("per-ns"): "0+1x20",
                                 f"seriesgate_limit_series_max{{{GATE},{GROUP.replace('namespace', 'a')}}}": "200x40"}, False),
    ("SeriesgateWouldRefuse", {f"seriesgate_limit_series_refused{{{GATE},{EXEMPT.replace('exempt', 'ignored-values')}}}": "0x4 1x20"},
     False),
    ("SeriesgateBudgetFullSoon", {each.replace("per-ns", "ignored-values"): values
                                  for each, values in growing("100+20x40").items()}, False),
    # Nobody shares.
    ("SeriesgateNotShared", build_info("a", "b"), False),
    # Several tenants have had it refused.
    ("SeriesgateBudgetRefused", {**of_group(), refused_by("per-ns", "a"): "1x20", refused_by("per-ns", "b"): "1x20"}, True),
]

# What was refused before a limit was raised, or removed.
MORE_CASES += [
    (alert, {**{each: "1x20" if "_series_refused{" in each else values for each, values in CASES[alert][0].items()},
             **{each.replace("_series_refused{", "_series_max{"): limit for each in CASES[alert][0]
                if "_series_refused{" in each}}, False)
    for alert in ("SeriesgateTenantRefused", "SeriesgateBudgetRefused", "SeriesgateExemptSpent", "SeriesgateIgnoredValuesSpent",
                  "SeriesgateWouldRefuse") for limit in ("100x2 200x40", "100x2 0x40")
]
MORE_CASES += [("SeriesgateWouldRefuse", {figure: "0x4 1x20", figure.replace("refused", "max"): "200x40", OBSERVES: "1x20"}, False)
               for figure in (REFUSED, f"seriesgate_tenant_series_refused{{{GATE},{OBSERVED}}}")]


def test_each_alert_has_a_case():
    assert list(CASES) == list(ALERTS)


def test_the_runbook_lists_them_with_their_severities_and_has_a_section_for_each():
    text = RUNBOOK.read_text()
    lists = re.findall(r"^- \*\*(\w+)\*\* (.*(?:\n  .*)*)", text.split("\n## All alerts\n")[1].split("\n## ")[0], re.MULTILINE)
    listed = [(severity, *each) for severity, names in lists for each in re.findall(r"\[`(Seriesgate\w+)`\]\(#(\w+)\)", names)]
    assert listed == [(severity, name, name.lower()) for severity in ("critical", "warning", "info")
                      for name, alert in ALERTS.items() if alert["labels"]["severity"] == severity]
    assert re.findall(r"^### (Seriesgate\w+)$", text, re.MULTILINE) == list(ALERTS)
    assert {name for name in re.findall(r"\bSeriesgate[A-Z]\w+", text)} == set(ALERTS)


def test_an_alert_says_what_it_is_and_leads_to_its_section_of_the_runbook():
    def leads_there(alert):
        annotations = ALERTS[alert]["annotations"]
        assert list(annotations) == ["summary", "description", "runbook_url"]
        file, _, anchor = annotations["runbook_url"].partition("#")
        assert (file, anchor) == (f"{rule_tests.DOCUMENTS}/docs/runbook.md", alert.lower())
        assert anchor in documents.anchors(RUNBOOK.read_text())
        section = RUNBOOK.read_text().split(f"### {alert}\n")[1].split("\n#")[0]
        for part in ("**Meaning.**", "**Diagnosis.**", "**Mitigation.**"):
            assert section.count(part) == 1, part

    check_rows(named(ALERTS), leads_there)


def test_vmalert_takes_them():
    """It reads an expression as VictoriaMetrics does."""
    output_of(binary("vmalert"), "-dryRun", *(f"-rule={file}" for file in rule_tests.FILES))


# --- what wakes people at night

CRITICAL = {name for name, alert in ALERTS.items() if alert["labels"]["severity"] == "critical"}
FIRING_CRITICAL = 'count(ALERTS{severity="critical",alertstate="firing"})'


def minutes(text):
    return int(re.fullmatch(r"(\d+)m", text)[1])


def test_a_critical_alert_waits_whether_it_lasts():
    def waits(alert):
        rule = ALERTS[alert]
        assert "for" in rule and minutes(rule["for"]) >= 2
        # What moves for two minutes is moved for these and a range.
        assert all(minutes(rule["for"]) >= minutes(each) + 2 for each in re.findall(r"\[(\w+)\]", rule["expr"]))

    check_rows(named(CRITICAL), waits)


def test_one_bad_request_pages_nobody(tmp_path):
    """One of each kind, and all kinds in one minute; nor does a store of counts that is restarted."""
    counters = {alert: {series: "0x4 1x30" for series in CASES[alert][0]} for alert in CRITICAL if "increase(" in ALERTS[alert]["expr"]}
    assert {"SeriesgateRequestsMalformed", "SeriesgateStoreRejects"} < counters.keys()
    once = {**counters, "all at once": {series: values for each in counters.values() for series, values in each.items()},
            "a restart": {f"seriesgate_shared_up{{{GATE}}}": "1x4 0 1x30"}}
    rule_tests.check(tmp_path, *(
        rule_tests.scenario(name, {**series, **build_info("a")}, *(rule_tests.asks(FIRING_CRITICAL, minute) for minute in range(20)))
        for name, series in once.items()))


#: Scrapes, and how many of them in a row see something of what lasts for 45 seconds.
SCRAPES = {"15s": 3, "60s": 2}


@pytest.mark.parametrize("interval", SCRAPES)
def test_what_is_over_after_a_minute_fires_nothing_that_has_to_last(tmp_path, interval):
    """A store that is restarted, in which samples fail and are sent again; two bad requests half a minute apart."""
    seen = SCRAPES[interval]
    moves, rests = f"0x5 20+20x{seen - 1} {20 * seen}x60", "0x60"
    counters = {series: moves for alert, rule in ALERTS.items() if "increase(" in rule["expr"] and "for" in rule
                for series in CASES[alert][0] if "_total{" in series}
    assert len(counters) > 15
    lower = seen - 1 + 300 // int(interval[:-1])  # the ratio is of five minutes
    store = {**not_stored(f"1x5 0.5x{lower} 1x60", moves),
             f'seriesgate_upstream_errors_total{{{GATE},reason="connection_refused"}}': moves,
             f'seriesgate_upstream_errors_total{{{GATE},reason="busy"}}': rests}
    waiting = "|".join(alert for alert, rule in ALERTS.items() if "for" in rule)
    fired = f'count by (alertname) (count_over_time(ALERTS{{alertname=~"{waiting}",alertstate="firing"}}[15m]))'
    rule_tests.check(tmp_path, *(
        rule_tests.scenario(name, {**series, f"seriesgate_build_info{{{GATE}}}": "1x60"}, rule_tests.asks(fired, 15),
                            interval=interval)
        for name, series in {"counters": counters, "the store": store}.items()), every=interval)


@pytest.mark.parametrize("interval", SCRAPES)
def test_what_goes_on_pages(tmp_path, interval):
    """So that the tests above would notice: the same counters, moved with each scrape."""
    rule_tests.check(tmp_path, *(
        rule_tests.scenario(alert, {**{series: values.replace("x20", "x60") for series, values in CASES[alert][0].items()},
                                    **build_info("a")}, rule_tests.asks(FIRING_CRITICAL, 12, ("{}", 1)), interval=interval)
        for alert in CRITICAL - {"SeriesgateAbsent"}), every=interval)


def with_full_budgets(series):
    """What has refused is full, unless `series` says otherwise."""
    figures = [each.replace("_series_refused{", "_series_%s{") for each in series if "_series_refused{" in each]
    return {figure % part: "100x40" for figure in figures for part in ("max", "current")} | series


def unit_test(alert, series, fires):
    return rule_tests.scenario(f"{alert}: {'fires' if fires else 'is quiet'}", with_full_budgets(series),
                               rule_tests.fires(alert, MINUTES.get(alert, 8), int(fires)))


def both_cases(*fires):
    return [unit_test(alert, *case) for alert, both in CASES.items() for case in zip(both, fires, strict=True)]


@pytest.mark.timeout(180)
def test_every_alert_fires_when_it_should_and_not_when_it_should_not(tmp_path):
    rule_tests.check(tmp_path, *both_cases(True, False), *(unit_test(*case) for case in MORE_CASES))


@pytest.mark.timeout(180)
def test_these_cases_would_notice(tmp_path):
    """Both cases of an alert fail when they change places: promtool says of each what it asked, expected and got."""
    text = rule_tests.check(tmp_path, *both_cases(False, True), status=1)
    assert "FAILED" in text, text
    failed = re.findall(r'alertname=\\"(\w+)\\".*\n +exp: (.*)\n +got: (.*)', text)
    assert sorted((alert, expected != "nil", got != "nil") for alert, expected, got in failed) == sorted(
        (alert, fires, not fires) for alert in CASES for fires in (False, True)), text


SUMMARIES = {
    "SeriesgateStoreRejects": ({"code": "400"}, "a: the store answers 400, senders drop that data"),
    "SeriesgateStoreUnreachable": ({"reason": "dns"},
                                   "a: no answer from the store (dns), senders keep the data and come again"),
    "SeriesgateWouldRefuse": ({"limit": "per-ns", "group": '{namespace="a"}', "mode": "observe", "window": "daily"},
                              'a: enforced, per-ns {namespace="a"} would refuse 1 series'),
    "SeriesgateExemptSpent": ({"limit": "exempt", "tenant": "shop", "mode": "observe", "window": "daily"},
                              "a: 1 series of tenant shop that exempt selects are beyond maxExemptSeries of the daily window"),
    "SeriesgateTenantRefused": ({"tenant": "shop", "mode": "enforce", "window": "hourly"},
                                "a: tenant shop has spent its hourly limit, 1 new series are refused"),
}


def test_what_they_say_of_it(tmp_path):
    """Templates that are made of labels and values."""
    rule_tests.check(tmp_path, *(
        rule_tests.scenario(alert, with_full_budgets(CASES[alert][0]), told=[
            rule_tests.tells(alert, 8, {"job": "gate", "instance": "a", **labels}, summary)])
        for alert, (labels, summary) in SUMMARIES.items()))

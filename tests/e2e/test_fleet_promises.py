"""Gates that share a limit keep four promises, in scenes that broke one of them with an earlier design.

Known series flow. One limit holds for all. A series of the hour before keeps its place. When a store is back, all gates agree
again within seconds, by themselves.
"""

import http.client
import random
import signal

import pytest

from gate import sanitized
from promised_fleets import BEFORE_EDGE, EDGE, HALF_PAST, LIMIT, OLD, holds, later, new
from promised_fleets import promised  # noqa: F401
from query_store import OLD as FOR_HOURS
from query_store import YOUNG, QueryStore
from shared_fleets import GATES, share  # noqa: F401
from shared_stores import keep, start_store, store_kind  # noqa: F401
from traffic import identity
from waiting import eventually
from world import time

pytestmark = [pytest.mark.extended, pytest.mark.timeout(120)]

HOURLY = f"maxHourlySeries: {LIMIT}\n"
ALL = [len(OLD)] * GATES
BEFORE_NOON, NOON = "2026-03-10 11:59:50", "2026-03-10 12:00:01"
LOSSES = "seriesgate_shared_losses_total"


def scenes(names, cases):
    """`cases`: {what it is: values}"""
    return pytest.mark.parametrize(names, [pytest.param(*values, id=which) for which, values in cases.items()])


def amid_an_explosion():
    """Twice as many newcomers, in an order that is always the same."""
    mixed = OLD + new(1800)
    random.Random(1).shuffle(mixed)
    return mixed


def flow_at_all(fleet):
    """Every gate has seen every series."""
    for turn in range(GATES):
        assert fleet.offer(OLD, turn) == len(OLD)


def next_hour(fleet, begun=EDGE):
    fleet.set(later(begun, seconds=-10))
    fleet.begin(begun)


# --- a limit that observed at first

def observed_then_enforced(fleet, observed, offers):
    """`offers`: how often the explosion comes in the observed hour, and in the next. @return what came in both"""
    came = []
    fleet.begin(NOON)
    for turn in range(GATES):
        assert fleet.offer(observed, turn) == len(observed)
    if fleet.store:
        fleet.is_told()
    fleet.fleet.reload(HOURLY)
    for begins, times in zip((False, True), offers):
        if begins and fleet.store:
            fleet.is_told()
        if begins:
            next_hour(fleet)
        for turn in range(times):
            fleet.offer(amid_an_explosion(), turn)
        came.append((fleet.came(), fleet.fleet.admitted()))
    return came


@scenes("observed, offers", {
    "an explosion in the same hour": (OLD, (2, 2)),
    "an explosion in the next hour": (OLD, (0, 2)),
    "more than the limit": (OLD + new(600), (0, 2)),
})
def test_after_observing_a_fleet_enforces_as_one_gate_alone(promised, observed, offers):
    limits = f"mode: observe\n{HOURLY}"
    alone = observed_then_enforced(promised(limits, BEFORE_NOON, gates=1, alone=True), observed, offers)
    fleet = observed_then_enforced(promised(limits, BEFORE_NOON), observed, offers)
    holds([counts for counts, _ in fleet], [counts for counts, _ in alone])
    assert fleet == alone


def test_a_maximum_that_a_tenant_had_not_takes_nobodys_place(promised):
    wide = "maxHourlySeries: 100000\n"
    fleet = promised(wide, BEFORE_NOON)
    fleet.begin(NOON)
    flow_at_all(fleet)
    fleet.is_told()
    fleet.fleet.reload(f"{wide}tenants: {{default: {{maxHourlySeries: {LIMIT}}}}}\n")
    next_hour(fleet)
    for turn in range(2):
        fleet.offer(amid_an_explosion(), turn)
    old, others = fleet.came()
    holds((old, others <= LIMIT - len(OLD)), (len(OLD), True))


@scenes("change, came_between", {
    "an override": ("maxGroups: 1, overrides: [{group: {team: b}, maxHourlySeries: 1000}]", 0),
    "more groups": ("maxGroups: 9", 1),
})
def test_who_shared_a_budget_loses_no_places_when_it_gets_its_own(promised, change, came_between):
    def of_team_b(series):
        return [dict(each, team="b") for each in series]

    limits = f"maxHourlySeries: 100000\nlimits: [{{name: teams, each: [team], maxHourlySeries: {LIMIT}, %s}}]\n"
    fleet = promised(limits % "maxGroups: 1", BEFORE_NOON)
    fleet.begin(NOON)
    assert fleet.offer_to(0, [dict(each, team="a") for each in new(1)]) == 1  # the one group of its own
    for turn in range(GATES):
        assert fleet.offer(of_team_b(OLD), turn) == len(OLD)
    fleet.is_told()
    fleet.fleet.reload(limits % change)
    assert fleet.offer_to(0, of_team_b(new(came_between, 5000))) == came_between
    fleet.is_told()
    next_hour(fleet)
    for turn in range(2):
        fleet.offer(of_team_b(amid_an_explosion()), turn)
    came, old = fleet.fleet.admitted(), {identity(each) for each in of_team_b(OLD)}
    holds((len(came & old), len(came - old) <= LIMIT - len(OLD)), (len(OLD), True))


def test_an_hour_without_samples_is_no_loss(promised):
    fleet = promised(f"{HOURLY}maxDailySeries: {2 * LIMIT}\n", BEFORE_NOON)
    fleet.begin(NOON)
    flow_at_all(fleet)
    next_hour(fleet)
    flow_at_all(fleet)
    fleet.is_told()
    fleet.set(later(EDGE, hours=2))  # the records of both hours have ended; nobody has asked for an hour since
    time.sleep(3)
    holds([gate.metric(LOSSES) for gate in fleet.gates], [0] * GATES)


# --- a store that has lost its data

def flush(fleet):
    assert fleet.store.call("FLUSHALL") == "OK"


def restart(fleet):
    fleet.store.kill()
    fleet.store.restart()


def loses(fleet, lose=flush):
    lose(fleet)
    eventually(lambda: all(gate.metric(LOSSES) for gate in fleet.gates), "every gate has noticed the loss", 60, every=0.05)
    fleet.fleet.all_are("joined", 40)


@scenes("lose, kept", {
    "flushed": (flush, False),
    "restarted": (restart, False),
    "restarted with its file": (restart, True),
})
def test_with_a_daily_limit_all_flow_in_each_hour_after_a_loss(promised, lose, kept):
    fleet = promised(f"{HOURLY}maxDailySeries: {LIMIT + 500}\n", kept=kept)
    for turn in range(2):
        assert fleet.offer(OLD, turn) == len(OLD)
    loses(fleet, lose)
    flowed = {"after the loss": fleet.flow()}
    for hours, which in enumerate(("in the next hour", "in the hour after that")):
        next_hour(fleet, later(EDGE, hours=hours))
        flowed[which] = fleet.flow()
    fleet.set(later(EDGE, hours=1, minutes=40))
    flowed["40 minutes later"] = fleet.flow()
    holds(flowed, dict.fromkeys(flowed, ALL))


@pytest.mark.parametrize("dying", [(), (2,)], ids=["all live", "one gate dies"])
@pytest.mark.parametrize("lose", [flush, restart], ids=["flushed", "restarted"])
def test_a_loss_while_gates_tell_what_they_let_pass_costs_no_places(promised, lose, dying):
    fleet = promised(HOURLY, BEFORE_NOON)
    fleet.begin(NOON)
    flow_at_all(fleet)
    next_hour(fleet)
    eventually(lambda: fleet.fleet.offer(0, new(1)), "the hour is open")
    fleet.store.stand_still()
    assert fleet.offer(OLD) == len(OLD)
    for ordinal in dying:
        fleet.gates[ordinal].crash()
    staying = [ordinal for ordinal in range(GATES) if ordinal not in dying]
    for ordinal in staying:  # the store loses what it is told before a gate hears of another one's series
        fleet.gates[ordinal].signal(signal.SIGSTOP)
    if lose is flush:
        fleet.store.go_on()
    lose(fleet)
    for ordinal in staying:
        fleet.gates[ordinal].signal(signal.SIGCONT)
    flowed = {ordinal: [len(OLD)] for ordinal in staying}  # at the worst

    def flow_where_noticed():
        noticed = [ordinal for ordinal in staying if fleet.gates[ordinal].metric(LOSSES)]
        for ordinal in noticed:
            flowed[ordinal][0] = min(flowed[ordinal][0], fleet.offer_to(ordinal, OLD))
        return noticed == staying

    eventually(flow_where_noticed, "all gates have noticed", 30)
    for ordinal in dying:
        fleet.fleet.restart(ordinal)
    eventually(lambda: flow_where_noticed() and set(fleet.fleet.states()) == {"joined"}, "all gates have joined again", 60)
    fleet.offer(new(300))
    fleet.set(later(EDGE, minutes=30))
    for ordinal in range(GATES):
        flowed.setdefault(ordinal, []).append(fleet.offer_to(ordinal, OLD))
    holds(flowed, {ordinal: [len(OLD)] * len(times) for ordinal, times in flowed.items()})
    fleet.fills_up(new(300))


# --- a gate that is cut off

@pytest.mark.parametrize("mode", ["refuse", "local"])
def test_a_gate_that_is_cut_off_over_an_edge_keeps_its_places(promised, mode):
    fleet = promised(HOURLY, relayed=True, onUnavailable=mode)
    parts = [OLD[:450], OLD[450:675], OLD[675:]]
    for _ in range(2):
        assert [fleet.offer_to(ordinal, part) for ordinal, part in enumerate(parts)] == [450, 225, 225]
    fleet.set(BEFORE_EDGE)
    time.sleep(1.5)  # each gate hears the store's time within a second
    fleet.relay.cut()
    eventually(lambda: fleet.fleet.states()[0] == "away", "it is cut off")
    fleet.begin(EDGE)
    for turn in range(12):  # the others hear within a second that the grace has ended: who finds room finds it here
        if turn == 2:
            fleet.set(later(EDGE, minutes=15))
        holds([fleet.offer_to(ordinal, part) for ordinal, part in enumerate(parts)], [450, 225, 225])
        holds(fleet.offer_to(0, new(10, start=5000 + 10 * turn)), 0)
        for ordinal in (1, 2):
            fleet.offer_to(ordinal, new(100, start=100 * turn))
        time.sleep(0.25)
    cut_off = fleet.came()
    fleet.relay.mend()
    fleet.fleet.all_join()
    flowed = fleet.flow()
    holds((cut_off, flowed, fleet.came()), ((900, 100), ALL, (900, 100)))


# --- the first start

def test_a_fleet_that_starts_warm_beside_an_explosion_lets_all_flow(share, start_store):
    with QueryStore() as queried:
        queried.add(OLD, FOR_HOURS)
        queried.add(new(300), YOUNG)
        fleet = share(start_store(), f"{HOURLY}warmStart: {{url: '{queried.root}'}}\n")
        eventually(lambda: {gate.stats["warmStart"]["state"] for gate in fleet.gates} == {"complete"}, "all are warm", 30)
        mixed = amid_an_explosion()
        for turn in range(2):
            for ordinal in range(GATES):
                fleet.offer(ordinal, mixed[(ordinal + turn) % GATES::GATES])
    came, old = fleet.admitted(), {identity(labels) for labels in OLD}
    assert (len(came & old), len(came)) == (len(OLD), LIMIT)


def test_a_gate_that_knows_its_fleets_series_by_then_has_started_warm_too(share, start_store):
    with QueryStore() as queried:
        queried.add(OLD, FOR_HOURS)
        fleet = share(start_store(), f"{HOURLY}warmStart: {{url: '{queried.root}'}}\n", gates=1)
        eventually(lambda: fleet.gates[0].stats["warmStart"]["state"] == "complete", "it is warm", 30)
        fleet.gates[0].stop()
        queried.respond_after = 1  # the shared store is read by then
        gate = fleet.restart(0)
        eventually(lambda: gate.stats["warmStart"]["state"] != "reading", "it has read", 30)
        assert gate.stats["warmStart"]["state"] == "complete"


# --- a gate whose memory runs out

has_own_malloc = pytest.mark.skipif(sanitized("asan", "tsan"), reason="the sanitizer's own memory does not run out")


def at_an_edge_with_scarce_memory(promised):
    """@return a fleet that lets series of the hour before pass at once, and those of them that go on"""
    fleet = promised(f"{HOURLY}server: {{threads: 1}}\n", BEFORE_NOON, scarce=True)
    fleet.begin(NOON)
    flow_at_all(fleet)
    next_hour(fleet)
    eventually(lambda: fleet.fleet.offer(0, new(1)), "the hour is open")
    return fleet, OLD[:600]


def newcomers_find_room_after_the_grace(fleet, staying):
    holds(fleet.offer(staying, 1), len(staying))
    fleet.set(later(EDGE, minutes=11))
    fleet.fills_up(new(600))
    holds(fleet.flow(staying), [len(staying)] * GATES)


@has_own_malloc
def test_memory_that_runs_out_while_gates_tell_costs_newcomers_no_room(promised):
    fleet, staying = at_an_edge_with_scarce_memory(promised)
    fleet.store.stand_still()
    assert fleet.offer(staying) == len(staying)
    for memory in fleet.memories:
        memory.run_out()
    fleet.store.go_on()
    eventually(lambda: min(memory.refusals for memory in fleet.memories) >= 5, "all that a gate does was refused memory", 30)
    for memory in fleet.memories:
        memory.come_back()
    newcomers_find_room_after_the_grace(fleet, staying)


@has_own_malloc
def test_memory_that_runs_out_anywhere_in_a_request_costs_newcomers_no_room(promised):
    fleet, staying = at_an_edge_with_scarce_memory(promised)
    memory = fleet.memories[0]
    for first, at in enumerate(range(0, len(staying), 5)):
        before, some = memory.refusals, staying[at:at + 5]
        memory.run_out(first=first)
        try:
            fleet.fleet.offer(0, some)
        except (OSError, http.client.HTTPException):
            pass  # dropped
        except AssertionError as other:
            assert "status=503" in str(other), other
        memory.come_back()
        holds(len(fleet.fleet.offer(0, some)), len(some))
        if memory.refusals == before:
            break
    assert 5 < first < 100, "so many pieces of memory a request takes"
    newcomers_find_room_after_the_grace(fleet, staying)


# --- a roll-out

def roll(fleet):
    """Restarts one gate after the other."""
    for ordinal in range(GATES):
        fleet.gates[ordinal].stop()
        fleet.fleet.restart(ordinal)
        fleet.fleet.all_join()


@pytest.mark.parametrize("rolled_at", [HALF_PAST, EDGE], ids=["in the hour before", "in the grace"])
def test_after_a_rolling_restart_newcomers_find_room_when_the_grace_ends(promised, rolled_at):
    fleet = promised(HOURLY, BEFORE_NOON)
    fleet.begin(NOON)
    assert fleet.offer(OLD) == len(OLD)
    if rolled_at == HALF_PAST:
        fleet.set(HALF_PAST)
        roll(fleet)
    next_hour(fleet)
    staying = OLD[:600]  # the others have ended
    holds(fleet.offer(staying, 1), 600)
    if rolled_at == EDGE:
        roll(fleet)
    holds(fleet.offer(staying, 2), 600)
    fleet.offer(new(300))
    holds(fleet.came(), (600, 100))
    fleet.set(later(EDGE, minutes=11))
    fleet.fills_up(new(600))
    holds(fleet.flow(staying), [600] * GATES)

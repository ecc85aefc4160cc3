"""seriesgate top: what a running gate says, in a terminal."""

import json
import os
import re
import signal

import pytest

from answering import impostor  # noqa: F401 (a fixture)
from certificates import Authority
from gate import run, why_it_comes_to_nothing
from secure import Secured
from servers import free_port
from tables import check_rows, named
from terminal import Terminal
from traffic import TENANT, body, numbered
from waiting import eventually
from web_files import ALICE_CHANGED, users
from world import socket

NAME = "http_requests_total"
KEYS = "q quit"


def explode(gate, count=5000):
    """Three series of a node, and then one label that explodes."""
    series = [{"__name__": NAME, "job": "shop", "instance": f"a{i % 5}:80", "trace_id": f"t{i}"} for i in range(count)]
    assert gate.send(body(numbered(3, name="up", job="node")), [("User-Agent", "vmagent/1.100")]).status == 204
    for start in range(0, count, 1000):
        assert gate.send(body(series[start:start + 1000]), [("User-Agent", "Prometheus/3.5.0")]).status == 204


def report(gate, *flags, **how):
    """The lines of a report."""
    made = run("top", f"--url={gate.url}", *flags, **how)
    assert (made.returncode, made.stderr) == (0, ""), made
    assert "\x1b" not in made.stdout
    return made.stdout.split("\n")


def failure(*flags):
    return why_it_comes_to_nothing("top", *flags)


def section(lines, heading):
    """The lines below it, up to an empty one."""
    below = lines[next(i for i, line in enumerate(lines) if line.startswith(heading)) + 1:]
    return below[:below.index("")]


@pytest.fixture
def gate(start_gate):
    return start_gate("--upstream.url=discard:", "--maxHourlySeries=2000")


@pytest.fixture
def terminal(keep):
    return lambda gate, *flags, **how: keep(Terminal(
        "top", f"--url={gate if isinstance(gate, str) else gate.url}", "--interval=200ms", *flags, **how))


# --- once

def test_a_report_names_the_culprit_with_its_numbers_and_what_stops_it(gate):
    explode(gate)
    lines = report(gate)
    assert lines[0].startswith("seriesgate ") and "  enforce  " in lines[0] and gate.url in lines[0]
    assert lines[1].startswith(f"hour  [{30 * '#'}] 100 %  2,000 of 2,000  refused 3,003  ")
    assert lines[2].startswith("day") and " 2,000 new, not limited " in lines[2]
    finding = section(lines, "Findings of the hour")
    sentence = " ".join(part.strip() for part in finding[:2])
    assert sentence.startswith(f"1. label trace_id of {NAME} has ")
    assert "5,000 new series of job shop" in sentence and "Prometheus/3.5.0" in sentence
    assert f"       regex: '{NAME};shop;.+'" in finding and "       action: drop" in finding
    assert f"     - name: '{NAME}'" in finding
    first, second = (line.split() for line in section(lines, "New series of the hour by metric"))
    assert (first[:2], second[:2]) == (["1,997", NAME], ["3", "up"])
    refused = section(lines, "Refused last, ")
    assert len(refused) == 10 and f'{NAME}{{instance="a4:80",job="shop",trace_id="t4999"}}' in refused[0]
    assert refused[0].rstrip().endswith("global/hour  127.0.0.1")
    assert lines[-2] == "discard: what is admitted goes nowhere"


def test_a_report_has_the_budgets_nearest_to_their_limit_and_the_upstream(limited):
    gate = limited("""
maxHourlySeries: 1000
tenants: {default: {maxHourlySeries: 100}}
limits:
  - {name: per-job, each: [job], maxHourlySeries: 50, maxDailySeries: 1000}
""")
    for tenant, count in (("a", 95), ("b", 10)):
        assert gate.send(body(numbered(count, job=tenant)), [(TENANT, tenant)]).status == 204
    lines = report(gate)
    budgets = section(lines, "Budgets nearest to their limit")
    assert [" ".join(line.replace("#", "").split()) for line in budgets] == [
        "hour per-job{job=a} [] 100 % 50 of 50 refused 45", "hour tenant a [-----] 50 % 50 of 100 refused 0",
        "hour per-job{job=b} [--------] 20 % 10 of 50 refused 0", "hour tenant b [---------] 10 % 10 of 100 refused 0",
        "day per-job{job=a} [----------] 5 % 50 of 1,000 refused 0",
        "day per-job{job=b} [----------] 1 % 10 of 1,000 refused 0"]
    upstream, = section([*lines, ""], "Upstream")
    assert upstream.startswith("up    127.0.0.1:") and "  requests 2  errors 0" in upstream


def test_without_a_terminal_it_reports_even_if_it_is_not_told_to(gate):
    without, once = report(gate, env={**os.environ, "TERM": "xterm"}), report(gate, "--once")
    assert without[3:] == once[3:] and max(map(len, once)) == 120


def test_a_gate_that_is_not_there_is_said_in_a_line(start_gate):
    gate = start_gate("--upstream.url=discard:", listen=f"127.0.0.1:{free_port()}")  # one that nobody takes meanwhile
    url = gate.url
    gate.stop()
    assert failure(f"--url={url}", "--once") == (
        f"seriesgate top: {url}: connecting to {url.removeprefix('http://')}: Connection refused")
    assert failure("--url=http://gate.invalid:1").startswith(
        "seriesgate top: http://gate.invalid:1: gate.invalid does not resolve: ")
    assert failure("--ulr=x") == "seriesgate: top: --ulr: unknown flag, did you mean --url?"


def test_where_people_are_not_answered_it_says_so(start_gate):
    gate = start_gate("--upstream.url=discard:", config="admin: {listen: '127.0.0.1:0'}\n")
    assert failure(f"--url={gate.url}").endswith(
        ": /stats is not there (404): is this where the gate answers people (admin.listen)?")
    host, port = gate.admin_address
    gate.url = f"http://{host}:{port}/"
    assert report(gate)[0].startswith("seriesgate ")


def test_a_unix_socket_is_as_good(start_gate, tmp_path):
    gate = start_gate("--upstream.url=discard:", listen=f"unix:{tmp_path / 'gate.sock'}")
    gate.url = f"unix:{tmp_path / 'gate.sock'}"
    assert report(gate)[0].startswith("seriesgate ")


# --- who asks, and whom

def test_a_gate_that_wants_to_know_who_asks_is_told(guarded, tmp_path):
    right, wrong, empty, token = (tmp_path / each for each in ("right", "wrong", "empty", "token"))
    token.write_text("t0ken-of-the-tests\n")
    gate = guarded(users(ALICE_CHANGED) + f"bearer_tokens: [{{name: ops, token_file: {token}}}]\n")
    name, password, _ = ALICE_CHANGED
    right.write_text(password + "\n")
    wrong.write_text("guess\n")
    empty.touch()
    for flags in ([f"--username={name}", f"--password-file={right}"], [f"--bearer-token-file={token}"]):
        assert report(gate, *flags)[0].startswith("seriesgate ")
    assert failure(f"--url={gate.url}") == (
        f"seriesgate top: {gate.url}: the gate wants to know who asks (401): --username and --password-file, or "
        "--bearer-token-file, say it")
    assert failure(f"--url={gate.url}", f"--username={name}", f"--password-file={wrong}").endswith(
        ": the gate does not know these credentials (401)")
    for file in (empty, tmp_path / "none"):
        assert "--password-file: " in failure(f"--url={gate.url}", f"--username={name}", f"--password-file={file}")


def test_tls_is_spoken_with_whom_the_authority_knows(start_gate, tmp_path):
    secured = Secured(tmp_path)
    gate = start_gate("--upstream.url=discard:", secured.web(), authority=secured.authority.certificate)
    assert report(gate, f"--ca-file={secured.authority.certificate}")[0].startswith("seriesgate ")
    assert report(gate, "--insecure-skip-verify")[0].startswith("seriesgate ")
    other = Authority(tmp_path, "other").certificate
    for flags in ([f"--ca-file={other}"], []):
        assert "certificate" in failure(f"--url={gate.url}", *flags)
    plain = gate.url.replace("https", "http")
    assert failure(f"--url={plain}").startswith(f"seriesgate top: {plain}: ")
    assert "--ca-file: " in failure(f"--url={gate.url}", f"--ca-file={tmp_path / 'none'}")


# --- servers that mean no good

NO_ANSWERS = {
    "codes": (b"\x1b[2J" * 100, 200, "/stats: the answer is not that of a seriesgate"),
    "too large": (b"[" * (8 * 2**20 + 1), 200, "the answer is larger than 8 MiB"),
    "deep": (b"[" * 8 * 2**20, 200, "/stats: the answer is not that of a seriesgate"),
    "an error": (b"\x1b[2Jbusy\nsecond line", 503, "/stats answers 503: \\x1b[2Jbusy"),
    "a long error": (b"x" * 300, 503, "/stats answers 503: " + "x" * 200),
    "an error of the API": (json.dumps({"status": "error", "errorType": "unavailable", "error": "too many"}).encode(), 503,
                            "/stats answers 503: too many"),
}


def test_what_is_no_answer_of_a_gate_is_said_in_a_line(impostor):  # noqa: F811
    """Hostile texts in answers that are one: tests/top/frame_test.cpp."""
    def is_said(answer, status, said):
        url = impostor(answer, status)
        assert failure(f"--url={url}") == f"seriesgate top: {url}: {said}"

    check_rows(NO_ANSWERS, is_said)
    endless = impostor(b"", headers=[("X-Long", "x" * 20_000)])
    assert "header" in failure(f"--url={endless}")


@pytest.fixture
def silent():
    """The URL of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_one_that_does_not_answer_is_not_waited_for_without_end(silent, terminal):
    shown = terminal(silent)
    shown.shows("asking...", KEYS)
    shown.press("?")
    shown.shows("PgUp, PgDn")  # keys do not wait for it
    assert failure(f"--url={silent}") == f"seriesgate top: {silent}: no answer in time"
    shown.shows("no answer in time")
    shown.press("q")
    assert shown.wait() == 0 and shown.is_as_before


# --- live

def test_keys_change_what_is_shown(gate, terminal):
    """Each of them: tests/top/view_test.cpp."""
    explode(gate)
    before = gate.stats["windows"]["hourly"]["refusedSeries"]  # an estimate
    shown = terminal(gate)
    shown.shows("New series of the hour by metric", "label trace_id of", "2,000 of 2,000", KEYS)
    assert shown.line("      1,997  ").split()[:2] == ["1,997", NAME]
    shown.press("r")
    shown.shows("Refused series of the hour by metric")
    assert shown.line("      3,003  ").split()[:2] == ["3,003", NAME]
    shown.press("sdn")
    shown.shows("New series of the day by sender", "Findings of the day", "vmagent/1.100")
    shown.press("mh")
    shown.shows("New series of the hour by metric", "Findings of the hour")
    shown.press("x")
    shown.shows("=> Findings of the hour", "action: drop")
    shown.press("x\t\t\t")
    shown.shows("=> Refused last, ", " ago (1-", 'trace_id="t4999"')
    shown.press("\x1b[B\x1bOB")
    shown.shows("=> Refused last, ", " ago (3-", 'trace_id="t4997"')
    shown.press("?")
    shown.shows("PgUp, PgDn", KEYS)
    shown.press("\x1b?")
    shown.press("?")
    shown.shows("Refused last")
    assert gate.send(body(numbered(400, name="down"))).status == 204
    refused = gate.stats["windows"]["hourly"]["refusedSeries"]
    assert refused != before
    shown.shows(f"2,000 of 2,000  refused {refused:,}  ")
    shown.press("q")
    assert shown.wait() == 0
    assert shown.is_as_before


def test_however_it_ends_the_terminal_is_as_it_was(gate, terminal):
    def is_as_it_was(end):
        shown = terminal(gate)
        shown.shows("nothing has exploded", KEYS)
        assert shown.screen.modes == {1049: True, 25: False, 7: False} and not shown.is_as_before
        shown.press(end) if isinstance(end, str) else shown.signal(end)
        assert shown.wait() == 0
        assert shown.is_as_before

    check_rows(named(["q", "\x03", signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT]), is_as_it_was, gate)


def test_it_fills_the_terminal_whatever_size_that_gets(gate, terminal):
    shown = terminal(gate)
    lines = shown.shows("nothing has exploded", "Upstream", KEYS)
    assert KEYS in lines[23] and max(map(len, lines)) == 80
    for rows, columns in ((40, 120), (10, 40), (24, 80)):
        wiped = shown.screen.wiped
        shown.resize(rows, columns)
        eventually(lambda: shown.read(0.05) and shown.screen.wiped > wiped, "it draws anew")
        lines = shown.shows("nothing has exploded", KEYS)
        assert KEYS in lines[rows - 1] and max(map(len, lines)) == columns
    shown.resize(2, 20)
    shown.shows(KEYS)


def test_ctrl_z_gives_the_terminal_back_until_it_goes_on(gate, terminal):
    shown = terminal(gate)
    shown.shows(KEYS)
    shown.press("\x1a")
    stat = f"/proc/{shown.process.pid}/stat"
    eventually(lambda: open(stat).read().rsplit(")", 1)[1].split()[0] == "T", "that it stops")
    assert shown.is_as_before
    shown.screen.resize(24, 80)
    shown.signal(signal.SIGCONT)
    shown.shows("nothing has exploded", KEYS)
    assert shown.screen.modes[1049]
    shown.press("q")
    assert shown.wait() == 0 and shown.is_as_before


def test_a_gate_that_goes_away_is_said_and_asked_again(start_gate, terminal):
    listen = f"127.0.0.1:{free_port()}"
    gate = start_gate("--upstream.url=discard:", listen=listen)
    shown = terminal(gate)
    shown.shows("nothing has exploded")
    gate.stop()
    assert "this is from " in shown.line("Connection refused")
    assert "nothing has exploded" in "".join(shown.screen.lines)
    start_gate("--upstream.url=discard:", listen=listen)
    eventually(lambda: "Connection refused" not in "".join(shown.read(0.05)), "that it is heard of again")
    shown.press("q")
    assert shown.wait() == 0 and shown.is_as_before


def test_a_connection_that_lasts_is_as_good_as_a_new_one(gate, terminal):
    """Each answer has five seconds of its own."""
    shown = terminal(gate)

    seconds_up = []

    def is_six_seconds_later():
        text = "".join(shown.read(0.05))
        assert "no answer in time" not in text
        if found := re.search(r"\bup (\d+) (s|min)\b", text):
            seconds_up.append(int(found[1]) * {"s": 1, "min": 60}[found[2]])
        return seconds_up and seconds_up[-1] >= seconds_up[0] + 6

    eventually(is_six_seconds_later, "answers for six seconds", 60)


def test_colours_can_be_refused(gate, terminal):
    colourful, plain = terminal(gate), terminal(gate, NO_COLOR="1")
    for shown in (colourful, plain):
        shown.shows("nothing has exploded", KEYS)
    assert 32 in colourful.screen.colours and not plain.screen.colours


def test_a_terminal_that_knows_no_codes_gets_a_report(gate, terminal):
    made = run("top", f"--url={gate.url}", env={**os.environ, "TERM": "dumb"})
    assert made.returncode == 0
    shown = terminal(gate, TERM="dumb", is_plain=True)
    assert shown.wait() == 0
    assert shown.plain.replace("\r\n", "\n").split("\n")[-2:] == made.stdout.split("\n")[-2:]
    assert max(map(len, shown.plain.split("\r\n"))) == 80
    unknown = terminal(gate, "--once", rows=0, columns=0, is_plain=True)
    assert unknown.wait() == 0
    assert max(map(len, unknown.plain.split("\r\n"))) == 120

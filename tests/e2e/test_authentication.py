"""Who may ask: curl, and what a password costs. The rest: tests/scenes/test_authentication.py."""

import subprocess

from web_files import ALICE, basic, users
from world import time


def ask(gate, path="/stats", headers=(), method="GET"):
    with gate.client() as client:
        return client.request(method, path, headers=headers)


def test_curl_is_let_in(guarded):
    gate = guarded(users(ALICE))

    def curl(*flags):
        done = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", *flags, gate.url + "/stats"],
                              capture_output=True, text=True, timeout=30, check=True)
        return done.stdout

    assert curl("-u", "alice:secret") == "200"
    assert curl("-u", "alice:wrong") == "401"
    assert curl("--anyauth", "-u", "alice:secret") == "200"
    assert curl() == "401"


def test_a_password_is_checked_once(guarded):
    """At cost 10 a check takes 50 ms and more; a hundred requests would take five seconds."""
    gate = guarded(users(ALICE))
    assert ask(gate, headers=[basic(ALICE)]).status == 200
    began = time.monotonic()
    with gate.client() as client:
        for _ in range(100):
            assert client.request("GET", "/-/healthy", headers=[basic(ALICE)]).status == 200
    many = time.monotonic() - began
    began = time.monotonic()
    assert ask(gate, headers=[basic("alice", "never seen")]).status == 401
    assert many < 100 * (time.monotonic() - began) / 4, f"{many:.2f} s"


def test_a_user_that_there_is_not_takes_as_long_as_one_that_there_is(guarded):
    gate = guarded(users(ALICE))
    assert ask(gate, headers=[basic(ALICE)]).status == 200

    def seconds(user, at):
        began = time.monotonic()
        assert ask(gate, headers=[basic(user, f"wrong{at}")]).status == 401
        return time.monotonic() - began

    seconds("eve", "before")  # so that all of them wait for the rest that follows a wrong one
    rounds = [{user: seconds(user, at) for user in ("alice", "eve")} for at in range(5)]
    took = {user: min(each[user] for each in rounds) for user in ("alice", "eve")}
    assert 0.5 < took["alice"] / took["eve"] < 2, took

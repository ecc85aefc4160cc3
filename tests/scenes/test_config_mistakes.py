"""What a configuration may be written with. Mistakes: tests/e2e/test_config_mistakes.py."""

DISCARD = "--upstream.url=discard:"


def test_a_count_has_units(start_gate):
    gate = start_gate(DISCARD, "--maxHourlySeries=2.5k", config="maxDailySeries: 1_000_000\n")
    windows = gate.stats["windows"]
    assert [windows[name]["maxSeries"] for name in ("hourly", "daily")] == [2500, 1000000]


def test_variables_are_filled_in_at_the_start_and_at_a_reload(start_gate, upstream):
    environment = {"STORE": upstream.url, "LIMIT": "3k"}
    text = "upstream:\n  url: ${STORE}\nmaxHourlySeries: ${LIMIT}\nlimits:\n- {name: a, match: '{job=~\"x$\"}'}\n"
    gate = start_gate(config=text, environment=environment)
    assert gate.stats["windows"]["hourly"]["maxSeries"] == 3000
    assert gate.reload(text + "maxDailySeries: ${LIMIT}\n").status == 200
    assert gate.stats["windows"]["daily"]["maxSeries"] == 3000
    reply = gate.reload(text + "maxDailySeries: ${OTHER_LIMIT}\n")
    assert (reply.status, reply.body.decode().strip()) == (
        400, f"{gate.config_file}:6: maxDailySeries: the environment variable 'OTHER_LIMIT' is not set")

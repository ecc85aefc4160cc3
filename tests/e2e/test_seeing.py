"""What the gate tells of its process and of the binary, in /stats, /metrics and on its page."""

import time

from gate import run


def test_the_version_is_the_one_of_the_command_line(gate):
    version = gate.stats["version"]
    assert version in run("--version").stdout
    assert f"<h1>seriesgate <small>{version}</small></h1>" in gate.get("/").body.decode()


def test_process_metrics_have_the_names_of_the_client_libraries(gate):
    metrics = {name: value for (name, labels), value in gate.metrics.items() if not labels}
    assert abs(metrics["process_start_time_seconds"] - time.time()) < 120
    assert metrics["process_cpu_seconds_total"] >= 0
    assert metrics["process_resident_memory_bytes"] > 1 << 20
    assert metrics["process_virtual_memory_bytes"] > 1 << 20
    assert 3 < metrics["process_open_fds"] <= metrics["process_max_fds"]

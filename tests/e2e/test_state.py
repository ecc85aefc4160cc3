"""What a restart does not forget though the gate was killed, and a directory that is not for it alone."""

from gate import run, why_it_cannot_serve
from kept_state import directory, forgets_nothing, kept, settled  # noqa: F401 (a fixture)
from traffic import numbered, offer


def test_a_crash_forgets_nothing_that_was_saved(limited, upstream, directory):  # noqa: F811
    forgets_nothing(limited, upstream, directory, "crash")


def test_a_crash_forgets_no_active_series_that_were_saved(limited, upstream, directory):  # noqa: F811
    text = kept(directory, "seriesSet: exact\nmaxActiveSeries: 10\n", "100ms")
    gate = limited(text)
    assert offer(gate, upstream, numbered(12)) == numbered(10)
    settled(gate, directory)
    gate.crash()
    gate = limited(text)
    assert gate.current("active") == 10
    assert offer(gate, upstream, numbered(20)) == numbered(10)


def test_a_crash_forgets_what_no_interval_has_saved(limited, upstream, directory):  # noqa: F811
    gate = limited(kept(directory, "maxHourlySeries: 5\n"))
    assert len(offer(gate, upstream, numbered(9))) == 5
    gate.crash()
    gate = limited(kept(directory, "maxHourlySeries: 5\n"))
    assert gate.current() == 0
    assert gate.errors == []
    assert offer(gate, upstream, numbered(9, start=4)) == numbered(5, start=4)


def test_a_second_process_on_the_same_directory_is_one_clear_line(limited, upstream, directory, tmp_path):  # noqa: F811
    text = kept(directory, "maxHourlySeries: 5\n")
    first = limited(text)
    offer(first, upstream, numbered(3))
    line = why_it_cannot_serve(run(f"--config.file={first.config_file}", "--upstream.url=discard:", "--listen=127.0.0.1:0"))
    assert line == f"state.dir: {directory} is in use by another process"
    assert offer(first, upstream, numbered(9)) == numbered(5)
    first.crash()
    second = limited(text)  # the lock has gone with the process
    assert second.send(b"bad").status == 400

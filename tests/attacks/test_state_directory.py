"""What a neighbour with a hand in state.dir may do: the gate neither hangs nor ends nor loses its state in silence."""

import contextlib
import resource
import signal
from pathlib import Path

import pytest

from bounds import status, within
from gate import run, sanitized, why_it_cannot_serve
from kept_state import FAILURES, SAVES, directory, kept, settled  # noqa: F401 (a fixture)
from traffic import numbered, offer
from waiting import eventually

pytestmark = pytest.mark.one_thread

LIMITS = "maxHourlySeries: 5\n"


@pytest.fixture
def saving(limited, upstream, directory):  # noqa: F811
    """A gate that has saved three of its five series, and its configuration."""
    text = kept(directory, LIMITS, "100ms")
    gate = limited(text)
    assert len(offer(gate, upstream, numbered(3))) == 3
    settled(gate, directory)
    return gate, text


@contextlib.contextmanager
def halted(gate):
    """What happens inside is one moment to the gate."""
    gate.signal(signal.SIGSTOP)
    stat = Path(f"/proc/{gate.pid}/stat")
    eventually(lambda: stat.read_text().rsplit(")", 1)[1].split()[0] == "T", "it has stopped")
    try:
        yield
    finally:
        gate.signal(signal.SIGCONT)


# --- the directory goes while the gate runs

def test_a_directory_that_goes_is_made_anew_with_its_state(saving, limited, upstream, directory):  # noqa: F811
    """However it goes: tests/process/state_directory_test.cpp."""
    gate, text = saving
    with within(gate, memory_mib=16, cpu=1):
        with halted(gate):
            directory.rename(directory.parent / "elsewhere")
            directory.mkdir()
        # Nothing new has come: the state is saved again because it is gone.
        eventually(lambda: (directory / "state").exists(), "the state is there again")
        eventually(lambda: "made anew" in gate.log, "the log says so")
    assert gate.metric(FAILURES) == 0
    second = run(f"--config.file={gate.config_file}", "--upstream.url=discard:", "--listen=127.0.0.1:0")
    assert "in use" in why_it_cannot_serve(second)
    gate.crash()
    assert offer(limited(text), upstream, numbered(9, start=1)) == numbered(4, start=1)  # two of three, and two more


def test_a_second_gate_in_its_place_keeps_what_is_its_own(saving, limited, upstream, directory):  # noqa: F811
    first, text = saving
    with halted(first):  # who would take the path again at its next interval
        directory.rename(directory.parent / "elsewhere")
        second = limited(kept(directory, LIMITS, "1h"))
    eventually(lambda: first.metric(FAILURES) >= 2, "the first one cannot save")
    why = f"state.dir: {directory} is in use by another process"
    eventually(lambda: first.said("state not saved", err=why), "the log says so")
    assert len(offer(second, upstream, numbered(5, start=100))) == 5
    second.stop()
    state = (directory / "state").read_bytes()
    failures = first.metric(FAILURES)
    eventually(lambda: first.metric(FAILURES) >= failures + 2, "it does not save over what another has saved")
    eventually(lambda: "is another directory now" in first.log, "the log says why")
    assert offer(first, upstream, numbered(9)) == numbered(5)  # and goes on with what it knows
    first.stop()
    assert (directory / "state").read_bytes() == state


# --- the thread that saves

@pytest.mark.skipif(sanitized("asan", "tsan"), reason="a sanitizer ends the process when it gets no memory")
@pytest.mark.parametrize("at_shutdown", [False, True])
def test_no_memory_for_a_save_is_a_failed_save(limited, upstream, directory, at_shutdown):  # noqa: F811
    """A save's buffers are what is refused here: the bound is on memory that is yet to be mapped."""
    gate = limited(kept(directory, LIMITS, "1h" if at_shutdown else "100ms"))
    for _ in range(20):  # what the other threads need is theirs before the limit
        assert gate.send(b"bad").status == 400
        assert gate.metric(SAVES) == 0
    bound = (status(gate, "VmData") + (512 << 10), resource.RLIM_INFINITY)
    usual = resource.prlimit(gate.pid, resource.RLIMIT_DATA, bound)
    offer(gate, upstream, numbered(3))
    if at_shutdown:
        gate.stop()  # exit status 0
        assert "state not saved" in gate.log and "stopped" in gate.log
        return
    eventually(lambda: "state not saved" in gate.log, "a save fails")
    resource.prlimit(gate.pid, resource.RLIMIT_DATA, usual)
    failures, saves = gate.metric(FAILURES), gate.metric(SAVES)
    assert failures >= 1
    eventually(lambda: gate.metric(SAVES) > saves, "it is saved at a later interval")

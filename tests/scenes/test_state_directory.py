"""What a neighbour with a hand in state.dir may put in the place of a file: the gate neither hangs nor ends nor loses its
state in silence. What else there is: tests/attacks/test_state_directory.py."""

import os

import pytest

from bounds import within
from kept_state import FAILURES, SAVES, directory, kept, settled  # noqa: F401 (a fixture)
from obstacles import OBSTACLES, in_the_way
from traffic import numbered, offer
from waiting import eventually

LIMITS = "maxHourlySeries: 5\n"


@pytest.fixture
def saving(limited, upstream, directory):  # noqa: F811
    """A gate that has saved three of its five series, and its configuration."""
    text = kept(directory, LIMITS, "100ms")
    gate = limited(text)
    assert len(offer(gate, upstream, numbered(3))) == 3
    settled(directory)
    return gate, text


@pytest.mark.parametrize("what", OBSTACLES)
def test_what_is_in_the_way_of_a_save_is_not_waited_for_or_followed(saving, limited, upstream, directory,  # noqa: F811
                                                                    what):
    gate, text = saving
    victim = directory.parent / "victim"
    victim.write_text("untouched")
    saves = gate.metric(SAVES)
    (directory / "state.new").unlink(missing_ok=True)
    in_the_way(what, directory / "state.new")
    with within(gate, memory_mib=16, cpu=1, seconds=8):
        assert len(offer(gate, upstream, numbered(5))) == 5
        if what == "directory":
            eventually(lambda: gate.metric(FAILURES) >= 1, "a failed save is counted")
            (directory / "state.new").rmdir()
        eventually(lambda: gate.metric(SAVES) > saves, "it is saved")
        settled(directory)
    assert victim.read_text() == "untouched"
    assert sorted(os.listdir(directory)) == ["lock", "secret", "state", "takeover"]
    gate.crash()
    assert offer(limited(text), upstream, numbered(9)) == numbered(5)


@pytest.mark.parametrize("what", OBSTACLES)
def test_what_is_in_the_place_of_the_state_is_not_read(limited, upstream, directory, what):  # noqa: F811
    directory.mkdir()
    in_the_way(what, directory / "state")
    gate = limited(kept(directory, LIMITS))  # listens within seconds, or this fails
    assert "state not loaded, all series are new" in gate.log
    assert str(directory / "state") in gate.log
    assert len(offer(gate, upstream, numbered(9))) == 5
    gate.stop()
    assert (directory / "state").is_dir() == (what == "directory")
    assert not (directory / "state").is_symlink()

"""A state file that is not to be trusted: the gate starts without it, says so once, and writes a good one."""

import ctypes

import pytest

from kept_state import directory, kept  # noqa: F401 (a fixture)
from traffic import numbered, offer

LIMITS = "maxHourlySeries: 5\nlimits: [{name: per-job, each: [job], maxHourlySeries: 5}]\n"


@pytest.fixture
def good(limited, upstream, directory):  # noqa: F811
    """A state file of five series, and the configuration that goes with it."""
    text = kept(directory, LIMITS)
    gate = limited(text)
    assert len(offer(gate, upstream, numbered(9, job="a"))) == 5
    gate.stop()
    file = directory / "state"
    assert file.stat().st_size > 1000
    return file, text


def starts_afresh(limited, upstream, file, text):
    """@return why, as the log has it"""
    gate = limited(text)
    event, = gate.said("state not loaded, all series are new")
    assert gate.errors == [event] and str(file) in event["err"] and event["err"].isprintable()
    assert gate.current() == gate.current("daily") == 0
    assert gate.stats["limits"] == []
    assert offer(gate, upstream, numbered(9, start=4, job="a")) == numbered(5, start=4, job="a")
    gate.stop()
    # What that one has saved is good again.
    gate = limited(text)
    assert not gate.errors
    assert offer(gate, upstream, numbered(9, start=4, job="a")) == numbered(5, start=4, job="a")
    gate.stop()
    return event["err"]


def test_the_good_one_is_taken(limited, upstream, good):
    gate = limited(good[1])
    assert not gate.errors
    assert offer(gate, upstream, numbered(9, start=4, job="a")) == numbered(1, start=4, job="a")


def signed(content):
    """With the checksum at its end, which must be right for anything else to be looked at."""
    xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    xxh3.restype, xxh3.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
    return content + xxh3(content, len(content)).to_bytes(8, "little")


# One of each kind: snapshot_file_test.cpp and snapshot_damage_test.cpp try every cut and every byte.
DAMAGED = {
    "empty": lambda good: b"",
    "half": lambda good: good[:len(good) // 2],
    "a flipped bit": lambda good: good[:1000] + bytes([good[1000] ^ 0x10]) + good[1001:],
    "another program's": lambda good: b"\x7fELF" + bytes(range(256)) * 100,
    "large numbers after a good start": lambda good: b"SGSTATE\n" + b"\x01\0\0\0" + b"\xff" * 1000,
    "doubled": lambda good: good + good,
    "ends early, and is signed all the same": lambda good: signed(good[:len(good) * 6 // 10]),
    "ends early by a byte, and is signed all the same": lambda good: signed(good[:-9]),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_file(limited, upstream, good, damage):
    file, text = good
    content = file.read_bytes()
    assert signed(content[:-8]) == content
    file.write_bytes(damage(content))
    starts_afresh(limited, upstream, file, text)


def test_a_file_of_another_version(limited, upstream, good):
    file, text = good
    content = file.read_bytes()
    file.write_bytes(signed(content[:8] + (99).to_bytes(4, "little") + content[12:-8]))
    assert "version" in starts_afresh(limited, upstream, file, text)


@pytest.mark.parametrize("labels", ["[prometheus_replica]", "[replica, cluster]"])
def test_a_file_made_with_other_ignored_labels(limited, upstream, good, labels):
    file, text = good
    why = starts_afresh(limited, upstream, file, f"ignoreLabels: {labels}\n{text}")
    assert "ignoreLabels" in why


def test_the_order_of_ignored_labels_does_not_matter(limited, upstream, directory):  # noqa: F811
    for at, labels in enumerate(("[a, b]", "[b, a]")):
        gate = limited(f"ignoreLabels: {labels}\n" + kept(directory, LIMITS))
        assert not gate.errors
        assert len(offer(gate, upstream, numbered(3, start=2 * at, job="a"))) == 3
        assert gate.current() == 3 + 2 * at
        gate.stop()


def test_a_file_that_is_a_directory(limited, upstream, good):
    file, text = good
    file.unlink()
    file.mkdir()
    gate = limited(text)
    event, = gate.errors
    assert str(file) in event["err"]
    assert len(offer(gate, upstream, numbered(9, job="a"))) == 5
    gate.crash()


def test_what_a_crash_has_left_half_written_is_not_looked_at(limited, upstream, good):
    file, text = good
    (file.parent / "state.new").write_bytes(file.read_bytes()[:1000])
    gate = limited(text)
    assert not gate.errors
    assert gate.current() == 5
    gate.stop()
    assert [path.name for path in sorted(file.parent.iterdir())] == ["lock", "observed", "secret", "state"]

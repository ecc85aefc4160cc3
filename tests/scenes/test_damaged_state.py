"""A state file that is not to be trusted: the gate starts without it, says so once, and writes a good one."""

import ctypes
import shutil

import pytest

import wire
from kept_state import directory, kept  # noqa: F401 (a fixture)
from tables import check_rows
from traffic import numbered, offer
from upstream import Upstream

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


def each_starts_afresh(start_gate, good, contents):
    """With each of these contents, {name: bytes}, in the file's place: each in a copy of the directory."""
    file, text = good

    def starts(at, content):
        directory = file.parent.with_name(f"state-{at}")
        shutil.copytree(file.parent, directory)
        (directory / "state").write_bytes(content)
        upstream = Upstream()

        def limited(config):
            return start_gate(f"--upstream.url={upstream.url}", config=config)

        starts_afresh(limited, upstream, directory / "state", text.replace(f"{file.parent},", f"{directory},"))
        upstream.stop()

    check_rows({name: (at, content) for at, (name, content) in enumerate(contents.items())}, starts)


def test_a_truncated_file(start_gate, good):
    content = good[0].read_bytes()
    each_starts_afresh(start_gate, good, {
        size: content[:len(content) // 2 if size == "half" else size]
        for size in (0, 1, 8, 20, 27, 28, 1000, -1, -8, -100, "half")})


def test_a_flipped_bit(start_gate, good):
    """Positions as shares of the file: magic, version, identity, windows, filters, budgets, checksum."""
    content = good[0].read_bytes()

    def flipped(at):
        changed = bytearray(content)
        changed[int(at * len(content)) if isinstance(at, float) else at] ^= 0x10
        return bytes(changed)

    each_starts_afresh(start_gate, good, {
        at: flipped(at) for at in (0, 8, 12, 20, 30, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, -40, -9, -8, -1)})


FOREIGN = {
    "text": b"maxHourlySeries: 5\n" * 1000,
    "zeros": bytes(100_000),
    "ones": b"\xff" * 100_000,
    "another program's": b"\x7fELF" + bytes(range(256)) * 100,
    "large numbers after a good start": b"SGSTATE\n" + b"\x01\0\0\0" + b"\xff" * 1000,
    "one field": wire.tag(1, wire.BYTES),
}


def test_a_foreign_file(start_gate, good):
    each_starts_afresh(start_gate, good, FOREIGN)


def test_a_file_with_more_at_its_end(start_gate, good):
    content = good[0].read_bytes()
    each_starts_afresh(start_gate, good, {"appended": content + b"\0", "doubled": content + content})


def signed(content):
    """With the checksum at its end, which must be right for anything else to be looked at."""
    xxh3 = ctypes.CDLL("libxxhash.so.0").XXH3_64bits
    xxh3.restype, xxh3.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t]
    return content + xxh3(content, len(content)).to_bytes(8, "little")


def test_a_file_of_another_version(limited, upstream, good):
    file, text = good
    content = file.read_bytes()
    assert signed(content[:-8]) == content
    file.write_bytes(signed(content[:8] + (99).to_bytes(4, "little") + content[12:-8]))
    assert "version" in starts_afresh(limited, upstream, file, text)


def test_a_file_that_ends_early_and_is_signed_all_the_same(start_gate, good):
    content = good[0].read_bytes()[:-8]
    each_starts_afresh(start_gate, good, {
        cut: signed(content[:int(cut * len(content)) if isinstance(cut, float) else cut])
        for cut in (28, 100, 0.3, 0.6, 0.9, -1)})


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

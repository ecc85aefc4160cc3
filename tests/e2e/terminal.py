"""A pseudo terminal that a program runs in, and what stands on its screen."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time

from gate import BINARY
from waiting import eventually

CODE = re.compile(r"\x1b\[([?]?)([0-9;]*)([A-Za-z])")


class Screen:
    """Understands what the gate's program writes, and no more: anything else is an error."""

    def __init__(self, rows, columns):
        self.resize(rows, columns)
        self.modes = {1049: False, 25: True, 7: True}
        self.colours = set()
        self.wiped = 0  # so many times

    def resize(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines = [""] * rows
        self._row = self._column = 0

    def write(self, text):
        """@return what is not complete yet"""
        while text:
            if text[0] != "\x1b":
                end = text.find("\x1b")
                self._put(text if end < 0 else text[:end])
                text = "" if end < 0 else text[end:]
                continue
            code = CODE.match(text)
            if not code:
                assert len(text) < 16, repr(text[:80])
                return text
            self._obey(*code.groups())
            text = text[code.end():]
        return ""

    def _put(self, text):
        assert text.isprintable(), repr(text)
        if self._row < self.rows:
            line = self.lines[self._row].ljust(self._column)
            self.lines[self._row] = line[:self._column] + text + line[self._column + len(text):]
        self._column += len(text)

    def _obey(self, private, numbers, what):
        numbers = [int(number or 0) for number in numbers.split(";")]
        if private:
            assert what in "hl" and numbers[0] in self.modes, (numbers, what)
            self.modes[numbers[0]] = what == "h"
        elif what == "H":
            self._row, self._column = numbers[0] - 1, numbers[1] - 1
        elif what == "K":
            self.lines[self._row:self._row + 1] = [self.lines[self._row][:self._column]] if self._row < self.rows else []
        elif what == "J":
            assert numbers == [2]
            self.lines = [""] * self.rows
            self.wiped += 1
        else:
            assert what == "m", what
            self.colours.update(number for number in numbers if 30 <= number <= 37)


class Terminal:
    """The binary with these arguments, in a terminal of its own."""

    def __init__(self, *arguments, rows=24, columns=80, is_plain=False, **environment):
        self.screen = Screen(rows, columns)
        self.plain = ""  # what has been written, if it is to be without codes
        self._is_plain = is_plain
        self._pending = ""
        self.host, self.device = pty.openpty()
        self._set_size(rows, columns)
        self.settings = termios.tcgetattr(self.device)
        self.process = subprocess.Popen([BINARY, *arguments], stdin=self.device, stdout=self.device, stderr=self.device,
                                        env={**os.environ, "TERM": "xterm-256color", **environment}, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def _set_size(self, rows, columns):
        fcntl.ioctl(self.device, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, rows, columns):
        self.read()
        self.screen.resize(rows, columns)
        self._set_size(rows, columns)  # the system sends SIGWINCH

    def read(self, seconds=0.0):
        """Takes what has been written until now, waiting at most so long for a first byte."""
        while select.select([self.host], [], [], seconds)[0]:
            got = os.read(self.host, 65536)
            if self._is_plain:
                self.plain += got.decode()
            else:
                self._pending = self.screen.write(self._pending + got.decode())
            seconds = 0.0
        return self.screen.lines

    def press(self, keys):
        os.write(self.host, keys.encode())

    def shows(self, *texts):
        """Waits until all of these are on the screen. @return its lines"""
        def all_there():
            lines = self.read(0.05)
            return lines if all(any(text in line for line in lines) for text in texts) else None
        try:
            return eventually(all_there, f"{texts} on the screen")
        except AssertionError as error:
            raise AssertionError(f"{error}\n" + "\n".join(self.screen.lines)) from None

    def line(self, text):
        """The one line that holds it."""
        found, = (line for line in self.shows(text) if text in line)
        return found

    @property
    def is_as_before(self):
        """Whether screen, cursor and keys are as they were."""
        self.read()
        return (self.screen.modes == {1049: False, 25: True, 7: True} and not self._pending
                and termios.tcgetattr(self.device) == self.settings)

    def wait(self, seconds=20):
        """For the process to end, reading what it writes. @return its exit status"""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, "it does not end\n" + "\n".join(self.screen.lines)
            self.read(0.02)
        self.read()
        return self.process.returncode

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        os.close(self.host)
        os.close(self.device)

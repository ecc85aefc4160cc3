"""What the binary says of its flags. Man pages and completions are made of --help, so that they cannot say anything else."""

import dataclasses
import os
import re
import subprocess


SUBCOMMANDS = ("top", "suggest")


@dataclasses.dataclass(frozen=True)
class Flag:
    names: tuple  # as they are written: ("-h", "--help")
    value: str    # what the value is called, such as FILE, or [URL] where it may be left out; empty: it takes none
    help: str

    @property
    def long(self):
        return next(name for name in self.names if name.startswith("--"))


@dataclasses.dataclass(frozen=True)
class Program:
    purpose: str
    flags: tuple
    footer: str  # what stands behind the flags, in lines


def ask(*command):
    """What a command of the binary prints. SERIESGATE_EMULATOR is what runs one for another processor."""
    return subprocess.run([*os.environ.get("SERIESGATE_EMULATOR", "").split(), *command], check=True, capture_output=True, text=True, timeout=20).stdout


def parse(text):
    """The flags of a --help. A line that is indented further than the flags goes on with the one before."""
    purpose, _, rest = text.partition("\n")
    listed = re.search(r"^(?:Options|OPTIONS): *\n(.*?)(?:\n\n|\Z)(.*)", rest, re.DOTALL | re.MULTILINE)
    flags = []
    for line in listed[1].splitlines():
        if found := re.match(r" {2}(-\S+(?:, ?-\S+)*)(?: (\[?[A-Z][A-Z_|]*\]?))?(?: {2,}(.*))?$", line):
            flags.append(Flag(tuple(re.split(r", ?", found[1])), found[2] or "", found[3] or ""))
        elif line.strip():
            flags[-1] = dataclasses.replace(flags[-1], help=f"{flags[-1].help} {line.strip()}".strip())
    return Program(purpose.strip(), tuple(flags), listed[2].strip())


def of(binary, *subcommand):
    """The flags of a binary, or of one of its subcommands."""
    return parse(ask(str(binary), *subcommand, "--help"))


def version(binary):
    return ask(str(binary), "--version").split()[-1]

"""What shells complete behind `seriesgate`: each shell that is here is asked."""

import os
import pty
import select
import shlex
import shutil
import subprocess

import pytest

from tables import check_rows
from world import time

pytestmark = pytest.mark.text

# What is typed, and all that may stand there. FILE is a file that there is.
CASES = [
    ("--conf", {"--config.file"}),
    ("--max", {"--maxHourlySeries", "--maxDailySeries"}),
    ("to", {"top"}),
    ("top --o", {"--once"}),
    ("top --conf", set()),
    ("top --pass", {"--password-file"}),
]


def shell(name):
    if not shutil.which(name):
        pytest.skip(f"{name} is not here")
    return shutil.which(name)


def in_bash(generated, folder, *words):
    """What bash offers for the last of the words behind `seriesgate`, divided as bash divides them."""
    words = " ".join(shlex.quote(word) for word in ("seriesgate", *words))
    script = (f"source {generated}/bash/seriesgate; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
              '_seriesgate; printf "%s\\n" "${COMPREPLY[@]}"')
    asked = subprocess.run([shell("bash"), "--norc", "-c", script], cwd=folder, check=True, capture_output=True, text=True,
                           timeout=30)
    assert asked.stderr == ""
    return set(asked.stdout.split())


def test_bash(generated, tmp_path):
    offered = {typed: in_bash(generated, tmp_path, *typed.split(" ")) for typed, _ in CASES}
    assert offered == dict(CASES)


def test_bash_completes_files_where_a_flag_takes_one(generated, tmp_path):
    (tmp_path / "gate.yaml").touch()
    assert in_bash(generated, tmp_path, "--config.file", "ga") == {"gate.yaml"}
    assert in_bash(generated, tmp_path, "--config.file", "=", "ga") == {"gate.yaml"}
    assert in_bash(generated, tmp_path, "--config.file", "=") == {"gate.yaml"}
    assert in_bash(generated, tmp_path, "--maxHourlySeries", "ga") == set()
    assert in_bash(generated, tmp_path, "top", "--ca-file", "ga") == {"gate.yaml"}


def test_fish(generated, tmp_path):
    def is_offered(typed, offered):
        script = f"source {generated}/fish/seriesgate.fish; complete -C {shlex.quote('seriesgate ' + typed)}"
        asked = subprocess.run([fish, "--no-config", "-c", script], check=True, capture_output=True, text=True, timeout=30,
                               env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
        assert asked.stderr == ""
        assert {line.split("\t")[0] for line in asked.stdout.splitlines()} == offered

    fish = shell("fish")
    check_rows({typed: (typed, offered) for typed, offered in CASES}, is_offered)


def test_zsh(generated, tmp_path):
    """In a terminal, for zsh completes nowhere else."""
    path = shell("zsh")
    process, terminal = pty.fork()
    if process == 0:
        os.execve(path, [path, "-f", "-i"], {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb", "PS1": "> "})
    try:
        def type_and_wait(keys, wanted):
            os.write(terminal, keys.encode())
            seen, deadline = "", time.monotonic() + 30
            while wanted not in seen:
                assert time.monotonic() < deadline and select.select([terminal], [], [], 30)[0], seen
                seen += os.read(terminal, 65536).decode(errors="replace")
            return seen

        type_and_wait(f"fpath=({generated}/zsh $fpath); autoload -U compinit; compinit -u -D; print -r read''y\n", "ready")
        type_and_wait("seriesgate --conf\t", "--config.file=")
        type_and_wait("\x15seriesgate top --on\t", "--once")
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)

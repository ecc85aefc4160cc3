"""Man pages and completions of packages: all flags, all keys, nothing that groff objects to; each shell is asked."""

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
import sys

import pytest
import yaml

from commands import output_of
from gate import BINARY, REPOSITORY, run
from tables import check_rows
from world import time

pytestmark = pytest.mark.text


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """The folder with man/, bash/, zsh/ and fish/, as packaging/ makes them of the binary under test."""
    folder = tmp_path_factory.mktemp("generated")
    output_of(sys.executable, "-B", REPOSITORY / "packaging" / "generate.py", BINARY, folder)
    return folder


def plain(roff):
    """A line of a page, without fonts and escapes."""
    return re.sub(r"\\(f[BIP]|&|-|e|\(aq)", lambda escape: {"-": "-", "e": "\\", "(aq": "'"}.get(escape[1], ""), roff)


def items(page):
    """What its items are about: the lines behind .TP."""
    return [plain(line) for line in re.findall(r"^\.TP\n(.*)$", page, re.MULTILINE)]


def flags_of(*subcommand):
    """The flags of --help, read in the simplest way: the words of its indented lines that begin with a dash."""
    text = output_of(BINARY, *subcommand, "--help")
    return [re.findall(r"(?<!\S)-[^\s,]+", line.replace(",", ", "))[0] for line in text.splitlines() if line.startswith("  -")]


def test_every_flag_is_in_seriesgate_1(generated):
    page = (generated / "man" / "seriesgate.1").read_text()
    ours, tops, suggests = re.split(r"\.SH SERIESGATE (?:TOP|SUGGEST)\n", page)
    for flags, part in ((flags_of(), ours), (flags_of("top"), tops), (flags_of("suggest"), suggests)):
        assert len(flags) > 5
        assert [flag for flag in flags if flag not in {item.split()[0].rstrip(",") for item in items(part)}] == []


def keys(node, prefix=""):
    for name, value in node.items():
        if isinstance(value, dict) and value:
            yield from keys(value, f"{prefix}{name}.")
        else:
            yield prefix + name


def test_every_key_is_in_seriesgate_yaml_5(generated):
    page = (generated / "man" / "seriesgate.yaml.5").read_text()
    every = list(keys(yaml.safe_load((REPOSITORY / "config" / "seriesgate.yaml").read_text())))
    assert len(every) > 50 and "server.drainTimeout" in every
    assert [key for key in every if key not in items(page)] == []


def test_what_a_page_says_of_exit_statuses_is_what_happens(generated, tmp_path):
    page = (generated / "man" / "seriesgate.1").read_text()
    statuses = items(page.split(".SH EXIT STATUS")[1].split(".SH FILES")[0])
    assert statuses == ["0", "1", "2"]
    (tmp_path / "wrong.yaml").write_text("maxHourlySeries: many\n")
    for status, flags in enumerate([["--version"], ["--config.file", tmp_path / "wrong.yaml"],
                                    ["--upstream.url=discard:", "--listen=192.0.2.1:9201"]]):
        assert run(*flags).returncode == status


@pytest.mark.parametrize("name", ["seriesgate.1", "seriesgate.yaml.5"])
def test_groff_has_nothing_to_say(generated, name):
    """As lintian asks it, which minds no line that is too long."""
    if not shutil.which("man") or not shutil.which("groff"):
        pytest.skip("man and groff are not here")
    shown = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", generated / "man" / name], text=True, check=True,
                           capture_output=True, env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "MANWIDTH": "80"})
    assert [line for line in shown.stderr.splitlines() if "cannot adjust line" not in line] == []
    assert re.search("SEE.* ALSO", re.sub(".\b", "", shown.stdout))  # bold is struck twice, or escaped


# --- what shells complete behind `seriesgate`

# What is typed, and all that may stand there. FILE is a file that there is.
CASES = [
    ("--conf", {"--config.file"}),
    ("--max", {"--maxHourlySeries", "--maxDailySeries"}),
    ("to", {"top"}),
    ("top --o", {"--once"}),
    ("top --conf", set()),
    ("top --pass", {"--password-file"}),
    ("su", {"suggest"}),
    ("suggest --fr", {"--from"}),
    ("suggest --on", set()),
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
    return set(output_of(shell("bash"), "--norc", "-c", script, is_quiet=True, cwd=folder).split())


def test_bash(generated, tmp_path):
    offered = {typed: in_bash(generated, tmp_path, *typed.split(" ")) for typed, _ in CASES}
    assert offered == dict(CASES)


def test_bash_completes_files_where_a_flag_takes_one(generated, tmp_path):
    (tmp_path / "gate.yaml").touch()
    for words, offered in (("--config.file ga", {"gate.yaml"}), ("--config.file = ga", {"gate.yaml"}), ("--config.file =", {"gate.yaml"}),
                           ("--maxHourlySeries ga", set()), ("top --ca-file ga", {"gate.yaml"})):
        assert in_bash(generated, tmp_path, *words.split()) == offered, words


def test_fish(generated, tmp_path):
    def is_offered(typed, offered):
        script = f"source {generated}/fish/seriesgate.fish; complete -C {shlex.quote('seriesgate ' + typed)}"
        shown = output_of(fish, "--no-config", "-c", script, is_quiet=True, env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
        begins = typed.split(" ")[-1]  # fish 4 goes on with what has that somewhere within
        assert {line.split("\t")[0] for line in shown.splitlines() if line.startswith(begins)} == offered

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
        type_and_wait("\x15seriesgate suggest --fr\t", "--from=")
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        os.close(terminal)

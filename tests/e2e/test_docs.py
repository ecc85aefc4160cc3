"""The console examples in README and docs do what they say.

A block fenced as ```console is a session: lines that begin with `$ ` (continued by `> `) are typed into one bash for the
document, at the top of the repository; the lines after them are the output, where `...` stands for anything.
"""

import pathlib
import re
import subprocess

import pytest

from gate import BINARY
from servers import free_port

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(str(path.relative_to(ROOT)) for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")])
END = "--- end of output ---"


def console_blocks(text):
    return re.findall(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def steps(block):
    """Pairs of a command and the output that it should have."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        command = [lines.pop(0)]
        while lines and lines[0].startswith("> "):
            command.append(lines.pop(0)[2:])
        yield "\n".join(command), "\n".join(lines)


def matches(expected, output):
    pattern = ".*".join(re.escape(part) for part in expected.split("..."))
    return re.fullmatch(pattern, output, re.DOTALL) is not None


def with_examples():
    return [name for name in DOCUMENTS if console_blocks((ROOT / name).read_text())]


def test_there_are_examples():
    assert "README.md" in with_examples()


@pytest.mark.timeout(60)
@pytest.mark.parametrize("document", with_examples())
def test_examples_do_what_they_say(document):
    text = (ROOT / document).read_text()
    text = text.replace("build/release/seriesgate", str(BINARY))
    text = text.replace("127.0.0.1:9201", f"127.0.0.1:{free_port()}")
    shell = subprocess.Popen(
        ["bash"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        for block in console_blocks(text):
            for command, expected in steps(block):
                shell.stdin.write(f"{command}\necho '{END}'\n")
                shell.stdin.flush()
                output = []
                for line in shell.stdout:
                    if line.rstrip("\n") == END:
                        break
                    output.append(line.rstrip("\n"))
                assert matches(expected, "\n".join(output)), (command, expected, output)
    finally:
        shell.stdin.write("kill $(jobs -p) 2>/dev/null\n")
        shell.stdin.close()
        shell.wait(timeout=10)

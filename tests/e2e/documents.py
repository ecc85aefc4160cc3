"""The examples of README.md and docs/: fenced blocks, console sessions, and running them; and what all pages refer to.

The `bash` blocks of a page are one session, in one shell; an `output` block after one is what it prints. A YAML block between
them that begins with `# build/NAME` is that file from there on. (`sh` blocks are not run.)
"""

import os
import re
import subprocess
from dataclasses import dataclass, field

from gate import BINARY, REPOSITORY

FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
NAMED_FILE = re.compile(r"`((?:bench|config|deploy|docker|docs|monitoring|proto|scripts|src|tests)/[\w./-]*\w/?)`")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
COMMENT = re.compile(r"(^|\s)#.*")
FILE_NAME = re.compile(r"# (build/\S+)\n")
QUOTED_LINE = re.compile(r'(?:level=(\w+) )?msg="([^"]+)"([^`)\n]*)')
MARK = "----- that was command"
JOB_NOTICE = re.compile(r"\[\d+\][+-]? .*")


@dataclass
class Block:
    language: str
    text: str
    where: str  # FILE:LINE
    following: "Block" = field(default=None, repr=False)  # the next one in the same file


def pages():
    """The fenced blocks of README.md and each of docs/*.md, by the page's name."""
    files = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
    return {str(file.relative_to(REPOSITORY)): _blocks_of(file) for file in files}


def section(page, heading):
    """The text of a page below a heading of the second level."""
    return (REPOSITORY / page).read_text().split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def blocks(language):
    """All fenced blocks of a language."""
    return [block for page in pages().values() for block in page if block.language == language]


def sessions():
    """Each page's session, by the page's name: (commands, expected output) for each of its blocks."""
    return {name: [step for block in page if (step := _as_step(block))]
            for name, page in pages().items() if any(block.language == "bash" for block in page)}


def everything():
    """Every page that there is, by its name: {name: its text}."""
    files = [*REPOSITORY.glob("*.md"), *(file for folder in ("bench", "deploy", "docs", "monitoring", "src", "tests")
                                         for file in (REPOSITORY / folder).rglob("*.md"))]
    return {str(file.relative_to(REPOSITORY)): file.read_text() for file in sorted(files)}


def references(name, text):
    """What a page refers to in this repository: (file, heading or ""), the file as the page's reader finds it."""
    text = FENCE.sub("", text)
    for target in LINK.findall(text):
        if "://" not in target:
            file, _, anchor = target.partition("#")
            yield (REPOSITORY / name).parent / file if file else REPOSITORY / name, anchor
    yield from ((REPOSITORY / file, "") for file in NAMED_FILE.findall(text))


def anchors(text):
    """The names by which headings are linked to."""
    headings = HEADING.findall(FENCE.sub("", text))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def log_lines(which):
    """{msg: its cells, the third as a list of keys} of docs/logs.md: 1, its table, or 2, the list of mistakes in seriesgate."""
    text = (REPOSITORY / "docs/logs.md").read_text().split("\n## All lines\n", 1)[1]
    if which == 2:
        return {message: [f"`{message}`", "error", []] for message in re.findall(r"^- `(.*)`$", text, re.MULTILINE)}
    rows = [[cell.strip() for cell in row.strip("|").split(" | ")] for row in text.split("\n") if row.startswith("| `")]
    return {cells[0].strip("`"): [cells[0], cells[1], re.findall(r"`(\w+)`", cells[2])] for cells in rows}


def quoted_log_lines(text):
    """What a text shows of the log: (level or "", msg, keys behind it), for each line that it quotes with `msg=`."""
    for level, message, rest in QUOTED_LINE.findall(text.replace('\\"', '"') if "- alert:" in text else text):
        yield level, message, re.findall(r"\b(\w+)=", re.sub(r'"(?:[^"\\]|\\.)*"', "", rest))


def commands():
    """The lines of all `sh` blocks, without comments, each with its page's name."""
    return [(name, command) for name, text in everything().items() for language, block in FENCE.findall(text)
            if language == "sh" for line in block.splitlines() if (command := COMMENT.sub("", line).strip())]


def _blocks_of(file):
    text = file.read_text()
    found = [Block(match[1], match[2], f"{file.relative_to(REPOSITORY)}:{text.count(chr(10), 0, match.start()) + 1}")
             for match in FENCE.finditer(text)]
    for block, following in zip(found, found[1:]):
        block.following = following
    return found


def _as_step(block):
    """What a block makes the session do: its commands, or write the file that it is; None for any other."""
    if block.language == "bash":
        shown = block.following and block.following.language == "output"
        return block.text.rstrip("\n"), block.following.text.splitlines() if shown else []
    name = FILE_NAME.match(block.text)
    if block.language == "yaml" and name:
        return f"cat >{name[1]} <<'END'\n{block.text}END", []
    return None


def sandbox(folder):
    """Makes the folder look like the repository to a reader who has built it and has the binary in the PATH."""
    for name in ("config", "deploy", "docs", "scripts", "tests"):
        (folder / name).symlink_to(REPOSITORY / name)
    (folder / "seriesgate.yaml").symlink_to(REPOSITORY / "config/seriesgate.yaml")
    for name in ("build/release", "bin"):
        (folder / name).mkdir(parents=True)
        (folder / name / "seriesgate").symlink_to(BINARY)


def run(steps, folder, seconds=120):
    """Runs the commands in one shell in a sandbox. @return the output of each, as lines"""
    script = ["set -m", "trap 'kill $(jobs -p) 2>/dev/null' EXIT"]
    for command, _ in steps:
        # Before each prompt a shell forgets the jobs that have ended, so that the next one is %1 again.
        script += [command, "jobs >/dev/null", f"echo; echo '{MARK}'"]
    shell = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds,
                           env={**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"})
    return [[line for line in output.splitlines() if line and not JOB_NOTICE.fullmatch(line)]
            for output in shell.stdout.split(f"{MARK}\n")[:-1]]


def matches(expected, actual):
    """Whether the lines are the expected ones, where `...` stands for anything within a line.

    Numbers of four digits or more may be 3 % off: estimates of what was refused depend on the secret, which is another
    one at each start.
    """
    return len(lines := [line for line in expected if line]) == len(actual) and all(map(_is_like, lines, actual))


def _is_like(expected, actual):
    parts = expected.split("...")
    pattern = "(?:.*)".join(re.sub(r"\d{4,}", r"(\\d+)", _blank(re.escape(part))) for part in parts)
    found = re.fullmatch(pattern, _blank(actual))
    numbers = [int(number) for part in parts for number in re.findall(r"\d{4,}", part)]
    return bool(found) and all(abs(int(got) - number) <= 0.03 * number
                               for number, got in zip(numbers, found.groups(), strict=True))


def _blank(text):
    """Columns are as wide as their longest number."""
    return re.sub(r"(?:\\ | )+", " ", text).strip()

#!/usr/bin/env python3
"""Who may include whom in src/: boundaries.py [--draw] [FOLDER OF THE REPOSITORY]

A folder of src/ is a module. CMakeLists.txt declares what each uses, `seriesgate_module(NAME ABOUT "…" USES a b)`, and
this holds the includes against it. One line a finding; exit status 1 if there is any.
--draw: writes the drawing of the modules in docs/design.md anew.
"""

import re
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

# Bytes and numbers in, values out: no socket, no file, no thread, and the time is an argument.
CORE = ("core", "series", "wire", "filter", "limit", "cardinality", "plan", "claim")
NOT_IN_CORE = re.compile(r"boost/(asio|beast)|spdlog/|yaml-cpp/|(thread|future|fstream|filesystem|iostream)$|sys/socket\.h$")
STANDARD_STREAMS = re.compile(r"iostream$|spdlog/")
CLOCK = re.compile(r"\bnow\(\s*\)")
# A test that owns the time and the seed owns all of it: what stands beside src/base is out of its reach.
OTHER_SOURCES = re.compile(r"\b(?:steady_clock|system_clock)::now\b|\bsteady_timer\b|\brandom_device\b|\bgetrandom\b|\bRAND_bytes\b")

# Words that had a private meaning here, and the field's own. Names that users depend on keep them: those stand in quotes
# or are metrics, and in documents in backticks or links.
OLD_WORDS = {"door": "backend", "talker": "top entry", "newcomer": "new series", "ledger": "commit state", "settlement": "commit",
             "undecided": "open", "front desk": "acceptor", "guest": "overflow connection", "hurry": "shorten timeouts",
             "budget_book": "budget table", "shaking": "handshake", "relay": "forwarder", "sparse_log": "throttled log",
             "told_outcome": "decision_outcome", "heard_budget": "counted_budget"}
NAMES_OF_USERS = re.compile(r'"doors?"|\bseriesgate_\w+|`[^`\n]*`|\]\([^)\n]*\)|^### Seriesgate\w+', re.MULTILINE)

MODULE = re.compile(r"^seriesgate_module\((.*?)\)", re.MULTILINE | re.DOTALL)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# A string is matched so that nothing inside it is taken for a comment, and stays; a comment goes.
COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)


def findings(root):
    """What is wrong in the repository at `root`, as lines to print."""
    uses = declared_uses((root / "CMakeLists.txt").read_text())
    sources = read_sources(root / "src")
    includes = {file: own_includes(text) for file, text in sources.items()}
    return [*wrong_modules(uses, sources), *wrong_includes(uses, includes), *unused_declarations(uses, includes),
            *circles_of_modules(uses), *circles_of_files(includes), *impure_core(uses, sources), *other_logs(sources),
            *other_clocks(sources), *other_ways_to_catch(root), *old_words(root)]


# --- what there is

def declarations(text):
    """(module, what it is about, the modules that it declares to use) of each, in the order of CMakeLists.txt."""
    for arguments in MODULE.findall(re.sub(r"#.*", "", text)):
        about = re.search(r'ABOUT\s+"([^"]*)"', arguments)
        name, *words = re.sub(r'"[^"]*"', " ", arguments).split()
        keyword, used = None, []
        for word in words:
            if word.isupper():
                keyword = word
            elif keyword == "USES":
                used.append(word)
        yield name, about[1] if about else "", used


def declared_uses(text):
    """{module: the modules that it declares to use}, as CMakeLists.txt has them."""
    return {name: used for name, _, used in declarations(text)}


def read_sources(folder):
    """{MODULE/FILE: its text without comments}."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".cpp", ".hpp"))
    return {path.relative_to(folder).as_posix(): COMMENT.sub(lambda match: match[1] or " ", path.read_text())
            for path in files}


def own_includes(text):
    return [name for sign, name in INCLUDE.findall(text) if sign == '"']


def module_of(file):
    return file.split("/")[0]


def unit_of(file):
    """x.cpp and x.hpp are one unit."""
    return file.rsplit(".", 1)[0]


# --- the drawing

DRAWING = re.compile(r"(?<=<!-- drawing of the modules -->\n).*?(?=<!-- end of the drawing -->)", re.DOTALL)


def drawing(text):
    """The modules of CMakeLists.txt as lines of Markdown, the highest first. What a module uses by way of another is left
    out."""
    uses = declared_uses(text)

    def reached(module):
        return {module}.union(*(reached(each) for each in uses[module])) if uses[module] else {module}

    def drawn(module):
        return [each for each in uses[module] if not any(each in reached(other) - {other} for other in uses[module])]

    lines = (f"    {name:<9} {about:<72} {'► ' if uses[name] else ''}{' '.join(drawn(name))}".rstrip()
             for name, about, _ in reversed(list(declarations(text))))
    return "\n" + "\n".join(lines) + "\n\n"


def draw(root):
    file = root / "docs/design.md"
    file.write_text(DRAWING.sub(lambda _: drawing((root / "CMakeLists.txt").read_text()), file.read_text()))


# --- the rules

def wrong_modules(uses, sources):
    folders = {module_of(file) for file in sources}
    yield from (f"src/{folder}: not declared in CMakeLists.txt" for folder in sorted(folders - uses.keys()))
    yield from (f"CMakeLists.txt: {name}: there is no such folder in src/" for name in sorted(uses.keys() - folders))


def wrong_includes(uses, includes):
    """A file may include its own module, and those that its module declares: what these use is not enough."""
    for file, names in includes.items():
        module = module_of(file)
        for name in names:
            if name not in includes:
                yield f"src/{file}: includes \"{name}\", which is not in src/: our headers are \"module/file.hpp\""
            elif module_of(name) not in (module, *uses.get(module, ())):
                yield f"src/{file}: includes \"{name}\", but {module} does not declare to use {module_of(name)}"


def unused_declarations(uses, includes):
    used = {(module_of(file), module_of(name)) for file, names in includes.items() for name in names}
    for module, declared in uses.items():
        for other in declared:
            if (module, other) not in used:
                yield f"CMakeLists.txt: {module} declares to use {other}, and includes nothing of it"


def old_words(root):
    word = re.compile(rf"(?<![^\W_])({'|'.join(OLD_WORDS)})s?(?![^\W_])", re.IGNORECASE)
    files = [path for folder in ("src", "docs") for path in sorted((root / folder).rglob("*"))
             if path.suffix in (".cpp", ".hpp", ".md")]
    for file in files:
        for number, line in enumerate(NAMES_OF_USERS.sub("", file.read_text()).splitlines(), 1):
            if found := word.search(line):
                yield f"{file.relative_to(root)}:{number}: \"{found[0]}\": say {OLD_WORDS[found[1].lower()]}, see docs/style.md"


def circles_of_modules(uses):
    return [f"CMakeLists.txt: modules in a circle: {' -> '.join(circle)}" for circle in circles(uses)]


def circles_of_files(includes):
    units = {}
    for file, names in includes.items():
        units.setdefault(unit_of(file), set()).update(unit_of(name) for name in names)
    return [f"src/: files in a circle: {' -> '.join(circle)}"
            for circle in circles({unit: sorted(others - {unit}) for unit, others in units.items()})]


def impure_core(uses, sources):
    for module in CORE:
        for other in uses.get(module, ()):
            if other not in CORE:
                yield f"CMakeLists.txt: {module} is of the core and declares to use {other}, which is not"
    for file, text in sources.items():
        if module_of(file) in CORE:
            for _, name in INCLUDE.findall(text):
                if NOT_IN_CORE.match(name):
                    yield f"src/{file}: includes <{name}>; the core has no socket, no file, no thread, no log"
            if CLOCK.search(text):
                yield f"src/{file}: asks a clock; in the core the time is an argument"


def other_logs(sources):
    """What does not go through base/log has another form, and may break out of its line."""
    for file, text in sources.items():
        if module_of(file) not in CORE and any(STANDARD_STREAMS.match(name) for _, name in INCLUDE.findall(text)):
            yield f"src/{file}: writes to the standard streams; the log is \"base/log.hpp\""


def other_clocks(sources):
    for file, text in sources.items():
        if module_of(file) != "base" and module_of(file) not in CORE:
            for name in sorted({found[0] for found in OTHER_SOURCES.finditer(text)}):
                yield f"src/{file}: asks {name}; time and random bytes come from src/base, timers from net/async.hpp"


def other_ways_to_catch(root):
    """Debian 12 has version 2 of Catch, Debian 13 version 3, and tests/support/catch.hpp knows which."""
    for file, text in read_sources(root / "tests").items():
        if not file.startswith(("support/", "mutants/")) and "<catch2/" in text:
            yield f'tests/{file}: includes Catch itself; use "support/catch.hpp"'


def circles(graph):
    """Circles in it, each from its least node: as many as it takes until none is left without a step of each."""
    left, found = {node: list(dict.fromkeys(others)) for node, others in graph.items()}, []
    while True:
        try:
            TopologicalSorter(left).prepare()
            return sorted(found)
        except CycleError as error:
            circle = error.args[1][:0:-1]
            least = circle.index(min(circle))
            circle = circle[least:] + circle[:least + 1]
            found.append(circle)
            left[circle[0]].remove(circle[1])


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if each != "--draw"]
    repository = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[2]
    if "--draw" in sys.argv:
        draw(repository)
    wrong = findings(repository)
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(bool(wrong))

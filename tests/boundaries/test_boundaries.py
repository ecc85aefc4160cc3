#!/usr/bin/env python3
"""The tree keeps to its boundaries, and the check that says so sees each kind of trespass: test_boundaries.py

Nothing but Python's own library, so that it runs wherever the unit tests are built.
"""

import tempfile
import unittest
from pathlib import Path

from boundaries import DRAWING, circles, drawing, findings

REPOSITORY = Path(__file__).resolve().parents[2]

DECLARED = """
function(seriesgate_module name)
  cmake_parse_arguments(ARG "" "" "USES;LIBRARIES" ${ARGN})
endfunction()
# seriesgate_module(gone USES nothing)
seriesgate_module(core LIBRARIES Boost::system)
seriesgate_module(wire USES core LIBRARIES Snappy::snappy)  # seriesgate_module(no)
seriesgate_module(http
                  USES wire
                       core
                  LIBRARIES spdlog::spdlog)
"""
SOUND = {
    "core/bytes.hpp": "#include <vector>\n",
    "wire/varint.hpp": '#pragma once\n#include "core/bytes.hpp"\n',
    "wire/varint.cpp": '#include "wire/varint.hpp"\n',
    "http/session.hpp": '#include "core/bytes.hpp"\n#include <thread>\n',
    "http/session.cpp": '#include "http/session.hpp"\n#include "wire/varint.hpp"\nauto t = clock::now();\n',
}


# What is done to the sound tree, and all that is then found.
BUILD = "../CMakeLists.txt"
TRESPASSES = {
    "none": ({}, []),
    "only a comment says it": (
        {"core/ascii.hpp": '// #include "http/session.hpp"\n/* clock::now()\n#include <thread>\n#include "no.hpp" */\n#include <mutex>\n'}, []),
    "an old word but for names that users know": (
        {"core/ascii.hpp": 'int open_doors;  // the "door" of `doors`\nauto name = "door";\n',
         "core/README.md": "A `door` at\na Door, [a](#door).\n"},
        ['src/core/README.md:2: "Door": say backend, see docs/style.md',
         'src/core/ascii.hpp:1: "doors": say backend, see docs/style.md']),
    "an include that is not declared": (
        {"core/ascii.hpp": '  #  include "wire/varint.hpp" // why not\n'},
        ['src/core/ascii.hpp: includes "wire/varint.hpp", but core does not declare to use wire']),
    "what a used module uses is not declared": (
        {BUILD: DECLARED.replace("USES wire\n                       core", "USES wire")},
        ['src/http/session.hpp: includes "core/bytes.hpp", but http does not declare to use core']),
    "a declaration that nothing needs": (
        {"http/session.cpp": ""}, ["CMakeLists.txt: http declares to use wire, and includes nothing of it"]),
    "an include without its module": (
        {"wire/varint.cpp": '#include "varint.hpp"\n'},
        ['src/wire/varint.cpp: includes "varint.hpp", which is not in src/: our headers are "module/file.hpp"']),
    "a module that is not declared and one that is not there": (
        {"store/file.hpp": "", BUILD: DECLARED + "seriesgate_module(state)\n"},
        ["src/store: not declared in CMakeLists.txt", "CMakeLists.txt: state: there is no such folder in src/"]),
    "files in a circle": (
        {"wire/a.hpp": '#include "wire/b.hpp"\n', "wire/b.hpp": '#include "wire/c.hpp"\n',
         "wire/c.cpp": '#include "wire/c.hpp"\n#include "wire/a.hpp"\n', "wire/c.hpp": ""},
        ["src/: files in a circle: wire/a -> wire/b -> wire/c -> wire/a"]),
    "a line of the log is written elsewhere": (
        {"http/session.cpp": '#include <iostream>\n#include "wire/varint.hpp"\n'},
        ['src/http/session.cpp: writes to the standard streams; the log is "base/log.hpp"']),
    "time comes from elsewhere": (
        {"http/session.cpp": SOUND["http/session.cpp"] + "auto s = std::chrono::steady_clock::now();\n"},
        ["src/http/session.cpp: asks steady_clock::now; time and random bytes come from src/base, timers from net/async.hpp"]),
    "Catch is included elsewhere": (
        {"../tests/core/ascii_test.cpp": "#include <catch2/catch.hpp>\n"},
        ['tests/core/ascii_test.cpp: includes Catch itself; use "support/catch.hpp"']),
    "a module of the core uses one that is not": (
        {BUILD: DECLARED + 'seriesgate_module(series USES http)\n', "series/a.hpp": '#include "http/session.hpp"\n'},
        ["CMakeLists.txt: series is of the core and declares to use http, which is not"]),
    "modules in a circle": (
        {BUILD: DECLARED + "seriesgate_module(net USES base)\nseriesgate_module(base USES net)\n",
         "net/a.hpp": '#include "base/a.hpp"\n', "base/a.hpp": '#include "net/b.hpp"\n', "net/b.hpp": ""},
        ["CMakeLists.txt: modules in a circle: base -> net -> base"]),
    **{f"in the core: {text}": ({"core/ascii.hpp": text}, [f"src/core/ascii.hpp: {what}"]) for text, what in (
        *((f"#include <{name}>", f"includes <{name}>; the core has no socket, no file, no thread, no log") for name in (
            "boost/asio/io_context.hpp", "boost/beast.hpp", "spdlog/spdlog.h", "yaml-cpp/yaml.h", "thread", "fstream")),
        *((text, "asks a clock; in the core the time is an argument") for text in (
            "auto t = std::chrono::steady_clock::now();", 'auto s = "// no comment"; auto t = clock::now( );')))},
}


class Repository(unittest.TestCase):
    def test_every_include_is_declared_and_nothing_goes_in_a_circle(self):
        wrong = findings(REPOSITORY)
        if wrong:
            self.fail("\n" + "\n".join(wrong))

    def test_the_drawing_in_the_documents_is_of_this_tree(self):
        drawn = DRAWING.search((REPOSITORY / "docs/design.md").read_text())
        self.assertEqual(drawn[0], drawing((REPOSITORY / "CMakeLists.txt").read_text()),
                         "run tests/boundaries/boundaries.py --draw")


class Drawing(unittest.TestCase):
    def test_the_highest_comes_first_and_what_another_brings_is_left_out(self):
        self.assertEqual(drawing('''
seriesgate_module(core ABOUT "words")
seriesgate_module(wire ABOUT "bytes"
                  USES core LIBRARIES a::b)
seriesgate_module(http ABOUT "words, and more" USES wire core)
''').split("\n"), ["", f"    http      {'words, and more':<72} ► wire", f"    wire      {'bytes':<72} ► core", "    core      words",
                      "", ""])


class MadeUpTree(unittest.TestCase):
    def test_each_trespass_is_found_and_nothing_else(self):
        for what, (files, wrong) in TRESPASSES.items():
            with self.subTest(what), tempfile.TemporaryDirectory() as folder:
                for name, text in {**SOUND, BUILD: DECLARED, **files}.items():
                    file = Path(folder, "src", name)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(text)
                self.assertEqual(findings(Path(folder)), wrong)


class Circles(unittest.TestCase):
    def test_each_is_found_once_and_a_tree_has_none(self):
        self.assertEqual(circles({"a": ["b", "c"], "b": ["c"], "c": []}), [])
        self.assertEqual(circles({"a": ["a"]}), [["a", "a"]])
        self.assertEqual(circles({"d": ["e", "x"], "e": ["d"], "b": ["c"], "c": ["a"], "a": ["b"], "x": ["d"]}),
                         [["a", "b", "c", "a"], ["d", "e", "d"], ["d", "x", "d"]])


if __name__ == "__main__":
    unittest.main()

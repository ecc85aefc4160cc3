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
    def found(self, files=None, declared=DECLARED):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "CMakeLists.txt").write_text(declared)
            for name, text in {**SOUND, **(files or {})}.items():
                file = root / "src" / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            return findings(root)

    def test_nothing_is_wrong_with_a_sound_one(self):
        self.assertEqual(self.found(), [])

    def test_an_old_word_but_for_names_that_users_know(self):
        self.assertEqual(self.found({"core/ascii.hpp": 'int open_doors;  // the "door" of `doors`\nauto name = "door";\n',
                                     "core/README.md": "A `door` at\na Door, [a](#door).\n"}),
                         ['src/core/README.md:2: "Door": say backend, see docs/style.md',
                          'src/core/ascii.hpp:1: "doors": say backend, see docs/style.md'])

    def test_an_include_that_is_not_declared(self):
        self.assertEqual(self.found({"core/ascii.hpp": '  #  include "wire/varint.hpp" // why not\n'}), [
            'src/core/ascii.hpp: includes "wire/varint.hpp", but core does not declare to use wire'])

    def test_what_a_used_module_uses_has_to_be_declared_too(self):
        declared = DECLARED.replace("USES wire\n                       core", "USES wire")
        self.assertEqual(self.found(declared=declared), [
            'src/http/session.hpp: includes "core/bytes.hpp", but http does not declare to use core'])

    def test_a_declaration_that_nothing_needs(self):
        self.assertEqual(self.found({"http/session.cpp": ""}), [
            "CMakeLists.txt: http declares to use wire, and includes nothing of it"])

    def test_an_include_without_its_module(self):
        self.assertEqual(self.found({"wire/varint.cpp": '#include "varint.hpp"\n'}), [
            'src/wire/varint.cpp: includes "varint.hpp", which is not in src/: our headers are "module/file.hpp"'])

    def test_a_module_that_is_not_declared_and_one_that_is_not_there(self):
        self.assertEqual(self.found({"store/file.hpp": ""}, DECLARED + "seriesgate_module(state)\n"), [
            "src/store: not declared in CMakeLists.txt", "CMakeLists.txt: state: there is no such folder in src/"])

    def test_modules_in_a_circle(self):
        found = self.found({"core/ascii.hpp": '#include "http/session.hpp"\n'},
                           DECLARED.replace("seriesgate_module(core", "seriesgate_module(core USES http"))
        self.assertIn("CMakeLists.txt: modules in a circle: core -> http -> core", found)
        self.assertIn("CMakeLists.txt: core is of the core and declares to use http, which is not", found)

    def test_files_in_a_circle(self):
        self.assertEqual(self.found({"wire/a.hpp": '#include "wire/b.hpp"\n', "wire/b.hpp": '#include "wire/c.hpp"\n',
                                     "wire/c.cpp": '#include "wire/c.hpp"\n#include "wire/a.hpp"\n', "wire/c.hpp": ""}),
                         ["src/: files in a circle: wire/a -> wire/b -> wire/c -> wire/a"])

    def test_the_core_has_no_socket_no_thread_no_file_no_log_and_no_clock(self):
        for text, what in (("#include <boost/asio/io_context.hpp>", "includes <boost/asio/io_context.hpp>"),
                           ("#include <boost/beast.hpp>", "includes <boost/beast.hpp>"),
                           ("#include <spdlog/spdlog.h>", "includes <spdlog/spdlog.h>"),
                           ("#include <yaml-cpp/yaml.h>", "includes <yaml-cpp/yaml.h>"),
                           ("#include <thread>", "includes <thread>"), ("#include <fstream>", "includes <fstream>"),
                           ("auto t = std::chrono::steady_clock::now();", "asks a clock"),
                           ('auto s = "// no comment"; auto t = clock::now( );', "asks a clock")):
            with self.subTest(text):
                found = self.found({"core/ascii.hpp": text})
                self.assertEqual(len(found), 1, found)
                self.assertIn(f"src/core/ascii.hpp: {what}", found[0])

    def test_lines_of_the_log_are_written_in_one_place(self):
        self.assertEqual(self.found({"http/session.cpp": '#include <iostream>\n#include "wire/varint.hpp"\n'}), [
            'src/http/session.cpp: writes to the standard streams; the log is "base/log.hpp"'])

    def test_time_and_chance_come_from_one_place(self):
        asking = SOUND["http/session.cpp"] + "auto s = std::chrono::steady_clock::now();\n"
        self.assertEqual(self.found({"http/session.cpp": asking}), [
            "src/http/session.cpp: asks steady_clock::now; time and random bytes come from src/base, "
            "timers from net/async.hpp"])

    def test_catch_is_included_by_one_header(self):
        self.assertEqual(self.found({"../tests/core/ascii_test.cpp": "#include <catch2/catch.hpp>\n"}), [
            'tests/core/ascii_test.cpp: includes Catch itself; use "support/catch.hpp"'])

    def test_what_only_a_comment_says_is_not_there(self):
        self.assertEqual(self.found({"core/ascii.hpp": '// #include "http/session.hpp"\n/* clock::now()\n'
                                                       '#include <thread>\n#include "no.hpp" */\n#include <mutex>\n'}), [])


class Circles(unittest.TestCase):
    def test_each_is_found_once_and_a_tree_has_none(self):
        self.assertEqual(circles({"a": ["b", "c"], "b": ["c"], "c": []}), [])
        self.assertEqual(circles({"a": ["a"]}), [["a", "a"]])
        self.assertEqual(circles({"d": ["e", "x"], "e": ["d"], "b": ["c"], "c": ["a"], "a": ["b"], "x": ["d"]}),
                         [["a", "b", "c", "a"], ["d", "e", "d"], ["d", "x", "d"]])


if __name__ == "__main__":
    unittest.main()

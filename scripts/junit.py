#!/usr/bin/env python3
"""What JUnit files say: junit.py slowest COUNT FILE... | junit.py failed FILE...

slowest: the tests that took longest, one a line. failed: those that failed, one a line, with the first line of why.
"""

import sys
import xml.etree.ElementTree as tree


def cases_of(files):
    return [case for file in files for case in tree.parse(file).iter("testcase")]


def name_of(case):
    name, where = case.get("name"), case.get("classname", "").replace(".", "/")  # pytest's
    return name if where in ("", name.replace(".", "/")) else f"{where}: {name}"  # ctest has the name once more


def print_slowest(count, files):
    cases = sorted(cases_of(files), key=lambda case: float(case.get("time", 0)), reverse=True)
    for case in cases[:count]:
        print(f"{float(case.get('time', 0)):8.2f} s  {name_of(case)}")


def print_failed(files):
    for case in cases_of(files):
        fault = next((child for child in case if child.tag in ("failure", "error")), None)
        if fault is not None:
            lines = (fault.get("message") or fault.text or "").strip().splitlines()
            print(f"{name_of(case)}: {lines[0][:200]}" if lines else name_of(case))


if sys.argv[1] == "slowest":
    print_slowest(int(sys.argv[2]), sys.argv[3:])
else:
    print_failed(sys.argv[2:])

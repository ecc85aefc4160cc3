#!/usr/bin/env python3
"""The tests of JUnit files that took longest, one a line: slowest.py COUNT FILE..."""

import sys
import xml.etree.ElementTree as tree

cases = [case for file in sys.argv[2:] for case in tree.parse(file).iter("testcase")]
cases.sort(key=lambda case: float(case.get("time", 0)), reverse=True)
for case in cases[:int(sys.argv[1])]:
    where = case.get("classname", "").replace(".", "/")  # pytest's; ctest has the name once more
    name = case.get("name") if where in ("", case.get("name").replace(".", "/")) else f"{where}: {case.get('name')}"
    print(f"{float(case.get('time', 0)):8.2f} s  {name}")

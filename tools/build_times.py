#!/usr/bin/env python3
"""The time that each object of a build took when it was made last, the longest first, and the sum of each target.
usage: tools/build_times.py PRESET [COUNT]      (tools/build --times PRESET)   wall seconds, as two jobs share two cores"""
import collections
import os
import re
import sys


def main():
    preset, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 25
    folder = f"build/{preset}"
    times = {}
    with open(f"{folder}/.ninja_log", encoding="utf-8") as log:
        for line in log:
            parts = line.split("\t")
            if len(parts) == 5 and parts[3].startswith("CMakeFiles/") and parts[3].endswith(".o") and os.path.exists(f"{folder}/{parts[3]}"):
                times[parts[3]] = (int(parts[1]) - int(parts[0])) / 1000
    targets = collections.Counter()
    for path, seconds in times.items():
        targets[re.match(r"CMakeFiles/(\w+)\.dir/", path)[1]] += seconds
    for name, seconds in targets.most_common():
        print(f"{seconds:8.1f} s  {name}")
    print(f"{sum(times.values()):8.1f} s  all {len(times)} objects\n")
    for path, seconds in sorted(times.items(), key=lambda one: -one[1])[:count]:
        group = re.search(r"Unity/(unity_\w+?)_cxx\.cxx\.o$", path)
        print(f"{seconds:8.1f} s  {path}")
        if group:
            print(f"            {' '.join(sources_of(folder, path))}")


def sources_of(folder, path):
    """The sources of a group (0023), without their folder's beginning."""
    with open(f"{folder}/{path.removesuffix('.o')}", encoding="utf-8") as group:
        return [os.path.relpath(one, "src") for one in re.findall(r'#include "[^"]*/(src/[^"]+\.cc)"', group.read())]


main()

#!/usr/bin/env python3
"""Tells how much of embipc.h the tests run: by gcov, of the objects that the tests share.
Usage: coverage.py BUILD [LIST]   LIST receives the lines that no test runs"""
import glob
import gzip
import json
import os
import re
import subprocess
import sys

build = sys.argv[1]
lines, branches = {}, {}   # by line: how often; of each branch
for name in glob.glob(os.path.join(build, "*.gcda")):
    if os.path.basename(name) not in ("library.gcda", "inside.gcda"):
        continue
    subprocess.run(["gcov", "--json-format", "--branch-probabilities", os.path.basename(name)], cwd=build, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for name in glob.glob(os.path.join(build, "*.gcov.json.gz")):
    with gzip.open(name) as f:
        for file in json.load(f)["files"]:
            if os.path.basename(file["file"]) != "embipc.h":
                continue
            for line in file["lines"]:
                n = line["line_number"]
                lines[n] = lines.get(n, 0) + line["count"]
                taken = [b["count"] for b in line["branches"] if not b["throw"]]
                old = branches.get(n, [])
                if not old or len(old) != len(taken):
                    branches[n] = max(taken, old, key=sum)
                else:
                    branches[n] = [a + b for a, b in zip(old, taken)]
if not lines:
    sys.exit("coverage: no test has run in " + build)
with open("embipc.h", encoding="utf-8") as f:
    text = f.read().split("\n")
chapter, of = "public", {}
for n, t in enumerate(text, 1):
    found = re.match(r"/\* ==== (\d+\. .*?) =+", t)
    chapter = found.group(1) if found else chapter
    of[n] = chapter
missed = [n for n in sorted(lines) if lines[n] == 0]
by = {}
for n in missed:
    by[of[n]] = by.get(of[n], 0) + 1
for name, count in sorted(by.items(), key=lambda one: -one[1])[:25]:
    print("%5d  %s" % (count, name))
if len(sys.argv) > 2:
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.writelines("%d: %s\n" % (n, text[n - 1]) for n in missed)
with open("tests/unrun.txt", encoding="utf-8") as f:
    explained = {t.strip() for t in f if t.startswith("    ")}
for n in missed:
    if text[n - 1].strip() not in explained:
        print("no test runs, and tests/unrun.txt does not tell why: %d: %s" % (n, text[n - 1].strip()))
every = [b for one in branches.values() for b in one]
print("coverage: %.1f %% of %d lines, %.1f %% of %d branches" %
      (100 * (1 - len(missed) / len(lines)), len(lines), 100 * sum(b > 0 for b in every) / len(every), len(every)))

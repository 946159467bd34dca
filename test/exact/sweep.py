#!/usr/bin/env python3
"""Records drawn over the whole space of schemes/record/record.def, what `assay` computes under them beside an exact
model in integers and fractions that was written from the documentation alone.

    sweep.py ASSAY SOURCE [SEED [COUNT]]          TAP; exit 1 when anything differs
"""
import collections
import os
import random
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import memories
import networks
import records
import rescales
import sparse


TURNS = (rescales, networks, sparse, rescales, networks, sparse, memories, networks)


class Report:
    def __init__(self):
        self.ran, self.compared, self.differences, self.reasons, self.bad = 0, 0, [], {}, []
        self.ops = collections.Counter()

    def refused(self, status, message, text):
        """What is refused is refused with status 2 and a line, or one a node."""
        lines = message.strip().splitlines()
        if status != 2 or not lines or len(lines) > 1 and not all(": " in line for line in lines):
            self.bad.append("exit %d: %s\n%s" % (status, message, text))
        reason = re.sub(r"'[^']*'|-?\d+", "N", lines[-1].split(": ", 2)[-1] if lines else "")
        self.reasons.setdefault(reason, []).append(lines[-1] + "\n" + text if lines else text)

    def run(self, text=""):
        """A record that was run; text: its network."""
        self.ran += 1
        self.ops.update(re.findall(r" = (\w+)\(", text))

    def differ(self, what, text, command, seen, expected):
        self.differences.append("%s: assay %s, model %s\n  assay %s\n%s" % (
            what, "refuses" if seen is None else seen, "refuses" if expected is None else expected, command,
            "".join("    %s\n" % line for line in text.splitlines())))


def make_command(assay):
    def command(arguments):
        try:
            done = subprocess.run([assay] + arguments, capture_output=True, text=True, timeout=10)
        except subprocess.TimeoutExpired:
            return 124, "no end after 10 seconds: assay " + " ".join(arguments)
        return done.returncode, done.stderr
    return command


def main():
    assay, source = os.path.abspath(sys.argv[1]), sys.argv[2]
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else time.time_ns() % 1000000
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    definition = records.read_definition(source + "/schemes/record/record.def")
    report, command = Report(), make_command(assay)
    print("# seed %d, %d records" % (seed, count))
    rng = random.Random(seed)
    rows, whole = rescales.pairs_of(rng, definition), networks.pairs_of(rng, definition)
    with tempfile.TemporaryDirectory() as folder:
        for index in range(count):
            part = TURNS[index % len(TURNS)]
            part.run(command, rng, rows if part is rescales else whole, definition, folder, report)
    refused = sum(len(texts) for texts in report.reasons.values())
    print("# %d records run, %d values compared, %d records refused" % (report.ran, report.compared, refused))
    print("# nodes run: %s" % ", ".join("%s %d" % one for one in report.ops.most_common()))
    for what, pairs in (("rescale in rows", rows), ("whole record in networks", whole)):
        print("# pairs of fields' values, %s: %s" % (what, pairs.counts()))
    for reason, texts in sorted(report.reasons.items(), key=lambda item: -len(item[1])):
        print("# refused %d times: %s" % (len(texts), reason))
        if "-v" in sys.argv:
            print("".join("#     %s\n" % line for line in texts[0].splitlines()), end="")
    for text in report.bad + report.differences[:20]:
        print("\n".join("# " + line for line in text.splitlines()))
    print("1..2")
    print("%s 1 - refusals are one line and status 2" % ("not ok" if report.bad else "ok"))
    print("%s 2 - %d differences" % ("not ok" if report.differences else "ok", len(report.differences)))
    return 1 if report.bad or report.differences else 0


if __name__ == "__main__":
    sys.exit(main())

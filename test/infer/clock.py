#!/usr/bin/env python3
"""assay infer asks and finds the same on a slow machine: searches are cut by a count of work.

  clock.py ASSAY PRELOAD      PRELOAD: clock_preload.c as a shared object; TAP"""
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../support")]
import sweep  # noqa: E402
from tap import Tap, skip_sanitized  # noqa: E402

ASSAY, PRELOAD = (os.path.realpath(p) for p in sys.argv[1:3])
# the first searches encodings, behind which a clock once stood; of the second the end is open
RULES = [("scale", {"left_shift": "product", "round": [[None, "half-up"]]}),
         ("multiplier", {"left_shift": "product", "round": [[None, "half-up"]], "multiplier_bits": 16, "shift_min": 0, "result_bits": 24, "result_overflow": "wrap"})]


def main():
    skip_sanitized("they bring a runtime of their own, which nothing may stand before")
    tap, folder = Tap(), tempfile.mkdtemp()
    for kind, rule in RULES:
        os.environ.pop("LD_PRELOAD", None)
        plain = sweep.ask(ASSAY, folder, rule, "i8", rows=kind)
        os.environ["LD_PRELOAD"] = PRELOAD
        slow = sweep.ask(ASSAY, folder, rule, "i8", rows=kind)
        tap.check(plain[1] and plain == slow, "kind %s: the same report, whatever the clock says" % kind, plain, slow)
    shutil.rmtree(folder)
    tap.end()


main()

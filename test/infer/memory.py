#!/usr/bin/python3
"""assay infer DIR OUTPUTS where one allocation fails, whichever: one line and exit status 2, or the same report; never another one.

  memory.py ASSAY PRELOAD [SEED]      PRELOAD: alloc_preload.c as a shared object; TAP"""
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
from tap import Tap, skip_sanitized  # noqa: E402

ASSAY, PRELOAD = (os.path.realpath(p) for p in sys.argv[1:3])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 30)
ASKED = [ASSAY, "infer", "probes", "outputs", "--among", "tflite,xnnpack-qs8"]


def assay(*words, **more):
    r = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, env={**os.environ, **more})
    return r.returncode, r.stdout, r.stderr


def try_all(tap):
    assay(ASSAY, "probe", "-o", "probes", "--op", "quantize")
    os.makedirs("outputs/quantize")
    for name in os.listdir("probes/quantize/golden/tensors"):
        if "_quantize_" in name:
            shutil.copy(os.path.join("probes/quantize/golden/tensors", name), "outputs/quantize")
    plain = assay(*ASKED, LD_PRELOAD=PRELOAD, ASSAY_ALLOC_COUNT="count")
    with open("count", encoding="utf-8") as f:
        count = int(f.read())
    tap.check(plain[0] == 1 and "this is tflite" in plain[1] and count > 1000, "without a fault: the preset, after %d allocations" % count, *plain)
    rng = random.Random(SEED)
    chosen = sorted({int(2 * (count / 2) ** (i / 24)) for i in range(24)} | {rng.randrange(2, count) for _ in range(24)})
    said, bad = 0, []
    for k in chosen:
        status, out, err = assay(*ASKED, LD_PRELOAD=PRELOAD, ASSAY_ALLOC_FAILS=str(k))
        refused = status == 2 and out == "" and err.startswith("assay: ") and "memory" in err and err.count("\n") == 1
        said += refused
        if not refused and (status, out) != plain[:2]:
            bad.append("allocation %d: status %d, %s%s" % (k, status, out[:200], err[:200]))
    tap.check(not bad, "one of %d allocations failed: a line, or the same report" % len(chosen), *bad)
    tap.check(said > len(chosen) // 2, "most of them are said: %d" % said)


def main():
    skip_sanitized("they bring an allocator of their own, which nothing may stand before")
    tap = Tap()
    print("# seed %d" % SEED)
    work = tempfile.mkdtemp()
    os.chdir(work)
    try:
        try_all(tap)
    finally:
        shutil.rmtree(work)
    tap.end()


main()

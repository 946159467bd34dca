#!/usr/bin/python3
"""widen.py ASSAY: `tune --wide` beside the search that its documentation describes, made of `sensitivity`, `quantize` and `eval`."""
import json
import os
import random
import re
import subprocess
import sys

import numpy as np
from support import TAP, check, write

ASSAY = os.path.realpath(sys.argv[1])
SEED = int(os.environ.get("ASSAY_SEED", random.SystemRandom().randrange(2**31)))
RNG = np.random.default_rng(SEED)
NET = """graph net {{
 input x: f32[1,6,8]
{weights} h: f32[1,6,8] = fc(x, w0, b0)
 r: f32[1,6,8] = relu(h)
 t: f32[1,8,6] = transpose(r) {{perm=[0,2,1]}}
 v: f32[6,8] = reshape(t) {{shape=[6,8]}}
 y: f32[6,8] = fc(v, w1, b1)
 m: f32[6,8] = min(y, v)
 k: f32[6,8] = hard_swish(m)
 s: f32[6,8] = add(k, v)
 z: f32[6,8] = fc(s, w2, b2)
 o: f32[6,8] = softmax(z) {{axis=1}}
 output o
}}
"""
BASE = ["net.assay", "-p", "p.yaml", "-s", "tflite", "--target", "target.yaml"]
DATA = ["-d", "x.npy", "-q"]


def assay(*args, status=(0,)):
    run = subprocess.run([ASSAY, *args], capture_output=True, text=True, timeout=120, check=False)
    if run.returncode not in status:
        raise SystemExit(f"Bail out! assay {' '.join(args)}: {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout


def told(*args, status=(0,)):
    return json.loads(assay(*args, "--json", "-", status=status))


def prepare():
    numbers = lambda a: ",".join(repr(float(v)) for v in np.asarray(a, np.float32).ravel())  # noqa: E731
    w = [RNG.normal(size=(8, 8)) * RNG.choice([0.4, 1, 3], (8, 1)) for _ in range(3)]
    text = "".join(f" const w{i}: f32[8,8] = [{numbers(a)}]\n const b{i}: f32[8] = [{numbers(RNG.normal(size=8))}]\n" for i, a in enumerate(w))
    write("net.assay", NET.format(weights=text).encode())
    write("target.yaml", b"target: narrow\nops:\n  hard_swish: {types: [i8]}\nothers: {types: [i8, i16]}\n")
    np.save("x.npy", RNG.normal(size=(40, 6, 8)).astype(np.float32))
    assay("profile", "net.assay", "-d", "x.npy", "-q", "-o", "p.yaml")


ROWS = {"h": ["h", "r"], "r": ["h", "r"]}  # what is fused is as wide as its layer
PASSES = {"t": "r", "v": "r"}  # moves, and what they are moved from


def rules(nodes):
    """--precision of these rows, and of what passes their codes on."""
    wide = {n for row in nodes for n in ROWS.get(row, [row])}
    if wide & {"r", "y", "m", "s"}:
        wide |= set(PASSES)  # its maker or a reader is wide
    return ["--precision", ",".join(f"{n}=i16" for n in sorted(wide))] if wide else []


def search(target, how):
    """(nodes, trials, ...) by the rule as tune.h and the head of tune_wide.c put it; how: the calibration that tune has chosen before."""
    def decibels(nodes):
        return told("eval", *BASE, *DATA, *how, *rules(nodes))["sqnr_db"]
    rows = told("sensitivity", *BASE, *DATA, *how)["nodes"]
    floats = {f["node"] for f in told("quantize", *BASE, *how, *rules([r["node"] for r in rows]))["float"]}
    order = [r["node"] for r in sorted(rows, key=lambda r: r["alone_db"]) if r["node"] not in floats and r["type"] != "i16"]
    few, enough, reached, trials = 0, 0, False, 0
    while few < len(order) and not reached:
        enough = min(2 * few or 1, len(order))
        reached = decibels(order[:enough]) >= target
        trials += 1
        few = few if reached else enough
    while reached and enough - few > 1:
        middle = (few + enough) // 2
        trials += 1
        if decibels(order[:middle]) >= target:
            enough = middle
        else:
            few = middle
    chosen = order[:enough] if reached else []
    for node in order[:enough - 1][::-1] if reached else []:
        trials += 1
        without = [n for n in chosen if n != node]
        chosen = without if decibels(without) >= target else chosen
    return chosen, trials, order, floats, decibels(chosen)


def compare(target):
    found = told("tune", *BASE, *DATA, "--target-sqnr", repr(target), "--wide", "i16", "--max-float", "0", "-o", "tuned.assay", status=(0, 1))
    want, trials, order, floats, reached = search(target, ["--calibration", found["options"]["calibration"]])
    got = [p["node"] for p in found["options"]["precision"]]
    what = f"seed {SEED}, {target:.2f} dB"
    asked = rules(want)[1].replace("=i16", "").split(",") if want else []
    check(found["reached"] == bool(want) and (not want or sorted(got) == sorted(asked)), f"{what}: the nodes", got, want, order)
    if want:
        check(found["trials"] == 4 + trials and abs(found["after"]["output_db"] - reached) < 1e-9, f"{what}: the trials", found["trials"], trials)
        check(found["options"]["keep_float"] == [] and found["report"]["float"] == [] and "k" in floats and "k" not in got,
              f"{what}: what the target lacks in 16 bits is neither wide nor in float", found["options"], floats)
    return bool(want)


def again():
    """The options that are printed make the same network."""
    line = [t for t in assay("tune", *BASE, *DATA, "--target-sqnr", "30", "--wide", "i16", "--max-float", "0", "-o", "tuned.assay", status=(0, 1)).splitlines()
            if t.startswith("options:")][0]
    options = re.findall(r"(--[a-z-]+) '?([^' ]+)'?", line)
    check(any(k == "--precision" for k, _ in options), "the options that are printed", line)
    assay("quantize", *BASE, *[x for pair in options for x in pair], "-o", "again.assay")
    with open("tuned.assay", encoding="utf-8") as f, open("again.assay", encoding="utf-8") as g:
        check(f.read() == g.read(), "make the same network")


def refused():
    for text in ("f32", "i32", "wide"):
        run = subprocess.run([ASSAY, "tune", *BASE, *DATA, "--wide", text], capture_output=True, text=True, timeout=60, check=False)
        check(run.returncode == 2 and run.stderr.count("\n") == 1 and "--wide" in run.stderr, f"--wide {text} is refused", run.stderr)


prepare()
low = max(told("eval", *BASE, *DATA, "--calibration", how)["sqnr_db"] for how in ("min-max", "percentile", "mse", "kl"))
compared = [compare(low + more) for more in (1, 4, 8, 60)]
check(any(compared[:3]) and not compared[3], "targets that are reached, and one that is not", compared)
again()
refused()
TAP.end()

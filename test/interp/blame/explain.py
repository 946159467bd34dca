#!/usr/bin/env python3
"""assay explain on devices whose cause is known: explain.py ASSAY SOURCE   (TAP)

The devices are those of blame.py beside this file. What the steps end at must be what the bundle and the device
hold, and the ways must part where the fault is."""
import json
import os
import random
import subprocess
import sys
import tempfile

import blame as planted

ASSAY = sys.argv[1]
CONVS = (planted.STEM, planted.DEPTHWISE, planted.POINT)
# Fault: (the class, the step at which the two ways part, by its beginning), by number in blame.py's list.
PARTS = {
    "rescale.rounding": ("rounding", "table", "sum of codes"),
    "rescale.multiplier": ("product",),
    "rescale.channel": ("product",),
    "rescale.zero_point": ("plus zero point", "code"),
    "accumulator.width": ("product", "accumulator", "bias", "wrapped to"),
    "bias.missing": ("bias",),
    "bias.channel": ("bias",),
    "weights.stale": ("product",),
    "weights.sign": ("product",),
    "input.zero_point": ("product", "first", "second"),
    "padding.value": ("product",),
    "stride": ("product",),
    "stuck_bit": ("cause",),
    "lane": ("cause",),
    "sign": ("cause", "product"),
}


def explain(*args):
    r = subprocess.run([ASSAY, "explain", *args, "--json", "-"], capture_output=True, text=True)
    return r.returncode, json.loads(r.stdout) if r.returncode == 0 else r.stderr


def ends(trace):
    """The value at which steps end, by their own words."""
    steps = {s["name"]: s["text"] for s in trace["steps"]}
    last = trace["steps"][-1]
    good = last["name"] == "element" and int(last["text"]) == trace["value"]
    return good and ("code" not in steps or "cause" in steps or "note" in trace or int(steps["code"]) == trace["value"])


def devices(tap, golden, device):
    done = set()
    for name, wanted, fault in planted.FAULTS:
        if (wanted, name in CONVS) in done:
            continue
        done.add((wanted, name in CONVS))
        node = planted.Node(golden, name)
        codes = fault(node)
        planted.dump(golden, node, codes, device)
        status, said = explain(golden, device, name)
        if status:
            tap.check(False, f"{node.name}: {wanted}", said)
            continue
        at = [int(i) for i in said["element"][1:-1].split(",")]
        flat = 0
        for i, n in zip(at, node.shape):
            flat = flat * n + i
        good = said["device"] == codes[flat] and said["device"] != said["golden"] and ends(said["trace"]) and said["trace"]["value"] == said["golden"]
        cause = said["cause"]
        if wanted != "unexplained":
            good = good and cause and cause["class"] == wanted and ends(cause["trace"]) and cause["trace"]["value"] == said["device"] and cause["parts"]
        if good and wanted in PARTS and node.op == "conv":
            good = cause["parts"].startswith(PARTS[wanted] + ("cause",))  # a fit is told of codes
        tap.check(good, f"{node.name}: {wanted}", said["element"], said["golden"], said["device"], cause and (cause["parts"], cause["detail"], cause["trace"]["steps"]))


def by_name(tap, golden):
    rng = random.Random(planted.SEED)
    manifest = json.load(open(os.path.join(golden, "manifest.json")))
    tensors = {t["name"]: t for t in manifest["tensors"]}
    for node in manifest["nodes"]:
        t = tensors[node["outputs"][0]]
        shape, descr, values = planted.read(os.path.join(golden, t["file"]))
        flat = rng.randrange(len(values))
        at, rest = [], flat
        for n in reversed(shape):
            at.insert(0, rest % n)
            rest //= n
        status, said = explain(golden, node["name"] + str(at).replace(" ", ""))
        if descr == "<f4":
            good = status == 0 and abs(said["golden"] - values[flat]) <= 1e-6 * abs(values[flat]) and said["replayed"] == said["golden"]
        else:
            good = status == 0 and said["golden"] == said["trace"]["value"] == values[flat] and ends(said["trace"])
        tap.check(good, f"{node['op']} {node['name']}{at}", said)


def refused(tap, golden):
    for what, says in (("nothing[0]", "no node or tensor"), (planted.STEM + "[0,0,0]", "an index a dimension"),
                       (planted.STEM + "[0,99,0,0]", "an index a dimension"), (planted.STEM, "no element differs")):
        status, said = explain(golden, what)
        tap.check(status == 2 and says in said and said.count("\n") == 1, f"refused: {what}", status, said)
    status, said = explain(golden, planted.STEM + "[0,0,0,0]", "--sample", "7")
    tap.check(status == 2 and "no sample 7" in said, "refused: a sample that is not there", said)


def main():
    tap = planted.Tap()
    print(f"# seed {planted.SEED}")
    with tempfile.TemporaryDirectory() as folder:
        golden = planted.make_golden("tflite", folder)
        devices(tap, golden, os.path.join(folder, "device"))
        by_name(tap, golden)
        refused(tap, golden)
    print(f"1..{tap.n}")
    sys.exit(tap.failed != 0)


if __name__ == "__main__":
    main()

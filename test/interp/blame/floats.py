#!/usr/bin/env python3
"""assay blame on nodes of floats: floats.py ASSAY SOURCE   (TAP)

A shipped network of which two layers stay in float. The device adds its products in double precision and rounds once,
which is another order than any engine's: to the bit that is accumulator.order, with --rel it is clean; a fault beside
it is named either way. Shares no code with the library."""
import json
import math
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import planted  # noqa: E402
from device import read, write  # noqa: E402
from tap import Tap  # noqa: E402

ASSAY, SOURCE = sys.argv[1], sys.argv[2]


def single(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


class Net:
    """The bundle's values by name, and its nodes; run() computes those of floats again."""

    def __init__(self, bundle):
        self.bundle, self.m = bundle, json.load(open(os.path.join(bundle, "manifest.json")))
        self.entry = {t["name"]: t for t in self.m["tensors"] + self.m["constants"]}
        self.golden = {n: read(os.path.join(bundle, e["file"])) for n, e in self.entry.items()}
        self.node = {n["name"]: n for n in self.m["nodes"]}

    def is_float(self, node):
        return all(self.golden[v][1] == "<f4" for v in node["inputs"] + node["outputs"])

    def conv(self, node, x, w, b):
        (_, cin, h, wd), (cout, _, kh, kw) = x[0], w[0]
        pad, out = node["attributes"]["pad_begin"], []
        assert node["attributes"]["stride"] == [1, 1] and node["attributes"]["group"] == 1
        rows = [[0.0] * (wd + 2 * pad[1]) for _ in range(cin * (h + 2 * pad[0]))]
        for c in range(cin):
            for y in range(h):
                rows[c * (h + 2 * pad[0]) + pad[0] + y][pad[1]:pad[1] + wd] = x[2][(c * h + y) * wd:(c * h + y + 1) * wd]
        for o in range(cout):
            f = w[2][o * cin * kh * kw:(o + 1) * cin * kh * kw]
            for y in range(h):
                for k in range(wd):
                    window = [v for c in range(cin) for i in range(kh) for v in rows[c * (h + 2 * pad[0]) + y + i][k:k + kw]]
                    out.append(single(sum(map(float.__mul__, f, window)) + b[2][o]))
        return [[1, cout, h, wd], "<f4", out]

    def dequantize(self, node, x, scale=None, zero=None):
        p, e = node["parameters"], self.entry[node["inputs"][0]]
        zero = p["input_zero_points"][0] if zero is None else zero
        scale = single(e["scale"] if scale is None else scale)
        return [x[0], "<f4", [single((c - zero) * scale) for c in x[2]]]

    def run(self, name=None, fault=None, late=None):
        """The device's values, up to the codes that are made of floats again or at the end: those of the named node with
        fault(its operands), or late(what it gives)."""
        v = dict(self.golden)
        for node in self.m["nodes"]:
            at, out = node["name"] == name, node["outputs"][0]
            if node["op"] == "conv" and self.is_float(node):
                x, w, b = (list(v[i]) for i in node["inputs"])
                if at and fault:
                    x, w, b = fault(x, w, b)
                v[out] = self.conv(node, x, w, b)
            elif node["op"] == "relu" and self.is_float(node):
                lo, hi = fault if at and fault else (0.0, math.inf)
                v[out] = [*v[node["inputs"][0]][:2], [min(max(a, lo), hi) for a in v[node["inputs"][0]][2]]]
            elif node["op"] == "dequantize":
                v[out] = self.dequantize(node, v[node["inputs"][0]], *(fault if at and fault else ()))
            elif node["op"] == "quantize" and name != LOGITS and out != self.m["tensors"][1]["name"]:
                for t in self.m["tensors"][self.entry[out]["index"]:]:
                    del v[t["name"]]
                break
            if at and late:
                v[out] = late(list(v[out]))
        return v


def blame(net, device, values, *options, mask=None):
    shutil.rmtree(device)
    os.makedirs(device)
    for t in net.m["tensors"]:
        if t["name"] in values:
            write(os.path.join(device, os.path.basename(t["file"])), *values[t["name"]])
    for name, seen in (mask or {}).items():
        write(os.path.join(device, os.path.basename(net.entry[name]["file"])[:-4] + ".mask.npy"), values[name][0], "|b1", seen)
    r = subprocess.run([ASSAY, "blame", net.bundle, device, "--json", "-", *options], capture_output=True, text=True)
    return r.returncode, json.loads(r.stdout) if r.returncode < 2 else r.stderr


def flipped(values, n):
    return [a for i in range(0, len(values), n) for a in reversed(values[i:i + n])]


CONV, RELU, LOGITS = "/conv3/conv/Conv", "/conv3/act/Relu", "logits:f32"
FAULTS = [
    (CONV, "bias.missing", lambda x, w, b: (x, w, [b[0], b[1], [0.0] * len(b[2])]), None),
    (CONV, "bias.channel", lambda x, w, b: (x, w, [b[0], b[1], b[2][1:] + b[2][:1]]), None),
    (CONV, "weights.layout", lambda x, w, b: (x, [w[0], w[1], flipped(w[2], 9)], b), None),
    (CONV, "weights.stale", lambda x, w, b: (x, [w[0], w[1], w[2][len(w[2]) // w[0][0]:] + w[2][:len(w[2]) // w[0][0]]], b), None),
    (CONV, "saturation.bounds", None, lambda y: [y[0], y[1], [max(a, 0.0) for a in y[2]]]),
    (CONV, "lane", None, lambda y: [y[0], y[1], [0.0 if i // 64 % 4 == 3 else a for i, a in enumerate(y[2])]]),
    (CONV, "sign", None, lambda y: [y[0], y[1], [-a for a in y[2]]]),
    (CONV, "unexplained", None, lambda y: [y[0], y[1], [single(random.gauss(0, 1)) for _ in y[2]]]),
    (CONV, "unexplained", None, lambda y: [y[0], y[1], [math.inf if i == 77 else a for i, a in enumerate(y[2])]]),
    (RELU, "saturation.bounds", (-math.inf, math.inf), None),
    (RELU, "saturation.bounds", (0.0, 0.5), None),
    (LOGITS, "rescale.multiplier", (0.0625 / 3, None), None),
    (LOGITS, "input.zero_point", (None, 0), None),
]


def faults(tap, net, device):
    status, said = blame(net, device, net.run())
    tap.check(status == 1 and {f["class"] for f in said["faults"]} == {"accumulator.order"}, "double sums: another order, to the bit", said)
    status, said = blame(net, device, net.run(), "--rel", "1e-5")
    tap.check(status == 0 and said["verdict"] == "clean", "double sums: clean with --rel", said)
    near = {n: [s, d, [single(a * (1 + random.uniform(-9e-4, 9e-4))) for a in v] if d == "<f4" else v] for n, (s, d, v) in net.golden.items()}
    last = {**net.golden, net.m["tensors"][-1]["name"]: near[net.m["tensors"][-1]["name"]]}
    status, said = blame(net, device, last, "--rel", "1e-3")
    tap.check(status == 0 and not said["faults"], "within the tolerance: clean", said)
    status, said = blame(net, device, last, "--rel", "1e-5")
    tap.check(status == 1 and [f["node"] for f in said["faults"]] == [LOGITS], "beyond the tolerance: a fault", said)
    for name, wanted, fault, late in FAULTS:
        values = net.run(name, fault, late)
        status, said = blame(net, device, values, "--rel", "1e-5")
        got = [(f["node"], f["class"]) for f in said["faults"]] if status == 1 else said
        tap.check(got == [(name, wanted)], f"{name}: {wanted}", got)
        status, said = blame(net, device, values)
        got = [(f["node"], f["class"]) for f in said["faults"] if f["class"] != "accumulator.order"] if status == 1 else said
        tap.check(got == [(name, wanted)], f"{name}: {wanted}, to the bit", got)


def nan(tap, net, device):
    values = net.run()
    out = net.node[CONV]["outputs"][0]
    spoilt = [math.nan if i == 5 else a for i, a in enumerate(values[out][2])]
    status, said = blame(net, device, {**values, out: [*values[out][:2], spoilt]}, "--rel", "1e-5")
    tap.check(status == 2 and out in said and "NaN" in said and said.count("\n") == 1, "NaN is refused", said)
    status, said = blame(net, device, {**values, out: [*values[out][:2], spoilt]}, "--rel", "1e-5", mask={out: [i != 5 for i in range(len(spoilt))]})
    tap.check(status == 0, "NaN where nothing was observed is none", said)


def main():
    tap = Tap()
    print(f"# seed {planted.SEED}")
    random.seed(planted.SEED)
    with tempfile.TemporaryDirectory() as folder:
        models, images = os.path.join(SOURCE, "datasets", "models"), os.path.join(SOURCE, "datasets", "glyphs")
        profile, golden = os.path.join(folder, "profile.yaml"), os.path.join(folder, "golden")
        for command in (["profile", f"{models}/plain_cnn.onnx", "--dataset", f"{images}/calibration", "-n", "16", "-q", "-o", profile],
                        ["golden", f"{models}/plain_cnn.onnx", "-p", profile, "-s", "tflite", "-i", f"{images}/test/0000_A.png",
                         "--keep-float", "*conv3*", "--keep-float", "*conv4*", "-q", "-o", golden]):
            subprocess.run([ASSAY, *command], check=True, capture_output=True)
        net, device = Net(golden), os.path.join(folder, "device")
        os.makedirs(device)
        faults(tap, net, device)
        nan(tap, net, device)
    tap.end()


if __name__ == "__main__":
    main()

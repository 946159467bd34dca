#!/usr/bin/python3
"""Faults of memory and of what lies behind sums: memory.py ASSAY SOURCE   (TAP)

One channel's numbers for all, orders taken for others, a bit of every multiplier, tiles' edges never written (seen and
not), halves of samples, a mask with what lies behind it, accumulators alone, a rounding in part; accumulators of a device that
is right; channels last where the shape does not say so; patterns of small floats."""
import os
import random
import shutil
import sys
import tempfile

import numpy as np

import faults
import faults_memory
import faults_output
import plant
from bundle import Bundle, empty
from device import Device
from inject import blame
from networks import Shop

SINGLE = [("rescale.channel", faults_memory.one_rescale_for_all), ("bias.channel", faults_memory.one_bias_for_all),
          ("weights.layout", faults_memory.taken_for_another_order), ("rescale.multiplier", faults_memory.bit_of_all_multipliers)]
LEFT = """graph left {
  input x: f32[1,2,9,9]
  xq: u8[1,2,9,9] q(0.02,120) = quantize(x)
  const w: i8[2,2,1,1] q(0.01,0) = [90,-31,17,66]
  c: u8[1,2,9,9] q(0.03,128) = conv(xq, w)
  y: u8[1,2,5,5] q(0.031,127) = avg_pool(c) {kernel=[3,3], stride=[2,2], pad_begin=[1,1], pad_end=[1,1], count_include_pad=true}
  output y
}
"""


class Bench:
    def __init__(self, assay, source, folder):
        self.assay, self.folder, self.shop = assay, os.path.join(folder, "device"), Shop(assay, source, folder)

    def asked(self, made):
        made.write(self.folder)
        return blame(self.assay, made.bundle.path, self.folder)

    def single(self, name, function, path, kind=plant.single):
        device = Device(Bundle(path))
        made = kind(random.Random(5), device, (name, next(f[1] for f in faults.FAULTS if f[2] is function), function))
        status, report, _ = self.asked(made)
        found = [(f["name"], f["class"]) for f in report["faults"]]
        return status == 1 and found == made.wanted, (found, made.wanted)


def masked(bench):
    """Entries of a table, of which one that is wrong was never observed: the node behind it is not at fault."""
    device, said = Device(Bundle(bench.shop.drawn(2, "tflite"))), []
    fault = ("table.entry", next(f[1] for f in faults.FAULTS if f[2] is faults_output.table_entries), faults_output.table_entries)
    for seed in range(6):
        made = plant.single(random.Random(seed), device, fault, True)
        output = made.wanted[0][0]
        index = next(i for i, n in enumerate(made.bundle.nodes) if n["outputs"][0] == output)
        x, differs = device.node(index).x[0], made.values[output] != made.bundle.codes(output)
        wrong = np.unique(x[differs])
        if len(wrong) > 1:
            made.masks[output], made.names = x != wrong[0], list(made.values)
            status, report, _ = bench.asked(made)
            said.append((status, [f["name"] for f in report["faults"]] == [output]))
    return len(said) > 2 and all(s == (1, True) for s in said), said


def halves(bench):
    """Of each sample's tensor the second half is what the sample before left; before the first, zeros."""
    bundle = Bundle(bench.shop.shipped("res_dsconv", "tflite", 3))
    device, index = Device(bundle), 5
    output = bundle.nodes[index]["outputs"][0]
    made = plant.Planted("samples", bundle, [(output, "stale.sample")], {}, list(bundle.tensor), "half_before")
    before, made.samples = np.zeros_like(bundle.codes(output)), []
    for k in range(bundle.samples):
        golden = {t["name"]: bundle.codes(t["name"], k) for t in bundle.tensors}
        codes = np.array(golden[output])
        codes.reshape(-1)[codes.size // 2:] = before.reshape(-1)[codes.size // 2:]
        before = golden[output]
        made.samples.append(device.behind(index, codes, golden))
    made.names = [n for n in made.names if all(n in s for s in made.samples)]
    status, report, _ = bench.asked(made)
    found = [(f["name"], f["class"]) for f in report["faults"]]
    return status == 1 and found == made.wanted, found


def sums_of(device, index, values):
    """A node's sums before its rescale."""
    node, held = device.node(index, values), []
    node.end = lambda acc, *_: held.append(acc) or acc
    node.codes()
    return held[0]


def sums_alone(bench):
    """A rescale's fault shows in the accumulators of what reads its codes."""
    plain = bench.shop.drawn(2, "tflite")
    with_sums = plain + "-sums"
    net = os.path.join(bench.shop.folder, "convolutional2")
    bench.shop.run("golden", net + ".assay", "-s", "tflite", "-i", net + "-0.npy", "--accumulators", "-q", "-o", with_sums)
    device = Device(Bundle(with_sums))
    bundle, tried, said = device.bundle, 0, []
    weighted = [i for i, n in enumerate(bundle.nodes) if n["op"] in faults.WEIGHTED and device.known[i]]
    for index in weighted[:-1]:
        node = device.node(index)
        node.zero = node.zero + 3
        codes = node.codes()
        values = device.behind(index, codes)
        tried += 1
        to = empty(os.path.join(empty(bench.folder), "accumulators"))
        for i in weighted:
            if all(v in values or v in bundle.constant for v in bundle.nodes[i]["inputs"]):
                np.save(os.path.join(to, bundle.file_name(bundle.nodes[i]["outputs"][0])), sums_of(device, i, device.golden if i <= index else values))
        status, report, _ = blame(bench.assay, with_sums, bench.folder)
        said.append((status, bundle.nodes[index]["outputs"][0], [(f["name"], f["classes"]) for f in report["faults"]]))
    return all(s == 1 and len(f) == 1 and f[0][0] == name and "rescale.zero_point" in f[0][1] for s, name, f in said) and tried > 1, said


def partly_rounded(bench):
    """What one rounding explains in part and nothing wholly: pairs of causes are tried, among them a rescale written otherwise."""
    device, said = Device(Bundle(bench.shop.drawn(1, "tflite"))), []
    for index, entry in enumerate(device.bundle.nodes):
        if entry["op"] in faults.BINARY and device.known[index]:
            node = device.node(index)
            node.rule = dict(node.rule, steps=node.rule["steps"][:-1] + [(node.rule["steps"][-1][0], "floor")])
            codes = np.array(node.codes())
            at = np.random.RandomState(3).rand(*codes.shape) < 0.1
            codes[at] = np.clip(codes[at] + 1, node.low, node.high)
            made = plant.Planted("one", device.bundle, [(node.output, "unexplained")], device.behind(index, codes), [], "")
            made.names = list(made.values)
            status, report, _ = bench.asked(made)
            said.append((status, [f["name"] for f in report["faults"]] == [node.output]))
    return len(said) > 1 and all(s == (1, True) for s in said), said


def right_sums(bench):
    """A pool that a scheme adds in floats has no accumulators; those of the others are right."""
    folder = bench.shop.folder
    with open(os.path.join(folder, "left.assay"), "w") as f:
        f.write(LEFT)
    np.save(os.path.join(folder, "left.npy"), np.random.RandomState(1).normal(size=(1, 2, 9, 9)).astype(np.float32))
    to = os.path.join(folder, "left")
    bench.shop.run("golden", to + ".assay", "-s", "onnxruntime", "-i", to + ".npy", "--accumulators", "-q", "-o", to)
    has = sorted(t["op"] for t in Bundle(to).tensors if "accumulators" in t)
    sums = os.path.join(empty(bench.folder), "accumulators")
    shutil.copytree(os.path.join(to, "accumulators"), sums)
    status, report, _ = blame(bench.assay, to, bench.folder)
    return status == 0 and has == ["conv"], (status, has, report["verdict"])


CUBES = """graph cubes {
  input x: i8[1,4,8,4] q(0.02,3)
  const u: i8[8,4,1,1] q(0.01,0) = [%s]
  const w: i8[8,1,1,1] q(0.01,0) = [90,-31,17,66,-80,55,21,-7]
  const v: i8[8,8,1,1] q(0.01,0) = [%s]
  a: i8[1,8,8,4] q(0.05,0) = conv(x, u)
  b: i8[1,8,8,8] q(0.05,0) = pad(a) {begin=[0,0,0,1], end=[0,0,0,3]}
  c: i8[1,8,8,8] q(0.03,5) = conv(b, w) {group=8}
  d: i8[1,8,8,8] q(0.08,-4) = conv(c, v)
  e: i8[1,8,1,8] q(0.08,-4) = slice(d) {begin=[0,0,3,0], size=[1,8,1,8]}
  f: i8[1,8,8] q(0.08,-4) = reshape(e) {shape=[1,8,8]}
  g: i8[1,4,8] q(0.08,-4) = slice(f) {begin=[0,2,0], size=[1,4,8]}
  output g
}
"""


def channels_last(bench):
    """Every picture with its channels last, those too whose shape does not say so: codes, accumulators alone, and both with
    rows that are not pictures; then some as golden has them. A picture of golden's shape in another order among
    others of golden's order is at fault."""
    draw, folder = np.random.RandomState(8), bench.shop.folder
    golden = bench.shop.written(CUBES % tuple(",".join(map(str, draw.randint(-127, 128, n))) for n in (32, 64)), [1, 4, 8, 4], "--accumulators")
    tensors = Bundle(golden).tensors
    said = []

    def device(kinds, keep=(), turn=lambda a: True):
        empty(bench.folder)
        for t in tensors:
            for kind in kinds:
                path = os.path.join(golden, kind, os.path.basename(t["file"]))
                if os.path.exists(path):
                    a = np.load(path)
                    moved = a.ndim == 4 and t["name"] not in keep and turn(a)
                    os.makedirs(os.path.join(bench.folder, kind), exist_ok=True)
                    np.save(os.path.join(bench.folder, kind, os.path.basename(path)), np.ascontiguousarray(np.moveaxis(a, 1, -1)) if moved else a)
        status, report, _ = blame(bench.assay, golden, bench.folder)
        said.append((status, [f["class"] for f in report["faults"]]))

    device(["tensors"])
    device(["accumulators"])
    device(["tensors", "accumulators"])
    device(["tensors"], keep=["x", "d"])
    device(["tensors"], turn=lambda a: a.shape == (1, 8, 8, 8) and not np.array_equal(a, np.load(os.path.join(golden, "tensors", "0002_pad_b.npy"))))
    return said[:4] == [(0, [])] * 4 and said[4][0] == 1, said


def patterns(bench):
    """Patterns of 4-bit floats: a bit that is stuck, and what 4 bits cannot hold."""
    shop, said = bench.shop, []
    network, golden = (os.path.join(shop.folder, "fp4" + end) for end in (".assay", ""))
    shop.run("quantize", f"{shop.source}/datasets/models/plain_cnn.onnx", "-s", "blackwell-nvfp4", "-o", network)
    shop.run("golden", network, "-s", "blackwell-nvfp4", "-i", f"{shop.source}/datasets/glyphs/test/0000_A.png", "-q", "-o", golden)
    tensors = Bundle(golden).tensors
    last = [t for t in tensors if t["op"] == "float_encode"][1]
    for bits in (0, 2, 5):
        empty(bench.folder)
        for t in tensors[:tensors.index(last) + 1]:
            a = np.load(os.path.join(golden, t["file"]))
            np.save(os.path.join(bench.folder, os.path.basename(t["file"])), a | np.uint8(1 << bits) if t is last else a)
        status, report, _ = blame(bench.assay, golden, bench.folder)
        said.append((status, [(f["name"], f["class"]) for f in report["faults"]]))
    return said == [(1, [(last["name"], "stuck_bit")])] * 2 + [(2, [])], said


def main():
    assay, source = (os.path.realpath(a) for a in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(assay, source, folder)
        tests = [(f.__name__, lambda n=n, f=f: bench.single(n, f, bench.shop.shipped("plain_cnn", "tflite"))) for n, f in SINGLE]
        tests += [(f.__name__, lambda f=f: f(bench)) for f in (masked, halves, sums_alone, partly_rounded, right_sums, channels_last, patterns)]
        tests.append(("edges, not dumped", lambda: bench.single("tile.edge", faults_memory.rows_never_written, bench.shop.drawn(1, "tflite"), plant.hidden)))
        for number, (name, test) in enumerate(tests, 1):
            good, why = test()
            print(f"{'ok' if good else 'not ok'} {number} - {name}")
            if not good:
                print("#", why)
    print(f"1..{len(tests)}")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""assay blame on numbers that a device has otherwise, and on samples of which one alone is wrong: samples.py ASSAY SOURCE   (TAP)

Every device is computed here, in Python's integers, from the bundle's multipliers and shifts; as it should be is the golden's first."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import asking  # noqa: E402
import planted  # noqa: E402
from device import clamp, rescale, wrap, write  # noqa: E402
from tap import Tap  # noqa: E402

ASSAY = sys.argv[1]
SAMPLES, CELLS, DEPTH, WIDTH = 3, 8, 12, 6


class Network:
    """A convolution of 1 x 1, whose cells are the rows of a product, and a maximum behind it."""

    def __init__(self, folder):
        self.golden, self.device = os.path.join(folder, "golden"), os.path.join(folder, "device")
        self.w = [[random.randint(-90, 90) for _ in range(DEPTH)] for _ in range(WIDTH)]
        self.b = [random.choice((-1, 1)) * random.randint(1500, 3000) for _ in range(WIDTH)]
        scales = [random.uniform(0.7, 1.6) for _ in range(WIDTH)]
        net = os.path.join(folder, "net.assay")
        with open(net, "w") as f:
            f.write(f"""graph net {{
 input x: i8[1,{CELLS},{CELLS},{DEPTH}] q(1,-128)
 const w: i8[{WIDTH},1,1,{DEPTH}] q(axis=0,{scales},{[0] * WIDTH}) = [{",".join(str(v) for r in self.w for v in r)}]
 const b: i32[{WIDTH}] q(axis=0,{scales},{[0] * WIDTH}) = {self.b}
 y: i8[1,{CELLS},{CELLS},{WIDTH}] q(400,-3) = conv(x, w, b) {{layout=nhwc, kernel=[1,1]}} codes[-90,101]
 z: i8[1,{CELLS},{CELLS},{WIDTH}] q(400,-3) = max_pool(y) {{layout=nhwc, kernel=[3,3], pad_begin=[1,1], pad_end=[1,1]}}
 output z
}}
""")
        self.x, inputs = [], []
        for k in range(SAMPLES):
            self.x.append([random.randint(-128, 127) for _ in range(CELLS * CELLS * DEPTH)])
            file = os.path.join(folder, f"x{k}.npy")
            write(file, [1, CELLS, CELLS, DEPTH], "|i1", self.x[k])
            inputs += ["-i", file]
        subprocess.run([ASSAY, "golden", net, "-s", "tflite", "--accumulators", *inputs, "-q", "-o", self.golden], check=True, capture_output=True)
        with open(os.path.join(self.golden, "manifest.json")) as f:
            self.manifest = json.load(f)
        found = self.manifest["nodes"][0]["parameters"]
        self.multiplier, self.shift = found["multiplier"], found["shift"]

    def y(self, k, zero=-128, multiplier=None, shift=None, out=-3, lo=-90, hi=101):
        m, s = multiplier or self.multiplier, shift or self.shift
        codes = []
        for cell in range(CELLS * CELLS):
            x = self.x[k][cell * DEPTH:(cell + 1) * DEPTH]
            for c in range(WIDTH):
                acc = self.b[c] + sum((v - zero) * w for v, w in zip(x, self.w[c]))
                codes.append(clamp(rescale(acc, m[c], s[c]) + out, lo, hi))
        return codes

    def sums(self, k, zero=-128):
        cells = [self.x[k][i * DEPTH:(i + 1) * DEPTH] for i in range(CELLS * CELLS)]
        return [self.b[c] + sum((v - zero) * w for v, w in zip(x, self.w[c])) for x in cells for c in range(WIDTH)]

    @staticmethod
    def z(y, stride=1):
        codes = []
        for i in range(CELLS):
            for j in range(CELLS):
                rows = [r for r in range(i * stride - 1, i * stride + 2) if 0 <= r < CELLS]
                columns = [q for q in range(j * stride - 1, j * stride + 2) if 0 <= q < CELLS]
                codes += [max([-128] + [y[(r * CELLS + q) * WIDTH + c] for r in rows for q in columns]) for c in range(WIDTH)]
        return codes

    def blame(self, y, z, first=False):
        """The report of a device: the two tensors of every sample; first: channels first, and no dimension for the batch."""
        for t in self.manifest["tensors"]:
            folder = os.path.join(self.device, f"s{t['sample']:05d}")
            os.makedirs(folder, exist_ok=True)
            if t["index"] > 0 and first:
                codes = (y, z)[t["index"] - 1][t["sample"]]
                write(os.path.join(folder, os.path.basename(t["file"])), [WIDTH, CELLS, CELLS], "|i1", [v for c in range(WIDTH) for v in codes[c::WIDTH]])
            elif t["index"] > 0:
                write(os.path.join(folder, os.path.basename(t["file"])), t["shape"], "|i1", (y, z)[t["index"] - 1][t["sample"]])
        return asking.blame(self.golden, self.device)

    def judge(self, tap, words, wanted, y, z=None, says=""):
        """wanted: the classes of the faults in order."""
        status, said = self.blame(y, z or [self.z(v) for v in y])
        found = [(f["class"], f["explained"]) for f in said["faults"]] if status == 1 else []
        tap.check(found == [(c, 1) for c in wanted] and all(says in f["detail"] for f in said["faults"]), words, said)


def of_all(net, **numbers):
    return [net.y(k, **numbers) for k in range(SAMPLES)]


def zero_points(tap, net):
    for zero in (-129, 128, -127, -141):
        net.judge(tap, f"a zero point of the input that 8 bits do not have, or do: {zero}", ["input.zero_point"], of_all(net, zero=zero))
    net.judge(tap, "a zero point of the output beyond 8 bits", ["rescale.zero_point"], of_all(net, out=3))


def top(m, bits, half):
    return min((m + (half << (30 - bits))) >> (31 - bits) << (31 - bits), (1 << 31) - 1)


def multipliers(tap, net):
    m = net.multiplier
    of = random.randrange(WIDTH)
    less = [int(v * 0.61) for v in m]
    real = [a * 2.0 ** (s - 31) for a, s in zip(m, net.shift)]
    mean = sum(real) / WIDTH
    shift = 0
    while mean * 2.0 ** (31 - shift) < 2 ** 30:
        shift -= 1
    while mean * 2.0 ** (31 - shift) >= 2 ** 31:
        shift += 1
    net.judge(tap, "multipliers of all channels less, shifts as they were", ["rescale.multiplier"], of_all(net, multiplier=less))
    net.judge(tap, f"the multiplier of channel {of} less", ["rescale.multiplier"], of_all(net, multiplier=m[:of] + [less[of]] + m[of + 1:]))
    net.judge(tap, "multipliers rounded to 7 bits", ["rescale.multiplier"], of_all(net, multiplier=[top(v, 7, 1) for v in m]))
    net.judge(tap, "multipliers of 7 bits", ["rescale.multiplier"], of_all(net, multiplier=[top(v, 7, 0) for v in m]))
    net.judge(tap, "one multiplier, the mean, for all channels", ["rescale.multiplier"],
              of_all(net, multiplier=[round(mean * 2.0 ** (31 - shift))] * WIDTH, shift=[shift] * WIDTH))


def samples(tap, net):
    """One sample is wrong, and which is said; the others are explained by nothing being wrong."""
    which = random.randrange(SAMPLES)
    right, words = of_all(net), f"in sample {which} alone"

    def only(codes):
        return [codes if k == which else v for k, v in enumerate(right)]
    net.judge(tap, "a stuck bit in one sample", ["stuck_bit"], only([v | 2 for v in right[which]]), says=words)
    net.judge(tap, "low bits in one sample", ["saturation.missing"],
              only([wrap(v, 8) for v in net.y(which, lo=-10 ** 6, hi=10 ** 6)]), says=words)
    both = only([v & ~4 for v in net.y(which, zero=-120)])
    net.judge(tap, "two causes in one sample", ["input.zero_point", "stuck_bit"], both, says=words)
    z = [net.z(v, 2 if k == which else 1) for k, v in enumerate(right)]
    net.judge(tap, "windows behind the image, in one sample", ["stride"], right, z, says=words)


def edges(tap, net):
    """A row that holds what the row before does, over another cause."""
    row = CELLS * WIDTH
    y = of_all(net, multiplier=[top(v, 6, 0) for v in net.multiplier])
    last = [v[:-row] + v[-2 * row:-row] for v in y]
    net.judge(tap, "the last row copied, over multipliers of 6 bits", ["rescale.multiplier", "tile.edge"], last)
    first = [[-3] * row + v[row:] for v in y]
    net.judge(tap, "the first row not written, over multipliers of 6 bits", ["rescale.multiplier", "tile.edge"], first)


def layouts(tap, net):
    right = of_all(net)
    z = [net.z(v) for v in right]
    status, said = net.blame(right, z, True)
    tap.check(status == 0 and said["verdict"] == "clean", "channels first, without a batch dimension", said)
    status, said = net.blame(right, [[v | 1 for v in codes] for codes in z], True)
    tap.check(status == 1 and [f["class"] for f in said["faults"]] == ["stuck_bit"], "so and a stuck bit", said)


def folder_of(net, k, *parts):
    folder = os.path.join(net.device, f"s{k:05d}", *parts)
    os.makedirs(folder, exist_ok=True)
    return folder


def put(net, k, index, codes, name="", *parts, descr="|i1"):
    """One dump of sample k; name: put before the extension."""
    t = next(t for t in net.manifest["tensors"] if t["index"] == index and t["sample"] == k)
    base = os.path.basename(t["file"])[:-len(".npy")]
    write(os.path.join(folder_of(net, k, *parts), base + name + ".npy"), t["shape"], descr, codes)


def ask(net):
    said = asking.blame(net.golden, net.device)
    shutil.rmtree(net.device)
    return said


def classes(said):
    return [f["class"] for f in said[1]["faults"]] if said[0] == 1 else []


def accumulators(tap, net):
    """Of y, in a folder of the sample's; alone, of one sample of several, and beside the codes."""
    which, zero, right = random.randrange(SAMPLES), random.randint(-127, -110), of_all(net)
    shutil.rmtree(net.device)
    for k in range(SAMPLES):
        put(net, k, 1, net.sums(k), "", "accumulators", descr="<i8")
    said = ask(net)
    tap.check(said[0] == 0 and said[1]["nodes"][0]["verdict"] == "clean", "accumulators in a sample's folder, right", said)
    for k in range(SAMPLES):
        put(net, k, 1, net.sums(k, zero), "", "accumulators", descr="<i8")
    said = ask(net)
    tap.check(classes(said) == ["input.zero_point"], f"accumulators in a sample's folder, of a zero point of {zero}", said)
    for k in range(SAMPLES):
        if k == which:
            put(net, k, 1, net.sums(k, zero), "", "accumulators", descr="<i8")
        else:
            put(net, k, 1, right[k])
    said = ask(net)
    tap.check(classes(said) == ["input.zero_point"], f"accumulators of sample {which}, codes of the others", said)
    for k in range(SAMPLES):
        put(net, k, 1, right[k])
        put(net, k, 1, net.sums(k), "", "accumulators", descr="<i8")
    said = ask(net)
    tap.check(said[0] == 0 and "numbers" not in said[1] and "not_read" not in said[1], "accumulators beside the codes, right", said)
    for k in range(SAMPLES):
        put(net, k, 1, right[k])
        put(net, k, 1, net.sums(k, zero) if k == which else net.sums(k), "", "accumulators", descr="<i8")
    said = ask(net)
    tap.check(said[0] == 0 and len(said[1]["numbers"]) == 1 and "accumulator of 'y'" in said[1]["numbers"][0]["name"],
              "accumulators beside right codes, wrong: said", said)


def unread(tap, net):
    """What is not read is said, each with the reason; a mask by any name of its tensor is read."""
    right = of_all(net)
    for k in range(SAMPLES):
        put(net, k, 1, right[k])
    put(net, 0, 2, net.z(right[0]), ".mask")
    file = os.path.basename(next(t for t in net.manifest["tensors"] if t["index"] == 1)["file"])[:-len(".npy")]
    for name in (f"{file}.bin", f"{file}.h"):
        with open(os.path.join(folder_of(net, 0), name), "wb") as f:
            f.write(b"0")
    shutil.copy(os.path.join(net.device, "s00000", file + ".npy"), net.device)
    os.symlink("nowhere", os.path.join(net.device, "z.npy"))
    said = ask(net)
    left = sorted(said[1].get("not_read", []))
    tap.check(said[0] == 0 and len(left) == 5 and all(any(n in v for v in left) for n in (".bin: another", ".h: C", ".mask.npy: the mask", "z.npy: not a file")) and
              sum(v.endswith("another file of the same tensor was read") for v in left) == 2, "what is not read is said", left)
    at = random.randrange(len(right[0]))
    for k in range(SAMPLES):
        put(net, k, 1, right[k])
    t = next(t for t in net.manifest["tensors"] if t["index"] == 1)
    put(net, 0, 1, [v ^ (i == at) for i, v in enumerate(right[0])])
    write(os.path.join(net.device, "s00000", "y.mask.npy"), t["shape"], "|i1", [i != at for i in range(len(right[0]))])
    said = ask(net)
    tap.check(said[0] == 0 and "not_read" not in said[1], "a mask by the tensor's name of a dump by the bundle's", said)


def numbered(tap, net):
    """Dumps named as another bundle of the network would: of other numbers and ops."""
    right = of_all(net)
    for op, wanted in (("conv", ["stuck_bit"]), ("global_avg_pool", ["stuck_bit"]), ("of", [])):
        for k in range(SAMPLES):
            put(net, k, 1, [v | 2 for v in right[k]])
            folder = folder_of(net, k)
            for file in os.listdir(folder):
                os.rename(os.path.join(folder, file), os.path.join(folder, f"0017_{op}_y.npy"))
            put(net, k, 2, net.z([v | 2 for v in right[k]]) if wanted else net.z(right[k]))
        said = ask(net)
        tap.check(classes(said) == wanted and (wanted or len(said[1]["not_compared"]) == SAMPLES), f"dumps named 0017_{op}_y", said)


def main():
    tap = Tap()
    print(f"# seed {planted.SEED}")
    random.seed(planted.SEED)
    with tempfile.TemporaryDirectory() as folder:
        net = Network(folder)
        status, said = net.blame(of_all(net), [net.z(v) for v in of_all(net)])
        tap.check(status == 0 and said["verdict"] == "clean", "as it should be", said)
        for part in (zero_points, multipliers, samples, edges, layouts, accumulators, unread, numbered):
            part(tap, net)
    tap.end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""assay blame on networks of one node whose cause is known: single.py ASSAY SOURCE   (TAP)

Every device is computed here, in Python's integers; its node as it should be is the golden's first."""
import os
import random
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import asking  # noqa: E402
import planted  # noqa: E402
from device import clamp, rescale, wrap, write  # noqa: E402
from tap import Tap  # noqa: E402

ASSAY = sys.argv[1]
BYTES, SHORTS = ("i8", "|i1", -128, 127), ("i16", "<i2", -32768, 32767)
ROWS, DEPTH, WIDTH = 12, 10, 6


class Single:
    """A golden bundle of one node, its input drawn, and a folder for devices."""

    def __init__(self, folder, name, scheme, kind, shape, out, node, constants=""):
        self.kind, self.out, self.net = kind, out, os.path.join(folder, name + ".assay")
        self.golden, self.device = os.path.join(folder, name), os.path.join(folder, name + "-device")
        self.x = [random.randint(max(kind[2], -3000), min(kind[3], 3000)) for _ in range(volume(shape))]
        x = os.path.join(folder, name + ".npy")
        write(x, shape, kind[1], self.x)
        with open(self.net, "w") as f:
            f.write(f"graph net {{\n input x: {kind[0]}{shape} {node[0]}\n{constants} y: {kind[0]}{out} {node[1]}\n output y\n}}\n")
        subprocess.run([ASSAY, "golden", self.net, "-s", scheme, "-i", x, "-q", "-o", self.golden], check=True, capture_output=True)

    def blame(self, codes, *options):
        """The report of a device whose output is these codes."""
        os.makedirs(self.device, exist_ok=True)
        last = sorted(f for f in os.listdir(os.path.join(self.golden, "tensors")) if f.endswith(".npy"))[-1]
        write(os.path.join(self.device, last), self.out, self.kind[1], codes)
        return asking.blame(self.golden, self.device, *options)


def volume(shape):
    n = 1
    for size in shape:
        n *= size
    return n


def half_away(a, b):
    return (a + b // 2) // b if a >= 0 else -((-a + b // 2) // b)


def within(v, kind):
    return clamp(v, kind[2], kind[3])


def judge(tap, single, right, devices):
    """right: the codes as they should be; devices: (codes, the class that is to be first, one that is to be named, in words)."""
    status, said = single.blame(right)
    tap.check(status == 0 and said["verdict"] == "clean", "as it should be", said)
    for codes, wanted, named, words in devices:
        status, said = single.blame(codes)
        faults = said["faults"] if status == 1 else []
        tap.check(len(faults) == 1 and faults[0]["class"] == wanted and named in faults[0]["classes"], words, faults or said)


# ---- pools ----

def windows(x):
    """Of 4 channels of 8 x 8 the windows of 2 x 2, 2 apart."""
    return [[x[(c * 8 + 2 * i + a) * 8 + 2 * j + b] for a in (0, 1) for b in (0, 1)] for c in range(4) for i in range(4) for j in range(4)]


def average(tap, folder):
    """A sum of codes as they are, the zero point in it, that is divided by fewer cells than it has."""
    s = Single(folder, "average", "tflite", BYTES, [1, 4, 8, 8], [1, 4, 4, 4], ("q(0.5,9)", "q(0.5,9) = avg_pool(x) {kernel=[2,2], stride=[2,2]}"))
    means = [[within(half_away(sum(w), d), BYTES) for w in windows(s.x)] for d in (4, 3, 2)]
    judge(tap, s, means[0], [(codes, "pool.divisor", "pool.divisor", f"a raw sum of 4 codes divided by {d}") for codes, d in zip(means[1:], (3, 2))])


def padded(tap, folder):
    """Windows of 3 x 3 that lie over the edge, divided by 9 whatever they hold: their sums are of codes, or of codes less the zero point."""
    node = ("q(0.5,9)", "q(0.5,9) = avg_pool(x) {kernel=[3,3], stride=[2,2], pad_begin=[1,1], pad_end=[1,1]}")
    s = Single(folder, "padded", "tflite", BYTES, [1, 4, 8, 8], [1, 4, 4, 4], node)
    w = [[s.x[(c * 8 + y) * 8 + x] for y in range(max(2 * i - 1, 0), 2 * i + 2) for x in range(max(2 * j - 1, 0), 2 * j + 2)]
         for c in range(4) for i in range(4) for j in range(4)]
    right, codes, reals = ([within(half_away(sum(k) + more * (9 - len(k)), by or len(k)), BYTES) for k in w] for more, by in ((0, 0), (0, 9), (9, 9)))
    judge(tap, s, right, [(reals, "pool.divisor", "pool.divisor", "cells of padding that count"),
                          (codes, "pool.divisor", "padding.value", "sums of codes divided by all cells of the window")])


def greatest(tap, folder):
    s = Single(folder, "greatest", "tflite", BYTES, [1, 4, 8, 8], [1, 4, 4, 4], ("q(0.5,9)", "q(0.5,9) = max_pool(x) {kernel=[2,2], stride=[2,2]}"))
    right = [max(w) for w in windows(s.x)]
    judge(tap, s, right, [([max(w, key=lambda v: v & 255) for w in windows(s.x)], "sign", "sign", "the greatest of signed codes compared as unsigned")])
    for cells, where in (((37,), "1 of 4 along axis 1 (2), 1 of 4 along axis 2 (1), 1 of 4 along axis 3 (1)"),
                         ((32, 47), "1 of 4 along axis 1 (2), 2 of 4 along axis 2 (0 to 3), 2 of 4 along axis 3 (0 to 3)")):
        said = s.blame([v ^ 0x55 if i in cells else v for i, v in enumerate(right)])[1]
        tap.check("they lie at " + where in said["faults"][0]["detail"], f"where {len(cells)} that nothing explains lie", said["faults"])


# ---- products ----

class Product:
    """y = x w + b in rows, rescaled by a function."""

    def __init__(self, rescale, kind, bias):
        self.w = [[random.randint(-100, 100) for _ in range(DEPTH)] for _ in range(WIDTH)]
        self.b = [random.choice((-1, 1)) * random.randint(bias // 2, bias) for _ in range(WIDTH)]
        self.rescale, self.kind = rescale, kind

    def constants(self, bias_type):
        flat = ",".join(str(v) for row in self.w for v in row)
        return f" const w: i8[{WIDTH},{DEPTH}] q(1,0) = [{flat}]\n const b: {bias_type}[{WIDTH}] q(1,0) = {self.b}\n"

    def codes(self, x, zero=0, bias=None, least=None):
        y = []
        for r in range(ROWS):
            for w, b in zip(self.w, bias or self.b):
                acc = b + sum((v - zero) * k for v, k in zip(x[r * DEPTH:(r + 1) * DEPTH], w))
                v = within(self.rescale(acc), self.kind)
                y.append(v if least is None else max(v, least))
        return y


def wide(tap, folder):
    """16-bit input and biases of 64 bits."""
    p = Product(lambda acc: (acc + 128) >> 8, SHORTS, 1 << 20)
    s = Single(folder, "wide", "tflite-int16x8", SHORTS, [ROWS, DEPTH], [ROWS, WIDTH], ("q(1,0)", "q(256,0) = fc(x, w, b)"), p.constants("i64"))
    b = p.b
    judge(tap, s, p.codes(s.x), [
        (p.codes(s.x, zero=37), "input.zero_point", "input.zero_point", "a zero point of 16 bits"),
        (p.codes(s.x, zero=-101), "input.zero_point", "input.zero_point", "a zero point of 16 bits, below 0"),
        (p.codes([v & 65535 for v in s.x]), "sign", "sign", "codes of 16 bits read as unsigned"),
        (p.codes(s.x, bias=[0] * WIDTH), "bias.missing", "bias.missing", "no bias of 64 bits"),
        (p.codes(s.x, bias=[0] * 2 + b[2:]), "bias.missing", "bias.missing", "biases of 64 bits that lack in 2 channels"),
        (p.codes(s.x, bias=b[1:] + b[:1]), "bias.channel", "bias.channel", "biases of 64 bits a channel late"),
    ])


def powers(tap, folder):
    """Scales that are powers of two: what is rescaled is the accumulator itself, and its width that of the accumulator."""
    p = Product(lambda acc: (acc + 128) >> 8, BYTES, 1 << 13)
    s = Single(folder, "powers", "pow2", BYTES, [ROWS, DEPTH], [ROWS, WIDTH], ("q(1,0)", "q(256,0) = fc(x, w, b)"), p.constants("i32"))
    right = p.codes(s.x)
    p.rescale = lambda acc: (wrap(acc, 14) + 128) >> 8
    judge(tap, s, right, [(p.codes(s.x), "accumulator.width", "accumulator.width", "an accumulator of 14 bits, without a multiplier")])


def bounds(tap, folder):
    """A lost activation, with which low bits that are kept say the same: first is what changes less."""
    p = Product(lambda acc: rescale(acc, 1 << 30, -9), BYTES, 1 << 10)
    s = Single(folder, "bounds", "tflite", BYTES, [ROWS, DEPTH], [ROWS, WIDTH], ("q(1,0)", "q(1024,0) = fc(x, w, b) act[0,inf]"), p.constants("i32"))
    judge(tap, s, p.codes(s.x, least=0), [(p.codes(s.x), "saturation.bounds", "saturation.missing", "bounds that are lost, before low bits that are kept")])
    causes(tap, s, [v | 2 for v in p.codes(s.x)])


def causes(tap, s, codes):
    """JUnit has every cause of a node."""
    file = os.path.join(s.device, "..", "causes.xml")
    status, said = s.blame(codes, "--junit", file)
    classes = sorted(f["class"] for f in said["faults"])
    words = [f.get("message") for f in xml.etree.ElementTree.parse(file).getroot().iter("failure")]
    tap.check(status == 1 and classes == ["saturation.bounds", "stuck_bit"] and len(words) == 1 and all(c + ": " in words[0] for c in classes),
              "JUnit: two causes in one node", said["faults"], words)


def main():
    tap = Tap()
    print(f"# seed {planted.SEED}")
    random.seed(planted.SEED)
    with tempfile.TemporaryDirectory() as folder:
        for part in (average, padded, greatest, wide, powers, bounds):
            part(tap, folder)
    tap.end()


if __name__ == "__main__":
    main()

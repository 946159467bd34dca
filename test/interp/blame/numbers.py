#!/usr/bin/env python3
"""assay blame where a device dumped constants or parameters that are not the bundle's: numbers.py ASSAY SOURCE   (TAP)

They are said whatever the verdict; constants that explain what was dumped are the cause. Devices are computed here."""
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
import asking  # noqa: E402
import planted  # noqa: E402
from device import rescale, write  # noqa: E402
from single import BYTES, DEPTH, ROWS, WIDTH, Product, Single  # noqa: E402
from tap import Tap  # noqa: E402

NODE = ("q(1,0)", "q(1024,0) = fc(x, w, b)")


def other_weights(p, n):
    """A product in which n weights are others."""
    q = copy.deepcopy(p)
    for at in random.sample(range(WIDTH * DEPTH), n):
        q.w[at // DEPTH][at % DEPTH] = -q.w[at // DEPTH][at % DEPTH] + random.choice((-17, 13))
    return q


class Device:
    """What is dumped beside the output: nothing yet."""

    def __init__(self, single):
        self.single, self.folder = single, single.device
        shutil.rmtree(self.folder, ignore_errors=True)

    def has(self, name, shape, descr, values):
        os.makedirs(os.path.dirname(os.path.join(self.folder, name)), exist_ok=True)
        write(os.path.join(self.folder, name), shape, descr, values)
        return self

    def weights(self, p):
        return self.has("constants/w.npy", [WIDTH, DEPTH], "|i1", sum(p.w, []))

    def bias(self, b):
        return self.has("constants/b.npy", [WIDTH], "<i4", b)


def said_of(said):
    return {n["name"]: n["difference"] for n in said.get("numbers", [])}


def constants(tap, p, s):
    right, other, b = p.codes(s.x), other_weights(p, 5), [random.choice((-1, 1)) * random.randint(20000, 40000) for _ in p.b]
    status, said = Device(s).weights(p).bias(p.b).single.blame(right)
    tap.check(status == 0 and "numbers" not in said, "constants as they should be", said)
    status, said = Device(s).weights(other).single.blame(right)
    tap.check(status == 0 and said_of(said).get("w (constant)", "").startswith("5 of 60 elements, first ["),
              "weights that are others are said, though nothing else differs", said)
    status, said = Device(s).weights(other).single.blame(other.codes(s.x))
    fault = (said["faults"] or [{}])[0]
    tap.check(status == 1 and fault.get("class") == "constant.dumped" and "'w'" in fault["detail"] and "'b'" not in fault["detail"] and
              fault["explained"] == 1, "and are the cause where they explain the rest", said)
    text = subprocess.run([asking.ASSAY, "blame", s.golden, s.device], capture_output=True, text=True).stdout
    tap.check("\nthe device's w (constant) differs: 5 of 60 elements, first [" in text, "in words", text)
    status, said = Device(s).weights(other).bias(b).single.blame(other.codes(s.x, bias=b))
    fault = (said["faults"] or [{}])[0]
    tap.check(status == 1 and fault.get("class") == "constant.dumped" and "'w', 'b'" in fault["detail"] and
              set(said_of(said)) == {"w (constant)", "b (constant)"}, "weights and biases", said)
    status, said = Device(s).weights(other).bias(b).single.blame(p.codes(s.x, bias=b))
    fault = (said["faults"] or [{}])[0]
    tap.check(fault.get("class") == "constant.dumped" and "'b'" in fault["detail"] and "'w'" not in fault["detail"], "one of two that is the cause", said)
    status, said = Device(s).weights(other).single.blame(p.codes(s.x, bias=[0] * WIDTH))
    tap.check(status == 1 and said["faults"][0]["class"] == "bias.missing" and "constant.dumped" not in said["faults"][0]["classes"] and
              "w (constant)" in said_of(said), "another cause stays that, and the weights are said", said)
    status, said = Device(s).has("constants/w.npy", [DEPTH, WIDTH], "|i1", sum(p.w, [])).single.blame(right)
    tap.check(status == 0 and said_of(said).get("w (constant)") == "the shapes differ; equal in another shape", "weights of another shape", said)


def parameters(tap, p, s):
    device = Device(s).has("parameters/y.multiplier.npy", [1], "<i4", [(1 << 30) + 1])
    status, said = device.single.blame(p.codes(s.x))
    tap.check(status == 0 and said_of(said) == {"y (multiplier)": f"1 of 1 elements, first [0]  {1 << 30} != {(1 << 30) + 1}"},
              "a multiplier that is another", said)


def bundles(tap, p, s, folder):
    other = other_weights(p, 7)
    net, to, page = (os.path.join(folder, n) for n in ("other.assay", "other", "page.html"))
    with open(s.net, encoding="utf-8") as f:
        text = f.read()
    with open(net, "w", encoding="utf-8") as f:
        f.write(text.replace(p.constants("i32"), other.constants("i32")))
    subprocess.run([asking.ASSAY, "golden", net, "-s", "tflite", "-i", s.net.replace(".assay", ".npy"), "-q", "-o", to], check=True, capture_output=True)
    status, said = asking.blame(s.golden, to, "--html", page)
    fault = (said["faults"] or [{}])[0]
    tap.check(status == 1 and fault.get("class") == "constant.dumped" and said_of(said)["w (constant)"].startswith("7 of 60 elements"),
              "a bundle of other weights", said)
    with open(page, encoding="utf-8") as f:
        text = f.read()
    tap.check("w (constant) differs: 7 of 60 elements" in text, "on the page", text[:600])


def main():
    tap = Tap()
    print(f"# seed {planted.SEED}")
    random.seed(planted.SEED)
    with tempfile.TemporaryDirectory() as folder:
        p = Product(lambda acc: rescale(acc, 1 << 30, -9), BYTES, 1 << 10)
        s = Single(folder, "numbers", "tflite", BYTES, [ROWS, DEPTH], [ROWS, WIDTH], NODE, p.constants("i32"))
        constants(tap, p, s)
        parameters(tap, p, s)
        bundles(tap, p, s, folder)
    tap.end()


if __name__ == "__main__":
    main()

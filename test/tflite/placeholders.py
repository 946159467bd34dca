#!/usr/bin/python3
"""placeholders.py ASSAY: TFLite models of which a made tensor's declared shape is a placeholder run as those that say it.

Shapes are changed in the file's bytes: extents are drawn so that no other vector of it looks alike.
"""
import glob
import os
import struct
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../cli"))
from command import assay  # noqa: E402
from support import TAP, check, read, write  # noqa: E402

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RNG = np.random.default_rng(SEED)


def numbers(*shape):
    return "[" + ",".join(f"{v:.6g}" for v in RNG.standard_normal(shape).ravel()) + "]"


def vector(*shape):
    return struct.pack(f"<{len(shape) + 1}i", len(shape), *shape)


def ran(name):
    for f in glob.glob("out/*"):
        os.remove(f)
    status, text = assay("run", name, "-i", "x.npy", "-o", "out")
    return status, text, np.load(glob.glob("out/*")[0]) if status == 0 else None


def main():
    print(f"# ASSAY_SEED={SEED}")
    rows, wide, middle, out = 3, *(int(n) for n in RNG.choice(np.arange(5, 60), 3, replace=False))
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        write("f.assay", (f"graph g {{\n input x: f32[{rows},{wide}]\n const w: f32[{middle},{wide}] = {numbers(middle, wide)}\n"
                          f" const v: f32[{out},{middle}] = {numbers(out, middle)}\n h: f32[{rows},{middle}] = fc(x, w)\n"
                          f" t: f32[{rows},{middle}] = tanh(h)\n y: f32[{rows},{out}] = fc(t, v)\n output y\n}}\n").encode())
        np.save("x.npy", RNG.standard_normal((rows, wide)).astype(np.float32))
        check(assay("convert", "f.assay", "-o", "good.tflite")[0] == 0, "a model")
        model, wanted = read("good.tflite"), ran("good.tflite")[2]
        for what, shape, other in (("the middle is one element", (rows, middle), (1, 1)), ("the middle is empty", (rows, middle), (0, middle)),
                                   ("the output is one element", (rows, out), (1, 1))):
            check(model.count(vector(*shape)) > 0, f"{what}: it is there")
            write("bad.tflite", model.replace(vector(*shape), vector(*other)))
            status, text, found = ran("bad.tflite")
            check(status == 0 and np.array_equal(found, wanted), what, text)
        write("bad.tflite", model.replace(vector(rows, wide), vector(1, 1)))
        status, text = assay("inspect", "bad.tflite")
        check(status == 2 and "operator 0" in text, "an input is what it says, and the first fault is named", text)
        write("bad.tflite", model.replace(vector(rows, middle), vector(rows, middle + 1)))
        status, text = assay("inspect", "bad.tflite")
        check(status == 2, "a shape that is another, not a placeholder", text)
        os.chdir("/")
    TAP.end()


main()

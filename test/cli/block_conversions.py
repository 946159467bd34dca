#!/usr/bin/python3
"""block_conversions.py ASSAY: quantize and dequantize with parameters per block, element by element against NumPy.

Ranks, axes, extents that blocks do not divide, rows longer than a kernel carries at a time, codes of 3 to 8
bits are drawn. In float32: (code - zero point) * scale, and round(x / scale) to even + zero point, kept.
"""
import os
import tempfile

import numpy as np

from command import assay
from support import TAP, check, write

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RNG = np.random.default_rng(SEED)


def drawn_shape(case):
    """(shape, axis, block): each fourth case has many blocks behind each other, or much behind the axis."""
    rank = int(RNG.integers(1, 5))
    shape = [int(n) for n in RNG.integers(1, 12, rank)]
    axis = int(RNG.integers(rank)) if case % 4 else (rank - 1, 0)[case // 4 % 2]
    if case % 4 == 0:
        shape[-1] = int(RNG.integers(500, 900))
    return shape, axis, int(RNG.integers(1, shape[axis] + 3))


def listed(values):
    return "[" + ",".join(f"{v:.9g}" for v in values.ravel()) + "]"


def one_case(case):
    shape, axis, block = drawn_shape(case)
    bits, signed = int(RNG.integers(3, 9)), bool(RNG.integers(2))
    least = -(1 << bits - 1) if signed else 0
    greatest = least + (1 << bits) - 1
    blocks = list(shape)
    blocks[axis] = -(-shape[axis] // block)
    scale = (RNG.random(blocks) + 0.01).astype(np.float32)
    zero = RNG.integers(least, greatest + 1, blocks)
    each = np.arange(shape[axis]) // block
    s, z = np.take(scale, each, axis), np.take(zero, each, axis)
    dims, kind = ",".join(map(str, shape)), f"{'i' if signed else 'u'}{bits}"
    coded = f"{kind}[{dims}] q(axis={axis},block={block},{listed(scale)},{listed(zero)})"
    write("d.assay", f"graph d {{\n input q: {coded}\n x: f32[{dims}] = dequantize(q)\n output x\n}}\n".encode())
    write("q.assay", f"graph q {{\n input x: f32[{dims}]\n q: {coded} = quantize(x)\n output q\n}}\n".encode())
    code = RNG.integers(least, greatest + 1, shape)
    x = (RNG.normal(size=shape) * (1 << bits - 1)).astype(np.float32)
    x.flat[0] = 1e30
    np.save("code.npy", code.astype(np.int8 if signed else np.uint8))
    np.save("real.npy", x)
    with np.errstate(over="ignore"):
        wanted = {"d": (code - z).astype(np.float32) * s,
                  "q": np.clip(np.rint(x / s).astype(np.float64) + z, least, greatest)}
    for name, given in (("d", "code.npy"), ("q", "real.npy")):
        for scheme in ("onnxruntime", "tflite") if name == "d" else ("onnxruntime",):
            status, text = assay("run", name + ".assay", "-s", scheme, "--as-is", "-i", given, "-o", "out")
            found = np.load("out/" + os.listdir("out")[0]) if status == 0 else None
            check(status == 0 and np.array_equal(found, wanted[name]),
                  f"{name} {scheme}: {kind}{shape} axis {axis} block {block}", status, text, found, wanted[name])
            for f in os.listdir("out") if os.path.isdir("out") else ():
                os.remove("out/" + f)


def main():
    print(f"# ASSAY_SEED={SEED}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for case in range(24):
            one_case(case)
        os.chdir("/")
    TAP.end()


main()

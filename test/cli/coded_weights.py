#!/usr/bin/python3
"""coded_weights.py ASSAY: networks that compute in floats and hold their weights as codes in blocks.

They are profiled, quantized and evaluated as the network whose weights are those numbers, bit for bit.
"""
import os
import tempfile

import numpy as np

from command import assay
from support import TAP, check, read, write

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RNG = np.random.default_rng(SEED)
WIDE, BLOCK = 32, 8


def network(path, coded):
    """fc, relu, fc on weights of u4 codes, or on the numbers that they stand for."""
    rng = np.random.default_rng(SEED)
    lines = []
    for k, out in (("a", 12), ("b", 5)):
        width = WIDE if k == "a" else 12
        along = -(-width // BLOCK)
        codes = rng.integers(0, 16, (out, width))
        scale = (2.0 ** rng.integers(-5, -1, (out, along))).astype(np.float32)
        zero = rng.integers(6, 10, (out, along))
        each = np.repeat(np.arange(along), BLOCK)[:width]
        real = (codes - zero[:, each]) * scale[:, each]
        numbers = [",".join(f"{x:.9g}" for x in v.ravel()) for v in (scale, zero, codes, real)]
        if coded:
            lines.append(f" const {k}: u4[{out},{width}] q(axis=1,block={BLOCK},[{numbers[0]}],[{numbers[1]}]) = [{numbers[2]}]\n"
                         f" {k}_real: f32[{out},{width}] = dequantize({k})\n")
        else:
            lines.append(f" const {k}_real: f32[{out},{width}] = [{numbers[3]}]\n")
    write(path, (f"graph g {{\n input x: f32[1,{WIDE}]\n{lines[0]} h: f32[1,12] = fc(x, a_real)\n r: f32[1,12] = relu(h)\n"
                 f"{lines[1]} y: f32[1,5] = fc(r, b_real)\n output y\n}}\n").encode())


def main():
    print(f"# ASSAY_SEED={SEED}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        np.save("x.npy", RNG.normal(size=(16, 1, WIDE)).astype(np.float32))
        np.save("one.npy", RNG.normal(size=(1, WIDE)).astype(np.float32))
        for name in ("coded", "real"):
            network(f"{name}.assay", name == "coded")
            for args in (("profile", f"{name}.assay", "-d", "x.npy", "-q", "-o", f"{name}.yaml"),
                         ("quantize", f"{name}.assay", "-p", f"{name}.yaml", "-s", "tflite", "--strict", "-o", f"{name}-q.assay"),
                         ("golden", f"{name}.assay", "-p", f"{name}.yaml", "-s", "tflite", "-i", "one.npy", "-q", "-o", f"{name}-golden"),
                         ("eval", f"{name}.assay", "-p", f"{name}.yaml", "-s", "tflite", "-d", "x.npy", "-q")):
                status, text = assay(*args)
                check(status == 0, f"{args[0]} of {name} weights", text)
        check(read("coded-q.assay") == read("real-q.assay"), "codes are quantized as their numbers are")
        status, text = assay("diff", "coded-golden", "real-golden")
        check(status == 0, "golden bundles of both are the same", text)
        status, text = assay("profile", "coded-q.assay", "-d", "x.npy", "-o", "no.yaml")
        check(status == 2 and "quantized already" in text, "what computes on codes is refused", text)
        os.chdir("/")
    TAP.end()


main()

#!/usr/bin/python3
"""wide_functions.py ASSAY: functions of 16-bit codes, which are 513 points and lines between, where a range ends or is 0 alone.

An operand that was never anything but 0; e^x whose table reaches beyond float32; roots, whose point nearest
to 0 lies half a step before it. Beside float, of what the output's codes span.
"""
import os
import tempfile

import numpy as np

from command import assay
from support import TAP, check, write

SEED = int(os.environ.get("ASSAY_SEED", "0")) or int.from_bytes(os.urandom(4), "little")
RNG = np.random.default_rng(SEED)
OF_ZERO = ["exp", "sqrt", "gelu", "softplus", "elu", "square", "hard_swish", "sigmoid", "tanh", "erf", "sin", "cos", "abs"]


def outputs(op, x, *args):
    write("f.assay", f"graph f {{\n input x: f32[1,{x.size}]\n y: f32[1,{x.size}] = {op}(x)\n output y\n}}\n".encode())
    np.save("x.npy", x.reshape(1, -1))
    np.save("d.npy", x.reshape(1, 1, -1))
    for command in (("profile", "f.assay", "-d", "d.npy", "-q", "-o", "p.yaml"), ("run", "f.assay", "-i", "x.npy", "-o", "real"),
                    ("run", "f.assay", "-p", "p.yaml", "-s", "tflite-int16x8", "-i", "x.npy", "-o", "coded")):
        status, text = assay(*command)
        if status != 0:
            return text, None
    real, coded = (np.load(f"{d}/" + os.listdir(d)[0]).ravel().astype(np.float64) for d in ("real", "coded"))
    return real, coded


def near(what, op, x, share, judged=slice(None)):
    real, coded = outputs(op, x)
    good = coded is not None and np.abs(real - coded)[judged].max() <= share * (np.abs(real).max() or 1)
    check(good, f"{op}: {what}", real, coded)


def main():
    print(f"# ASSAY_SEED={SEED}")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for op in OF_ZERO:
            near("0 alone", op, np.zeros(4, np.float32), 0.01)
        top = np.float32(RNG.uniform(0.5, 8))
        x = np.sort(np.concatenate([[0, top], RNG.uniform(0.05 * top, top, 30)])).astype(np.float32)
        near(f"from 0 to {top:.3g}", "sqrt", x, 0.02)
        low = -np.float32(RNG.uniform(100, 300))
        x = np.concatenate([[0, low], RNG.uniform(low, 0.5 * low, 14)]).astype(np.float32)
        near(f"from {low:.4g} to 0, away from 0", "exp", x, 0.01, slice(1, None))
        real, coded = outputs("exp", x)
        check(coded is not None and coded.min() >= 0 and coded[0] > 0.5, f"exp: from {low:.4g}, at 0", real, coded)
        os.chdir("/")
    TAP.end()


main()

#!/usr/bin/python3
"""Weights in llama.cpp's blocks beside a second implementation in NumPy, of the public description of the formats
and of the rules in schemes/mac/weights.h: codes and scales, the numbers that they stand for, and that a network
computes with these what it computes with the numbers as constants; and products of 8-bit integers under float scales.

    weights_model.py ASSAY        TAP
"""
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy as np

from bundle_arrays import Bundle

f32, f16 = np.float32, np.float16
FORMATS = ("q4_0", "q8_0", "q4_K", "q6_K")
ROWS, K = 12, 512


def drawn(rng):
    """Rows of many kinds: wide and narrow, of one sign, of few values, of zeros, of numbers below f16's."""
    w = rng.normal(size=(ROWS, K)).astype(f32)
    w[1] = np.abs(w[1]) * f32(3)
    w[2] = -np.abs(w[2])
    w[3] *= np.exp2(rng.integers(-12, 4, K)).astype(f32)
    w[4] = 0
    w[5] = np.where(rng.random(K) < 0.97, 0, w[5])
    w[6] *= f32(2.0 ** -30)
    w[7] = rng.integers(-8, 8, K).astype(f32)
    w[8] *= f32(2.0 ** -140)
    w[9] = f32(0.7)
    w[10] *= f32(900)
    w[11, ::32] = f32(-2.5)
    return w


def over(x, y):
    with np.errstate(all="ignore"):
        return np.where(y == 0, f32(0), x / np.where(y == 0, f32(1), y)).astype(f32)


def farthest(x):
    at = np.argmax(np.abs(x), axis=-1, keepdims=True)  # the first of equals
    return np.take_along_axis(x, at, -1)


def code(x, lo, hi):
    return np.clip(np.nan_to_num(x, nan=0), lo, hi).astype(np.int64)


def half_away(x):
    return np.sign(x) * np.floor(np.abs(x.astype(np.float64)) + 0.5)


@np.errstate(all="ignore")
def chosen(name, w):
    """The pieces of a weight by their names, in the shape [rows, blocks, parts, elements]."""
    if name == "q4_0":
        x = w.reshape(ROWS, -1, 1, 32)
        t = farthest(x) / f32(-8)
        return {"codes": code(np.trunc(x * over(f32(1), t) + f32(8.5)), 0, 15), "d": t.astype(f16)}
    if name == "q8_0":
        x = w.reshape(ROWS, -1, 1, 32)
        t = np.abs(farthest(x)) / f32(127)
        return {"codes": code(half_away(x * over(f32(1), t)), -128, 127), "d": t.astype(f16)}
    if name == "q4_K":
        x = w.reshape(ROWS, -1, 8, 32)
        lo = np.minimum(x.min(-1, keepdims=True), f32(0))
        t, u = (np.maximum(x.max(-1, keepdims=True), f32(0)) - lo) / f32(15), -lo
        d, least = ((v.max(-2, keepdims=True) / f32(63)).astype(f16) for v in (t, u))
        s, m = code(np.rint(over(t, d.astype(f32))), 0, 63), code(np.rint(over(u, least.astype(f32))), 0, 63)
        q = over(x + least.astype(f32) * m.astype(f32), d.astype(f32) * s.astype(f32))
        return {"codes": code(np.rint(q), 0, 15), "d": d, "scales": s, "d_min": least, "mins": m}
    x = w.reshape(ROWS, -1, 16, 16)
    t = farthest(x) / f32(-32)
    d = (farthest(t.reshape(ROWS, -1, 1, 16)) / f32(-128)).astype(f16)
    s = code(np.rint(over(t, d.astype(f32))), -128, 127)
    return {"codes": code(np.rint(over(x, d.astype(f32) * s.astype(f32))), -32, 31) + 32, "d": d, "scales": s}


def numbers(name, p):
    """What ggml's blocks stand for, in binary64, which holds every term; rounded to binary32 at the end."""
    q, d = p["codes"].astype(np.float64), p["d"].astype(np.float64)
    if name == "q4_0":
        w = d * (q - 8)
    elif name == "q8_0":
        w = d * q
    elif name == "q4_K":
        w = d * p["scales"] * q - p["d_min"].astype(np.float64) * p["mins"]
    else:
        w = d * p["scales"] * (q - 32)
    return w.astype(f32).reshape(ROWS, K)


def network(path, weights):
    with open(path, "w") as f:
        f.write(f"graph g {{\n  input x: f32[3,{K}]\n  {weights}\n  y: f32[3,{ROWS}] = fc(x, w)\n  output y\n}}\n")


def constant(w):
    return f"const w: f32[{ROWS},{K}] = [" + ",".join("%.9g" % v for v in w.ravel()) + "]"


TAP = []


def check(ok, what):
    TAP.append(ok)
    print(("ok" if ok else "not ok"), len(TAP), "-", what)


def assay(*words):
    subprocess.run([ASSAY, *words], check=True, stdout=subprocess.DEVNULL)


def tensor(folder, name):
    return np.load(os.path.join(folder, Bundle(folder).entry[name]["file"]))


def one(name, w, schemes):
    assay("quantize", "net.assay", "--weights", name, "-o", name + ".assay")
    want = chosen(name, w)
    for scheme, words in schemes.items():
        folder = f"{name}-{scheme}"
        assay("golden", name + ".assay", "-i", "x.npy", "-q", "-o", folder, *words)
        got = {piece: tensor(folder, "w:" + piece) for piece in want}
        pieces = all(np.array_equal(got[p].view(f16) if p in ("d", "d_min") else got[p], want[p]) for p in want)
        check(pieces, f"{name}, {scheme}: codes and scales")
        w_then = tensor(folder, "w")
        check(np.array_equal(w_then.view(np.uint32) << 1, numbers(name, want).view(np.uint32) << 1), f"{name}, {scheme}: the weights")
        # The float engine adds products of constant weights in deeper blocks than others (interp/float/gemm.c): there they are an input.
        network("plain.assay", f"input w: f32[{ROWS},{K}]" if scheme == "float" else constant(w_then))
        np.save("w.npy", w_then)
        given = ("-i", "x.npy") + (("-i", "w.npy") if scheme == "float" else ())
        assay("golden", "plain.assay", *given, "-q", "-o", folder + "-plain", *words)
        check(np.array_equal(tensor(folder, "y"), tensor(folder + "-plain", "y")), f"{name}, {scheme}: the results")


def exact_to_f32(x):
    """A rational, rounded once to binary32, half to even; within its normal numbers, or 0."""
    if x == 0:
        return f32(0)
    top = x.numerator.bit_length() - x.denominator.bit_length()
    top -= Fraction(2) ** top > abs(x)
    unit = Fraction(2) ** (top - 23)
    return f32(float(round(x / unit) * unit))  # round: half to even


def blocks_of_32(x):
    """Scales and codes of rows in blocks of 32: amax / (127 / 64), and round(x / scale * 64) within 127."""
    blocks = x.reshape(len(x), -1, 32)
    scale = np.abs(blocks).max(-1, keepdims=True) / f32(127 / 64)
    scale[scale == 0] = 1
    codes = np.clip(np.rint((blocks / scale).astype(np.float64) * 64), -127, 127).astype(np.int64)
    return scale[..., 0], codes


def integers():
    """Exact sums of 32 products of 8-bit integers, under float scales, added in binary32 in order: y = fma(scale, sum, y)."""
    rng = np.random.default_rng(3)
    w, x = rng.normal(size=(5, 100)).astype(f32), (rng.normal(size=(7, 100)) * np.exp2(rng.integers(-9, 9, 100))).astype(f32)
    w[2, 32:64] = 0
    np.save("x8.npy", x)
    with open("int8.assay", "w") as f:
        f.write("graph g {\n  input x: f32[7,100]\n  const w: f32[5,100] = [" + ",".join("%.9g" % v for v in w.ravel()))
        f.write("]\n  y: f32[7,5] = fc(x, w)\n  output y\n}\n")
    with open("int8.yaml", "w") as f:
        f.write("scheme: w8a8\nmac:\n  units: [{unit: i8, mac: {a: int8mx, b: int8mx, acc: f32, out: f32, group: 32, nan: 0x7fc00000}}]\n"
                "  activation_scales: 1x32\n  weight_scales: 1x32\n")
    assay("golden", "int8.assay", "-s", "./int8.yaml", "-i", "x8.npy", "-q", "--engine", "both", "-o", "int8")
    pad = [np.pad(v, ((0, 0), (0, 28))) for v in (x, w)]
    (sx, qx), (sw, qw) = (blocks_of_32(v) for v in pad)
    for name, scale, codes, n in (("x", sx, qx, 100), ("w", sw, qw, 100)):
        check(np.array_equal(tensor("int8", name + ":scale"), scale), f"int8mx: scales of {name}")
        check(np.array_equal(tensor("int8", name + ":int8mx"), codes.reshape(len(codes), -1)[:, :n].astype(np.uint8)), f"int8mx: codes of {name}")
    want = np.zeros((7, 5), f32)
    for i in range(7):
        for j in range(5):
            y = f32(0)
            for b in range(4):
                dot = Fraction(int((qx[i, b] * qw[j, b]).sum()), 4096)
                y = exact_to_f32(Fraction(float(sx[i, b] * sw[j, b])) * dot + Fraction(float(y)))
            want[i, j] = y
    check(np.array_equal(tensor("int8", "y"), want), "int8mx: the results")


def main():
    integers()
    rng = np.random.default_rng(20)
    w = drawn(rng)
    network("net.assay", constant(w))
    np.save("x.npy", rng.normal(size=(3, K)).astype(f32))
    with open("f32.yaml", "w") as f:
        f.write("{scheme: chain, mac: {units: [f32-fma]}}\n")
    schemes = {"float": (), "hopper-fp8": ("-s", "hopper-fp8"), "f32-fma": ("-s", "./f32.yaml")}
    for name in FORMATS:
        one(name, w, schemes)
    w[3, 40] = f32(3e38)
    network("far.assay", constant(w))
    for name in FORMATS:
        done = subprocess.run([ASSAY, "quantize", "far.assay", "--weights", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        check(done.returncode == 2 and "too large for the scales of " + name in done.stderr and done.stderr.count("\n") == 1, f"{name}: beyond f16")
    print(f"1..{len(TAP)}")


ASSAY = os.path.realpath(sys.argv[1])
with tempfile.TemporaryDirectory() as here:
    os.chdir(here)
    main()
    os.chdir("/")
sys.exit(not all(TAP))

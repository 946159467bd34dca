#!/usr/bin/python3
"""What TFLite Micro does not have, and so no peer shows: legacy uint8 element by element, and tables of
functions, against TFLite's formulas written in NumPy. Every code of an operand is met. The formulas are
those of TFLite (schemes/SOURCES.md); no code is shared with the library. Prints TAP.

    tflite_beyond.py ASSAY
"""
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "twin"))
from bundle_arrays import half_away
from numpy_presets import mbqm_double, mbqm_single, quantize_multiplier

f32 = np.float32
RNG = np.random.default_rng(20261121)
RANGE = {"u8": (0, 255), "i8": (-128, 127), "i16": (-32768, 32767)}
DTYPE = {"u8": np.uint8, "i8": np.int8, "i16": np.int16}


class Type:
    """A quantized type; i16 is symmetric."""

    def __init__(self, kind, scale=None, zero=None):
        self.kind = kind
        self.lo, self.hi = RANGE[kind]
        small = kind == "i16"
        self.s = f32(scale if scale else RNG.uniform(0.01, 0.1) / (100 if small else 1))
        self.z = 0 if small else int(RNG.integers(self.lo, self.hi + 1)) if zero is None else zero

    def text(self, n):
        return f"{self.kind}[{n}] q({float(self.s)!r},{self.z})"

    def clamp(self, v, lo=None, hi=None):
        return min(max(v, self.lo if lo is None else lo), self.hi if hi is None else hi)


def qm(x):
    return quantize_multiplier(float(x))


# ---- one code of the result from codes of the operands ----
def add(m, a, b, x, w, y):
    t = 2 * max(float(x.s), float(w.s))
    shift = 15 if x.kind == "i16" else 20
    p = m((a - x.z) << shift, *qm(float(x.s) / t))
    q = m((b - w.z) << shift, *qm(float(w.s) / t))
    return y.clamp(m(p + q, *qm(t / ((1 << shift) * float(y.s)))) + y.z)


def mul(m, a, b, x, w, y):
    return y.clamp(m((a - x.z) * (b - w.z), *qm(float(x.s) * float(w.s) / float(y.s))) + y.z)


def squared_difference(m, a, b, x, w, y):
    t = 2 * max(float(x.s), float(w.s))
    p = m((a - x.z) << 7, *qm(float(x.s) / t))
    q = m((b - w.z) << 7, *qm(float(w.s) / t))
    return y.clamp(m((p - q) ** 2, *qm(t * t / ((1 << 14) * float(y.s)))) + y.z)


def prelu(m, a, b, x, w, y):
    v = a - x.z
    if v >= 0:
        return y.clamp(m(v, *qm(float(x.s) / float(y.s))) + y.z)
    return y.clamp(m(v * (b - w.z), *qm(float(x.s) * float(w.s) / float(y.s))) + y.z)


def compare(f):
    def code(m, a, b, x, w, y):
        return f(m((a - x.z) << 8, *qm(x.s)), m((b - w.z) << 8, *qm(w.s)))

    return code


def relu(m, a, x, y):
    return y.clamp(m(a - x.z, *qm(f32(x.s) / f32(y.s))) + y.z, max(y.lo, y.z))


def leaky_relu(alpha):
    def code(m, a, x, y):
        v = a - x.z
        r = f32(x.s / y.s) if v >= 0 else f32(f32(x.s * f32(alpha)) / y.s)
        return y.clamp(m(v, *qm(r)) + y.z)

    return code


def bounded(lo, hi):
    """RELU6 and its like, between equal parameters."""

    def code(m, a, x, y):
        return y.clamp(a, max(y.lo, half_away(float(f32(lo) / y.s)) + y.z), min(y.hi, half_away(float(f32(hi) / y.s)) + y.z))

    return code


def rescale(m, a, x, y):
    return y.clamp(m(a - x.z, *qm(float(x.s) / float(y.s))) + y.z)


def table(f):
    """LUTPopulate: every code through the function in float32."""

    def code(m, a, x, y):
        t = f(f32(x.s * f32(a - x.z)))
        v = float(f32(f32(t) * (f32(1) / y.s)))
        code.tie = abs(abs(v - math.floor(v)) - 0.5) < 1e-3
        return y.clamp(half_away(v) + y.z)

    return code


def gelu(x):
    return float(x) * 0.5 * (1 + math.erf(float(x) / math.sqrt(2)))


BINARY = [("add", add, None), ("mul", mul, None), ("squared_difference", squared_difference, None), ("prelu", prelu, None)]
COMPARE = [("less", lambda p, q: p < q), ("greater_equal", lambda p, q: p >= q), ("equal", lambda p, q: p == q)]
UNARY = [("relu", "relu(x)", relu), ("leaky", "leaky_relu(x) {alpha=0.25}", leaky_relu(0.25)), ("rescale", "rescale(x)", rescale)]
TABLES = [
    ("exp", "exp(x)", table(lambda v: math.exp(float(v)))),
    ("gelu", "gelu(x)", table(gelu)),
    ("elu", "elu(x) {alpha=1}", table(lambda v: float(v) if v >= 0 else math.expm1(float(v)))),
]
POSITIVE = [("log", "log(x)", table(lambda v: math.log(float(v)) if v > 0 else -1e9)), ("sqrt", "sqrt(x)", table(lambda v: np.sqrt(v)))]


def run(assay, scheme, types, lines, inputs):
    """Outputs by name of a graph in the text form."""
    with tempfile.TemporaryDirectory() as d:
        with open(f"{d}/net.assay", "w") as f:
            f.write("graph net {\n" + "".join(f"input {n}: {t}\n" for n, t in types) + "\n".join(lines))
            f.write("\noutput " + ", ".join(l.split(":")[0] for l in lines) + "\n}\n")
        args = []
        for name, data in inputs.items():
            np.save(f"{d}/{name}.npy", data)
            args += ["-i", f"{name}={d}/{name}.npy"]
        done = subprocess.run([assay, "run", f"{d}/net.assay", "-s", scheme, "-o", f"{d}/out"] + args, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return {f[12:-4]: np.load(f"{d}/out/{f}") for f in sorted(os.listdir(f"{d}/out"))}


def differing(name, got, want, loose=None):
    bad = [i for i in range(len(want)) if int(got[i]) != int(want[i]) and not (loose and loose[i] and abs(int(got[i]) - int(want[i])) <= 1)]
    for i in bad[:3]:
        print(f"# {name}[{i}]: {got[i]}, expected {want[i]}")
    return len(bad)


def check(assay, scheme, m, kind):
    x, w = Type(kind), Type(kind)
    same = Type(kind, float(x.s), x.z)
    n = 2048
    a = np.concatenate([np.arange(x.lo, min(x.hi, x.lo + 255) + 1), RNG.integers(x.lo, x.hi + 1, n - 256)])
    b = RNG.integers(w.lo, w.hi + 1, n)
    a[-2:] = [x.lo, x.hi]
    lines, want, loose = [], {}, {}
    for name, f, _ in BINARY:
        if kind == "i16" and name in ("prelu", "squared_difference"):
            continue
        y = Type(kind)
        lines.append(f"{name}: {y.text(n)} = {name}(x, w)")
        want[name] = [f(m, int(p), int(q), x, w, y) for p, q in zip(a, b)]
    for name, f in COMPARE:
        lines.append(f"{name}: bool[{n}] = {name}(x, w)")
        want[name] = [compare(f)(m, int(p), int(q), x, w, None) for p, q in zip(a, b)]
    for name, text, f in UNARY + (TABLES if kind != "i16" else []):
        y = Type(kind)
        lines.append(f"{name}: {y.text(n)} = {text}")
        want[name], loose[name] = [], []
        for p in a:
            want[name].append(f(m, int(p), x, y))
            loose[name].append(getattr(f, "tie", False))
    for name, lo, hi in (("six", 0, 6), ("around", -1, 1), ("one", 0, 1)):
        lines.append(f"{name}: {same.text(n)} = clip(x) {{lo={lo}, hi={hi}}}")
        want[name] = [bounded(lo, hi)(m, int(p), x, same) for p in a]
    types = [("x", x.text(n)), ("w", w.text(n))]
    data = {"x": a.astype(DTYPE[kind]), "w": b.astype(DTYPE[kind])}
    got = run(assay, scheme, types, lines, data)
    results = [(k, differing(k, got[k], want[k], loose.get(k))) for k in want]
    if kind != "i16":
        results += check_positive(assay, scheme, m, kind)
    return results


def check_positive(assay, scheme, m, kind):
    """Functions of what is not negative: the zero point is the least code."""
    x = Type(kind, None, RANGE[kind][0])
    a = np.arange(x.lo, x.hi + 1)
    lines, want, loose = [], {}, {}
    for name, text, f in POSITIVE:
        y = Type(kind)
        lines.append(f"{name}: {y.text(256)} = {text}")
        want[name], loose[name] = [], []
        for p in a:
            want[name].append(f(m, int(p), x, y))
            loose[name].append(f.tie)
    got = run(assay, scheme, [("x", x.text(256))], lines, {"x": a.astype(DTYPE[kind])})
    return [(k, differing(k, got[k], want[k], loose[k])) for k in want]


def check_order(assay):
    """Top-k of codes: by code, equal ones by index, with the parameters of the input."""
    failures = []
    for kind in RANGE:
        t = Type(kind)
        a = RNG.integers(t.lo, t.lo + 20, (40, 30))
        text = t.text("40,30"), t.text("40,7")
        lines = [f"v: {text[1]}, i: i32[40,7] = topk(x) {{k=7, index_bits=32}}"]
        with tempfile.TemporaryDirectory() as d:
            with open(f"{d}/net.assay", "w") as f:
                f.write(f"graph net {{\ninput x: {text[0]}\n{lines[0]}\noutput v, i\n}}\n")
            np.save(f"{d}/x.npy", a.astype(DTYPE[kind]))
            subprocess.run([assay, "run", f"{d}/net.assay", "-s", "tflite", "-i", f"{d}/x.npy", "-o", f"{d}/out"], check=True, capture_output=True)
            order = np.argsort(-a, axis=1, kind="stable")[:, :7]
            v, i = np.load(f"{d}/out/0000_output_v.npy"), np.load(f"{d}/out/0001_output_i.npy")
        wrong = int((i != order).sum() + (v != np.take_along_axis(a, order, 1)).sum())
        failures.append((f"topk {kind}", wrong))
    return failures


def main():
    assay = os.path.abspath(sys.argv[1])
    count = 0
    for scheme, m in (("tflite", mbqm_double), ("tflite-single", mbqm_single)):
        for kind in RANGE:
            for name, wrong in check(assay, scheme, m, kind):
                count += 1
                print(f"{'not ok' if wrong else 'ok'} {count} - {scheme}: {name} of {kind}" + (f", {wrong} differ" if wrong else ""))
    for name, wrong in check_order(assay):
        count += 1
        print(f"{'not ok' if wrong else 'ok'} {count} - {name}" + (f", {wrong} differ" if wrong else ""))
    print(f"1..{count}")


main()

#!/usr/bin/python3
"""Weights rounded with error feedback (GPTQ) beside the paper's formula in NumPy, and smoothing of activations; on small trained networks.

  rounding.py LIBRARY ASSAY        TAP
"""
import re

from support import RANDOM, SEED, TAP, check, np, raises

import assay

IN, HIDDEN, OUT = 64, 64, 8


def scheme(bits, block):
    return assay.Scheme.from_text(f"scheme: w{bits}\nextends: tflite\ntypes:\n  weight_bits: {bits}\n" + (f"  weight_scales: per-block\nblocks:\n  kind: multiplier\n  size: {block}\n" if block else ""))


def numbers(values):
    return ",".join(repr(float(v)) for v in np.asarray(values, np.float32).ravel())


def network(w):
    return assay.loads(f"graph mlp {{ input x: f32[1,{IN}]\n"
                       + "".join(f" const {k}: f32[{','.join(map(str, v.shape))}] = [{numbers(v)}]\n" for k, v in w.items())
                       + f" h: f32[1,{HIDDEN}] = fc(x, w1, b1)\n a: f32[1,{HIDDEN}] = relu(h)\n y: f32[1,{OUT}] = fc(a, w2, b2)\n output y }}\n")


def forward(w, x):
    h = x @ w["w1"].T + w["b1"]
    return h, np.maximum(h, 0) @ w["w2"].T + w["b2"]


def trained():
    """A multilayer perceptron fitted to another one, by gradient descent, on inputs that depend on each other."""
    mix = RANDOM.normal(size=(IN, IN)) * 0.9 ** np.arange(IN)
    mix /= np.sqrt((mix ** 2).sum(1, keepdims=True))
    draw = lambda n: (RANDOM.normal(size=(n, IN)) @ mix.T).astype(np.float32)  # noqa: E731
    new = lambda o, i: RANDOM.normal(size=(o, i)) / np.sqrt(i)  # noqa: E731
    make = lambda: {"w1": new(HIDDEN, IN), "b1": 0.1 * RANDOM.normal(size=HIDDEN), "w2": new(OUT, HIDDEN), "b2": np.zeros(OUT)}  # noqa: E731
    teacher, w = make(), make()
    first = last = 0.0
    for step in range(400):
        x = draw(128)
        h, y = forward(w, x)
        e = (y - forward(teacher, x)[1]) / len(x)
        a, d = np.maximum(h, 0), (e @ w["w2"]) * (h > 0)
        for k, g in (("w2", e.T @ a), ("b2", e.sum(0)), ("w1", d.T @ x), ("b1", d.sum(0))):
            w[k] = w[k] - 0.1 * g
        last = float((e ** 2).sum())
        first = first or last
    check(last < 0.3 * first, "the network has learned", first, last)
    return {k: v.astype(np.float32) for k, v in w.items()}, draw


def codes_of(text, name):
    """(codes, scales by block and channel) of a constant in a network's text."""
    found = re.search(rf"const {name}: \w+\[(\d+),(\d+)\] q\(axis=(\d)(?:,block=(\d+))?,\[([^\]]*)\](?:,[^)]*)?\) = \[([^\]]*)\]", text)
    rows, columns = int(found[1]), int(found[2])
    scales = np.array([np.float32(s) for s in found[5].split(",")], np.float64).reshape(rows, -1)
    return np.array(found[6].split(","), int).reshape(rows, columns), np.repeat(scales, -(-columns // scales.shape[1]), 1)[:, :columns]


def gptq(w, x, scale, bits):
    """Frantar et al. 2022, equations 2 and 3, column by column: the compensation by the inverse Hessian, which then loses the column."""
    x, w = x.astype(np.float64), w.astype(np.float64).copy()
    h = 2 * x.T @ x
    h += 0.01 * np.mean(np.diag(h)) * np.eye(len(h))
    inverse, q, near = np.linalg.inv(h), np.zeros(w.shape, int), np.zeros(w.shape, bool)
    lo, hi = 1 - 2 ** (bits - 1), 2 ** (bits - 1) - 1
    for i in range(w.shape[1]):
        at = w[:, i] / scale[:, i]
        q[:, i] = np.clip(np.sign(at) * np.floor(np.abs(at) + 0.5), lo, hi)
        near[:, i] = np.abs(np.abs(at - np.trunc(at)) - 0.5) < 1e-3  # halfway: sums in another order may decide otherwise
        w -= np.outer((w[:, i] - q[:, i] * scale[:, i]) / inverse[i, i], inverse[i])
        inverse -= np.outer(inverse[:, i], inverse[i]) / inverse[i, i]
    return q, near


def sqnr(net, made, s, x):
    real, coded = assay.Program(net), made.program(s)
    want = np.array([real.run(v)["y"].copy() for v in x], np.float64)
    got = np.array([coded.run(v)[next(iter(made.outputs))].copy() for v in x], np.float64)
    return 10 * np.log10((want ** 2).sum() / ((want - got) ** 2).sum())


def rounding(w, draw):
    net = network(w)
    x, held_back = draw(256)[:, None], draw(40)[:, None]
    profile = assay.Profile.of(net)
    profile.observe(x)
    for bits, block in ((4, 0), (4, 32), (3, 32)):
        s, name = scheme(bits, block), f"{bits} bits, {f'groups of {block}' if block else 'by channel'}"
        nearest = net.quantize(profile, s)
        better = net.quantize(profile, s, calibrate_weights="gptq", samples=x)
        check(better.report["gptq"] == 2 and nearest.report["gptq"] == 0, f"{name}: both layers", better.report["gptq"])
        acts = np.maximum(forward({k: v.astype(np.float64) for k, v in w.items()}, x[:, 0].astype(np.float64))[0], 0)
        for layer, inputs in (("w1", x[:, 0]), ("w2", acts)):
            codes, scale = codes_of(better.text(), layer)
            want, near = gptq(w[layer], inputs, scale, bits)
            clean = ~near.any(1)
            check(np.array_equal(codes[clean], want[clean]) and clean.sum() >= len(clean) // 2, f"{name}: {layer} is the paper's formula",
                  int((codes != want).sum()), int(clean.sum()))
            check((codes_of(nearest.text(), layer)[0] != codes).any(), f"{name}: {layer} is not rounded to nearest")
        plain, fed_back = sqnr(net, nearest, s, held_back), sqnr(net, better, s, held_back)
        check(fed_back > plain + 1, f"{name}: {plain:.1f} dB rounded to nearest, {fed_back:.1f} dB with feedback")


def refusals(w, draw):
    net = network(w)
    profile = assay.Profile.of(net)
    profile.observe(draw(4)[:, None])
    raises(assay.InputError, "no samples", net.quantize, profile, "tflite", calibrate_weights="gptq", words="no samples")
    raises(assay.InputError, "no channels", net.quantize, profile, "tflite", smooth=0.5, words="`per_channel`")
    for alpha in (0.0, 1.5, float("nan")):
        raises(assay.InputError, f"alpha {alpha}", net.quantize, profile, "tflite", smooth=alpha, words="above 0 and at most 1")


def smoothing(w, draw):
    """Hidden channels that are made outliers by powers of two, which cancel in the layer behind."""
    planted = {k: v.copy() for k, v in w.items()}
    for c in RANDOM.choice(HIDDEN, 4, replace=False):
        planted["w1"][c] *= 32
        planted["b1"][c] *= 32
        planted["w2"][:, c] /= 32
    net, x, held_back = network(planted), draw(256)[:, None], draw(40)[:, None]
    profile = assay.Profile.of(net, per_channel="*")
    profile.observe(x)
    s = assay.Scheme("tflite")
    plain, smooth = net.quantize(profile, s), net.quantize(profile, s, smooth=0.5)
    said = smooth.report["smoothed"]
    check([v["value"] for v in said] == ["a"] and said[0]["channels"] == HIDDEN and said[0]["greatest"] > said[0]["least"], "smoothed as reported", said)
    before, after = sqnr(net, plain, s, held_back), sqnr(net, smooth, s, held_back)
    check(after > before + 3, f"outliers: {before:.1f} dB, {after:.1f} dB smoothed")
    both = net.quantize(profile, scheme(4, 32), smooth=0.5, calibrate_weights="gptq", samples=x)
    alone = net.quantize(profile, scheme(4, 32), smooth=0.5)
    check(both.report["gptq"] == 2, "smoothed and rounded with feedback: both layers")
    nearest, fed_back = sqnr(net, alone, scheme(4, 32), held_back), sqnr(net, both, scheme(4, 32), held_back)
    check(fed_back > nearest + 0.5, f"smoothed, 4 bits in groups of 32: {nearest:.1f} dB rounded to nearest, {fed_back:.1f} dB with feedback")


def main():
    print(f"# ASSAY_SEED={SEED}")
    w, draw = trained()
    rounding(w, draw)
    refusals(w, draw)
    smoothing(w, draw)


main()
TAP.end()

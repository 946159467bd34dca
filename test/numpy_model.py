#!/usr/bin/python3
"""An independent model of quantized layers, in NumPy, over golden bundles written with --accumulators.

For every convolution, fully-connected layer, ADD and average pool it recomputes the accumulators and
the output codes from the bundle's own tensors, scales and zero points, deriving multipliers itself,
and compares element by element; multipliers and shifts in the manifest are compared too. The
formulas are those of ../shared/targets/arithmetic.md (2.1, 2.2, 2.4, 7.4); no code is shared with
the library. Prints TAP.

    numpy_model.py BUNDLE ...
"""
import json
import math
import os
import sys

import numpy as np

f32 = np.float32


# ---- roundings on Python integers and floats ----
def half_up_shift(n, s):
    return (n + (1 << (s - 1))) >> s if s > 0 else n << -s


def half_away_shift(n, s):
    return n if s == 0 else (half_up_shift(n, s) if n >= 0 else -half_up_shift(-n, s))


def half_away(x):
    return math.floor(x + 0.5) if x >= 0 else -math.floor(-x + 0.5)


def wrap32(x):
    return (x + 2**31) % 2**32 - 2**31


def quantize_multiplier(d, cap=False):
    """TFLite: d = m * 2^(shift - 31), m of 31 bits."""
    if d == 0:
        return 0, 0
    q, e = math.frexp(d)
    m = half_away(q * 2**31)
    if m == 2**31:
        m, e = m // 2, e + 1
    if e < -31:
        return 0, 0
    if cap and e > 30:
        return 2**31 - 1, 30
    return m, e


def mbqm_double(x, m, shift):
    left, right = max(shift, 0), max(-shift, 0)
    return half_away_shift(half_up_shift(wrap32(x << left) * m, 31), right)


def mbqm_single(x, m, shift):
    return half_up_shift(x * m, 31 - shift)


def glow_triplet(s):
    """Glow's quantizeScaleOffset32To8: (pre, post, multiplier); all steps in float32."""
    s = f32(s)
    mantissa, exponent = math.frexp(float(s))
    if mantissa == 0.5:
        e = exponent - 1
        return (0, 0, 2**e) if e > 0 else (0, -e, 1)
    pre = post = 0
    while s < 0.5 or (s < 256 and post < 15):
        s, post = f32(s * 2), post + 1
    while s < 255 and pre < post // 2:
        s, pre = f32(s * 2), pre + 1
    return pre, post, half_away(float(s))


def glow_scale(x, t):
    pre, post, m = t
    y = wrap32((x >> pre) * m)
    return half_up_shift(y, post) if post else y


# ---- presets: (derive(s_in, s_w, s_out) -> key, apply(acc, key, zero) -> code before clamping) ----
class Tflite:
    def __init__(self, single):
        self.mbqm = mbqm_single if single else mbqm_double
        self.cap = single

    def quantize_multiplier(self, d):
        return quantize_multiplier(d, self.cap)

    def derive(self, op, s_in, s_w, s_out, per_channel):
        if op == "fc" and not per_channel:
            return self.quantize_multiplier(float(f32(s_in) * f32(s_w)) / float(s_out))
        return self.quantize_multiplier(float(s_in) * float(s_w) / float(s_out))

    def apply(self, op, acc, key, zero):
        return self.mbqm(acc, *key) + zero

    def add(self, a, b, s1, s2, so, z1, z2, zo):
        t = 2.0 * max(float(s1), float(s2))
        k1, k2 = (self.quantize_multiplier(float(s) / t) for s in (s1, s2))
        ko = self.quantize_multiplier(t / ((1 << 20) * float(so)))
        s = self.mbqm((a - z1) << 20, *k1) + self.mbqm((b - z2) << 20, *k2)
        return self.mbqm(s, *ko) + zo

    def pool(self, raw, count, s_in, s_out, z_in, z_out):
        if (s_in, z_in) != (s_out, z_out):
            return None
        return (raw + count // 2) // count if raw > 0 else -((-raw + count // 2) // count)


class GlowInterpreter:
    def derive(self, op, s_in, s_w, s_out, per_channel):
        return f32(f32(s_in) * f32(s_w)) / f32(s_out)

    def apply(self, op, acc, key, zero):
        product = f32(f32(acc) * key)
        if op == "fc":  # the offset is added after rounding, but in convolutions before
            return half_away(float(product)) + zero
        return half_away(float(f32(product + f32(zero))))

    def add(self, a, b, s1, s2, so, z1, z2, zo):
        fixed = f32(2.0**-15)
        x = half_away(float(f32(f32(a - z1) * f32(s1 / fixed))))
        y = half_away(float(f32(f32(b - z2) * f32(s2 / fixed))))
        return half_away(float(f32(f32(f32(x + y) * f32(fixed / so)) + f32(zo))))

    def pool(self, raw, count, s_in, s_out, z_in, z_out):
        scale = f32(f32(s_in / s_out) / f32(count))
        return half_away(float(f32(f32(f32(raw - count * z_in) * scale) + f32(z_out))))


class GlowCpu(GlowInterpreter):
    def derive(self, op, s_in, s_w, s_out, per_channel):
        return glow_triplet(f32(f32(s_in) * f32(s_w)) / f32(s_out))

    def apply(self, op, acc, key, zero):
        return glow_scale(acc, key) + zero

    def add(self, a, b, s1, s2, so, z1, z2, zo):
        return glow_scale(a - z1, glow_triplet(s1 / so)) + glow_scale(b - z2, glow_triplet(s2 / so)) + zo

    def pool(self, raw, count, s_in, s_out, z_in, z_out):
        return None  # depends on count_include_pad: see the scheme tests


class Npu16:
    """The narrow example: 16-bit multiplier of exact ratio, right shift 0..63, half up, symmetric."""

    def derive(self, op, s_in, s_w, s_out, per_channel):
        return None  # taken from the manifest: the example is ours, its parameters are the contract

    def apply(self, op, acc, key, zero):
        m, shift = key
        return half_up_shift(acc * m, shift) + zero

    def add(self, *_):
        return None

    def pool(self, *_):
        return None


PRESETS = {
    "tflite": Tflite(False),
    "tflite-single": Tflite(True),
    "glow-interp": GlowInterpreter(),
    "glow-cpu": GlowCpu(),
    "npu16": Npu16(),
}


class Bundle:
    def __init__(self, path):
        self.path = path
        with open(os.path.join(path, "manifest.json")) as f:
            self.manifest = json.load(f)
        self.entry = {t["name"]: t for t in self.manifest["constants"] + self.manifest["tensors"]}

    def load(self, name):
        return np.load(os.path.join(self.path, self.entry[name]["file"])).astype(np.int64)

    def accumulators(self, name):
        sub = self.entry[name].get("accumulators")
        return np.load(os.path.join(self.path, sub["file"])) if sub else None

    def scale(self, name):
        return np.asarray(self.entry[name]["scale"], dtype=f32)

    def zero(self, name):
        return np.asarray(self.entry[name]["zero_point"], dtype=np.int64)

    def quantized(self, name):
        return "scale" in self.entry[name] and self.entry[name]["dtype"] != "float32"


def bounds(bundle, node, name):
    t = bundle.entry[name]
    bits, unsigned = t["bits"], t["dtype"].startswith("u")
    lo, hi = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    s, z = float(bundle.scale(name)), int(bundle.zero(name))
    a = node["attributes"]
    if "act_lo" in a:
        lo = max(lo, z + half_away(float(f32(f32(a["act_lo"]) / f32(s)))))
    if "act_hi" in a:
        hi = min(hi, z + half_away(float(f32(f32(a["act_hi"]) / f32(s)))))
    return lo, hi


def convolve(x, w, attributes):
    """Exact NCHW convolution of centred integers: x [N,C,H,W], w [O,C/g,KH,KW]."""
    stride, dilation = attributes["stride"] or [1, 1], attributes["dilation"] or [1, 1]
    begin, end = attributes["pad_begin"] or [0, 0], attributes["pad_end"] or [0, 0]
    group = attributes["group"]
    x = np.pad(x, [(0, 0), (0, 0), (begin[0], end[0]), (begin[1], end[1])])
    n, c, h, width = x.shape
    o, cg, kh, kw = w.shape
    oh = (h - (kh - 1) * dilation[0] - 1) // stride[0] + 1
    ow = (width - (kw - 1) * dilation[1] - 1) // stride[1] + 1
    out = np.zeros((n, o, oh, ow), np.int64)
    og = o // group
    for g in range(group):
        for i in range(kh):
            for j in range(kw):
                y0, x0 = i * dilation[0], j * dilation[1]
                patch = x[:, g * cg:(g + 1) * cg,
                          y0:y0 + (oh - 1) * stride[0] + 1:stride[0],
                          x0:x0 + (ow - 1) * stride[1] + 1:stride[1]]
                out[:, g * og:(g + 1) * og] += np.einsum(
                    "nchw,oc->nohw", patch, w[g * og:(g + 1) * og, :, i, j])
    return out


def check_weighted(bundle, node, scheme):
    x, w = node["inputs"][:2]
    bias = node["inputs"][2] if len(node["inputs"]) > 2 else None
    out = node["outputs"][0]
    xs = bundle.load(x) - bundle.zero(x)
    weights = bundle.load(w)
    wz = bundle.zero(w)
    weights = weights - (wz.reshape([-1] + [1] * (weights.ndim - 1)) if wz.ndim else wz)
    if node["op"] == "fc":
        acc = xs @ weights.T
        axis = -1
    else:
        acc = convolve(xs, weights, node["attributes"])
        axis = 1
    channels = acc.shape[axis]
    shape = [1] * acc.ndim
    shape[axis] = channels
    if bias is not None:
        acc = acc + bundle.load(bias).reshape(shape)
    dumped = bundle.accumulators(out)
    if dumped is None or not np.array_equal(dumped, acc):
        return "accumulators differ"
    s_in, s_w, s_out = bundle.scale(x), bundle.scale(w), bundle.scale(out)
    zero = int(bundle.zero(out))
    lo, hi = bounds(bundle, node, out)
    want = np.empty_like(acc)
    params = node.get("parameters", {})
    for c in range(channels):
        key = scheme.derive(node["op"], s_in, s_w[c] if s_w.ndim else s_w, s_out, s_w.ndim > 0)
        m, shift = params.get("multiplier"), params.get("shift")
        if m is not None:
            given = (m[c if len(m) > 1 else 0], shift[c if len(shift) > 1 else 0])
            if key is None:
                key = given
            elif isinstance(scheme, Tflite) and given != key:
                return f"channel {c}: manifest has multiplier, shift {given}, derived {key}"
        index = [slice(None)] * acc.ndim
        index[axis] = c
        part = acc[tuple(index)]
        codes = [min(max(scheme.apply(node["op"], int(a), key, zero), lo), hi) for a in part.flat]
        want[tuple(index)] = np.array(codes).reshape(part.shape)
    return compare(bundle.load(out), want)


def check_add(bundle, node, scheme):
    a, b = node["inputs"]
    out = node["outputs"][0]
    lo, hi = bounds(bundle, node, out)
    args = (bundle.scale(a), bundle.scale(b), bundle.scale(out), int(bundle.zero(a)),
            int(bundle.zero(b)), int(bundle.zero(out)))
    xs, ys = np.broadcast_arrays(bundle.load(a), bundle.load(b))
    table = {}
    codes = []
    for p in zip(xs.flat, ys.flat):
        if p not in table:
            table[p] = scheme.add(int(p[0]), int(p[1]), *args)
        if table[p] is None:
            return None
        codes.append(min(max(table[p], lo), hi))
    return compare(bundle.load(out), np.array(codes).reshape(xs.shape))


def check_global_pool(bundle, node, scheme):
    x, out = node["inputs"][0], node["outputs"][0]
    lo, hi = bounds(bundle, node, out)
    data = bundle.load(x)
    count = int(np.prod(data.shape[2:]))
    sums = data.reshape(data.shape[0], data.shape[1], -1).sum(-1)
    codes = [scheme.pool(int(s), count, bundle.scale(x), bundle.scale(out), int(bundle.zero(x)),
                         int(bundle.zero(out))) for s in sums.flat]
    if None in codes:
        return None
    want = np.clip(np.array(codes), lo, hi).reshape(bundle.load(out).shape)
    return compare(bundle.load(out), want)


def compare(found, want):
    bad = np.argwhere(found != want)
    if len(bad) == 0:
        return ""
    at = tuple(int(i) for i in bad[0])
    return f"{len(bad)} of {found.size} codes differ, first at {at}: {found[at]}, expected {want[at]}"


CHECKS = {"conv": check_weighted, "fc": check_weighted, "add": check_add,
          "global_avg_pool": check_global_pool}


def main(paths):
    count = failed = 0
    for path in paths:
        bundle = Bundle(path)
        scheme = PRESETS[bundle.manifest["scheme"]["name"]]
        for node in bundle.manifest["nodes"]:
            check = CHECKS.get(node["op"])
            if check is None or not bundle.quantized(node["outputs"][0]):
                continue
            result = check(bundle, node, scheme)
            count += 1
            name = f"{os.path.basename(path)} {node['op']} {node['name']}".replace("#", "_")
            if result is None:
                print(f"ok {count} - {name} # SKIP no independent formula for this preset")
            elif result:
                failed += 1
                print(f"not ok {count} - {name}\n# {result}")
            else:
                print(f"ok {count} - {name}")
    print(f"1..{count}")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

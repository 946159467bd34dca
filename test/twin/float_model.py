#!/usr/bin/python3
"""A second implementation of networks on matrix units, in NumPy's binary32 and integers, written from the
documentation (schemes/mac/functions.h, scale.h, scheme.h, mac.def and formats.def): every tensor of a bundle
is computed from the network's constants and input alone, and compared to the bit.

    float_model.py BUNDLE ...        TAP
"""
import json
import sys

import numpy as np

from bundle_arrays import Bundle, windows

f32 = np.float32
# sign, exponent and fraction bits, bias; has Inf; pattern of NaN under the sign; greatest number
FORMATS = {"f8e4m3fn": (4, 3, 7, 448.0), "f8e5m2": (5, 2, 15, 57344.0), "f6e3m2": (3, 2, 3, 28.0),
           "f6e2m3": (2, 3, 1, 7.5), "f4e2m1": (2, 1, 1, 6.0),
           "bf16": (8, 7, 127, float(np.float32(2.0 ** 127 * (2 - 2.0 ** -7))))}
# digits kept below the greatest exponent, products a step, fraction bits of the result, products of an exact
# group, least greatest exponent (least_max; of mxf4 and nvf4 what a zero accumulator has)
UNITS = {"nv-hopper-e4m3-f32": (13, 32, 13, 1, -10000), "nv-blackwell-mxf8-e4m3": (25, 32, 23, 1, -133),
         "nv-blackwell-mxf4-b32": (35, 64, 23, 16, -126), "nv-blackwell-nvf4": (35, 64, 23, 16, -126),
         "nv-ampere-bf16-f32": (24, 8, 23, 1, -132)}


def bits(x):
    return np.asarray(x, f32).view(np.uint32)


def exponent_field(x):
    return (bits(x) >> 23 & 0xFF).astype(np.int64)


def decode(name, codes):
    """Sign, integer significand, exponent of the unit digit."""
    e, m, bias, _ = FORMATS[name]
    c = codes.astype(np.int64)
    field, fraction = c >> m & ((1 << e) - 1), c & ((1 << m) - 1)
    return np.where(c >> (e + m) & 1, -1, 1), np.where(field > 0, fraction + (1 << m), fraction), np.maximum(field, 1) - bias


def encode(name, x):
    """Numbers in binary64 (exact) to patterns: half to even, saturating."""
    e, m, bias, greatest = FORMATS[name]
    a = np.abs(x)
    _, top = np.frexp(a)
    unit = np.where(a > 0, np.maximum(top - 1, 1 - bias), 1 - bias)
    digits = np.rint(np.ldexp(a, m - unit)).astype(np.int64)  # rint: half to even
    codes = digits + ((unit - (1 - bias)).astype(np.int64) << m)
    limit = int(encode_exact(name, greatest))
    return (np.minimum(codes, limit) | np.where(np.signbit(x), 1 << (e + m), 0)).astype(np.uint8 if e + m < 8 else np.uint16)


def encode_exact(name, x):
    e, m, bias, _ = FORMATS[name]
    unit = int(np.floor(np.log2(x)))
    return (unit + bias - 1 << m) + int(x / 2.0 ** (unit - m))


def exp(x):
    x = np.asarray(x, f32)
    n = np.rint(x * f32(1.4426950408889634)).astype(f32)
    r = (x - n * f32(0.693359375)) - n * f32(-2.12194440e-4)
    p = np.full_like(r, f32(1.9875691500E-4))
    for c in (1.3981999507E-3, 8.3334519073E-3, 4.1665795894E-2, 1.6666665459E-1, 5.0000001201E-1):
        p = p * r + f32(c)
    y = (p * (r * r) + r) + f32(1)
    i = n.astype(np.int64)
    half = np.trunc(i / 2).astype(np.int64)
    y = (y * np.ldexp(f32(1), i - half).astype(f32)) * np.ldexp(f32(1), half).astype(f32)
    return np.where(x > f32(88.72284), f32(np.inf), np.where(x < f32(-103.97284), f32(0), y)).astype(f32)


def tanh(x):
    y = f32(1) - f32(2) / (exp(f32(2) * np.abs(x)) + f32(1))
    return np.where(np.signbit(x), -y, y)


def erf(x):
    a = np.abs(x)
    t = f32(1) / (f32(1) + f32(0.3275911) * a)
    p = np.full_like(t, f32(1.061405429))
    for c in (-1.453152027, 1.421413741, -0.284496736, 0.254829592, 0.0):
        p = p * t + f32(c)
    y = f32(1) - p * exp(-(a * a))
    return np.where(np.signbit(x), -y, y)


def gelu(x, attributes):
    if attributes.get("approximate") == "tanh":
        f = tanh(f32(0.7978845608028654) * (x + f32(0.044715) * ((x * x) * x)))
    else:
        f = erf(x * f32(0.7071067811865476))
    return (x * f32(0.5)) * (f32(1) + f)


def sum_last(x):
    """From the first to the last, from +0."""
    total = np.zeros(x.shape[:-1], f32)
    for i in range(x.shape[-1]):
        total = total + x[..., i]
    return total[..., None]


def softmax(x):
    e = exp(x - x.max(-1, keepdims=True))
    return e / sum_last(e)


def layer_norm(x, gamma, beta, epsilon):
    n = f32(x.shape[-1])
    d = x - sum_last(x) / n
    r = f32(1) / np.sqrt(sum_last(d * d) / n + f32(epsilon))
    return (d * r) * gamma + beta


def blocks(x, size):
    """x cut along each axis: [(slices, index)]."""
    index = [range(-(-d // s)) for d, s in zip(x.shape, size)]
    for at in np.ndindex(*map(len, index)):
        yield at, tuple(slice(i * s, (i + 1) * s) for i, s in zip(at, size))


def scales(x, a, second):
    size, to, rule = a["block"], a.get("to", "f32"), a.get("rule", "amax")
    greatest = FORMATS[a.get("elements", "f8e4m3fn")][3]
    out = np.zeros([-(-d // s) for d, s in zip(x.shape, size)], f32 if to == "f32" else np.uint8)
    for at, cut in blocks(x, size):
        m = f32(np.abs(x[cut]).max())
        if to == "f8e8m0":
            assert rule == "floor"
            top = int(exponent_field(m)) - 127 - int(np.floor(np.log2(greatest)))
            out[at] = np.clip(top, -127, 127) + 127
        else:
            s = m / f32(f32(greatest) * f32(a.get("reach", 1)))
            if to == "f8e4m3fn":
                out[at] = encode(to, np.float64(np.clip(s / second, f32(2.0 ** -6), f32(448))))
                continue
            out[at] = s if s != 0 else f32(1)
    return out


def spread(scale, size, shape):
    for axis, s in enumerate(size):
        scale = np.repeat(scale, s, axis)
    return scale[tuple(slice(0, d) for d in shape)]


def number(name, codes):
    s, m, u = decode(name, codes)
    return (s * np.ldexp(m.astype(np.float64), u - FORMATS[name][1])).astype(f32)


def encoded(x, scale, a, second):
    s = spread(scale, a["block"], x.shape)
    if second is not None:  # by the reciprocal
        t = (f32(1) / second) / number("f8e4m3fn", s)
        return encode(a["to"], (x * t).astype(np.float64))
    if scale.dtype == np.uint8:
        return encode(a.get("to", "f8e4m3fn"), np.ldexp(x.astype(np.float64), 127 - s.astype(np.int64)))
    return encode(a.get("to", "f8e4m3fn"), (x / s).astype(np.float64))


def aligned_dot(unit, fa, fb, a, b, ea=0, eb=0):
    """[.., M, K] by [.., N, K] step after step, the accumulator an f32's sign, significand, exponent; ea, eb:
    exponents of block scales, of the shapes of a and b."""
    keep, group, fraction, exact, least = unit
    k = a.shape[-1]
    pad = -k % group

    def padded(v, fill):
        return np.concatenate([v, np.full(v.shape[:-1] + (pad,), fill, v.dtype)], -1)

    (sa, ma, ua), (sb, mb, ub) = decode(fa, a), decode(fb, b)
    ua, ub = ua + ea, ub + eb
    ma, mb = padded(sa * ma, 0), padded(sb * mb, 0)
    ua, ub = padded(ua, 0), padded(ub, 0)
    digits = FORMATS[fa][1] + FORMATS[fb][1]
    if exact > 1:  # elements as integers; an exponent is the scales' alone
        ma, mb = ma << padded(decode(fa, a)[2], 0), mb << padded(decode(fb, b)[2], 0)
        ua, ub = (np.pad(np.broadcast_to(e, v.shape), [(0, 0)] * (v.ndim - 1) + [(0, pad)], mode="edge") for e, v in ((ea, a), (eb, b)))
    p = ma[..., :, None, :] * mb[..., None, :, :]
    u = ua[..., :, None, :] + ub[..., None, :, :]
    if exact > 1:
        p = p.reshape(p.shape[:-1] + (-1, exact)).sum(-1)
        u = u[..., ::exact]
    else:
        u = np.where(p != 0, u, least)
    return steps(p, u, digits, group // exact, keep, fraction, least)


def steps(p, u, digits, group, keep, fraction, least):
    """Terms p * 2^(u - digits), `group` a step, and an accumulator acc * 2^(unit - 23), an f32."""
    acc, acc_unit = (np.zeros(p.shape[:-1], np.int64) for _ in range(2))
    for at in range(0, p.shape[-1], group):
        pg, ug = p[..., at:at + group], u[..., at:at + group]
        top = np.maximum(np.maximum(ug.max(-1), np.where(acc != 0, acc_unit, least)), least)
        grid = top - keep

        def cut(v, exponent):  # toward zero
            move = np.clip(exponent - (grid if v.ndim == grid.ndim else grid[..., None]), -62, 48)
            return np.where(move >= 0, v << np.maximum(move, 0), np.sign(v) * (np.abs(v) >> np.maximum(-move, 0)))

        total = cut(pg, ug - digits).sum(-1) + cut(acc, acc_unit - 23)
        size = np.abs(total)
        length = np.frexp(size.astype(np.float64))[1]  # exact: below 2^53
        unit_digit = np.maximum(grid + length - 1, -126)
        drop = unit_digit - fraction - grid
        kept = np.where(drop >= 0, size >> np.maximum(drop, 0), size << np.maximum(-drop, 0)) << (23 - fraction)
        acc, acc_unit = np.sign(total) * kept, np.where(total != 0, unit_digit, 0)
    return np.ldexp(acc.astype(np.float64), acc_unit - 23).astype(f32)


def nvfp4(unit, a, b, sa, sb, formats):
    """Scales are e4m3: each exact group of 16 is multiplied by both significands, its exponent is theirs."""
    keep, group, fraction, exact, least = unit
    k = a.shape[-1]
    va, vb = (np.pad(s * m << u, [(0, 0)] * (v.ndim - 1) + [(0, -k % group)]) for v, (s, m, u) in
              ((v, decode(f, v)) for v, f in zip((a, b), formats)))
    sa, sb = (np.pad(s, [(0, 0)] * (s.ndim - 1) + [(0, -s.shape[-1] % (group // exact))], mode="edge") for s in (sa, sb))
    (_, ma, ua), (_, mb, ub) = decode("f8e4m3fn", sa), decode("f8e4m3fn", sb)
    p = va[..., :, None, :] * vb[..., None, :, :]
    p = p.reshape(p.shape[:-1] + (-1, exact)).sum(-1) * (ma[..., :, None, :] * mb[..., None, :, :])
    return steps(p, ua[..., :, None, :] + ub[..., None, :, :], 2 + 6, group // exact, keep, fraction, least)


def product(units, a, b, sa, sb, formats, attributes, second, bias):
    run_a, run_b = attributes["a_block"][-1], attributes["b_block"][-1]
    rows_a = spread(sa, attributes["a_block"][:-1] + [1], a.shape[:-1] + sa.shape[-1:])
    rows_b = spread(sb, attributes["b_block"][:-1] + [1], b.shape[:-1] + sb.shape[-1:])
    k = a.shape[-1]
    if second is not None:
        y = nvfp4(units, a, b, rows_a, rows_b, formats) * second.reshape(())
    elif sa.dtype == np.uint8:
        ea = np.repeat(rows_a.astype(np.int64) - 127, run_a, -1)[..., :k]
        eb = np.repeat(rows_b.astype(np.int64) - 127, run_b, -1)[..., :k]
        y = aligned_dot(units, *formats, a, b, ea, eb)
    else:
        run = min(run_a, run_b)
        y = None
        for i in range(0, k, run):
            part = aligned_dot(units, *formats, a[..., i:i + run], b[..., i:i + run])
            s = rows_a[..., :, None, i // run_a] * rows_b[..., None, :, i // run_b]
            if run >= k:
                y = part * s
            elif y is None:
                y = fma(s, part, np.zeros_like(part))
            else:
                y = fma(s, part, y)
    return y if bias is None else y + bias


def fma(a, b, c):
    """a * b + c, rounded once: the product is exact in binary64; the sum is rounded to odd there, then to f32."""
    p, c = a.astype(np.float64) * b.astype(np.float64), c.astype(np.float64)
    s = p + c
    t = s - p
    error = (p - (s - t)) + (c - t)
    odd = s.view(np.int64) & 1
    toward = np.where((error > 0) == (s > 0), 1, -1)
    fixed = (s.view(np.int64) + np.where((error != 0) & (odd == 0), np.where(toward > 0, 1, -1), 0)).view(np.float64)
    return fixed.astype(f32)


def patches(x, a):
    kernel, stride, dilation, begin, end = windows(a, 2)
    n, c, h, w = x.shape
    padded = np.pad(x, ((0, 0), (0, 0), (begin[0], end[0]), (begin[1], end[1])))
    oh = (h + begin[0] + end[0] - (kernel[0] - 1) * dilation[0] - 1) // stride[0] + 1
    ow = (w + begin[1] + end[1] - (kernel[1] - 1) * dilation[1] - 1) // stride[1] + 1
    out = np.zeros((n, 1, oh * ow, kernel[0] * kernel[1] * c), f32)
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            cells = padded[:, :, i * dilation[0]:i * dilation[0] + (oh - 1) * stride[0] + 1:stride[0],
                           j * dilation[1]:j * dilation[1] + (ow - 1) * stride[1] + 1:stride[1]]
            t = (i * kernel[1] + j) * c
            out[:, 0, :, t:t + c] = cells.reshape(n, c, -1).transpose(0, 2, 1)
    return out


class Model:
    def __init__(self, path):
        self.bundle = Bundle(path)
        self.value, self.faults, self.compared = {}, [], 0
        text = self.bundle.manifest["scheme"]["text"]
        self.unit = UNITS[text.split("units: [")[1].split("]")[0].split(",")[0].strip()]
        for entry in self.bundle.manifest["constants"] + [t for t in self.bundle.manifest["tensors"] if t["op"] == "input"]:
            self.value[entry["name"]] = np.load(f'{path}/{entry["file"]}')

    def format(self, name):
        return self.bundle.entry[name]["float"]

    def compute(self, node):
        a, op = node["attributes"], node["op"]
        x = [None if n is None else self.value[n] for n in node["inputs"]]
        first = x[0]
        if op == "block_scale":
            return scales(first, a, x[1] if len(x) > 1 else None)
        if op == "float_encode":
            return encoded(first, x[1], a, x[2] if len(x) > 2 else None)
        if op == "scaled_matmul":
            formats = [self.format(n) for n in node["inputs"][:2]]
            second = x[4] * x[5] if len(x) > 5 and x[4] is not None else None
            return product(self.unit, *x[:4], formats, a, second, x[6] if len(x) > 6 else None)
        if op == "patches":
            return patches(first, a)
        if op == "reshape":
            return first.reshape(self.bundle.entry[node["outputs"][0]]["shape"])
        if op == "transpose":
            return first.transpose(a["perm"])
        if op == "global_avg_pool":
            return (sum_last(first.reshape(*first.shape[:2], -1)) / f32(first.shape[2] * first.shape[3]))[..., None]
        if op == "reduce_mean":
            assert a["axes"] == [first.ndim - 1]
            return sum_last(first) / f32(first.shape[-1])
        if op == "layer_norm":
            return layer_norm(*x, a.get("epsilon", 1e-5))
        if op == "gelu":
            return gelu(first, a)
        return {"add": lambda: first + x[1], "mul": lambda: first * x[1], "softmax": lambda: softmax(first),
                "square": lambda: first * first, "rsqrt": lambda: f32(1) / np.sqrt(first),
                "relu": lambda: np.where(first < 0, f32(0), first)}[op]()

    def run(self):
        with np.errstate(all="ignore"):
            for node in self.bundle.manifest["nodes"]:
                y = self.compute(node)
                name = node["outputs"][0]
                found = np.load(f'{self.bundle.path}/{self.bundle.entry[name]["file"]}')
                y = np.ascontiguousarray(y, f32 if found.dtype == f32 else y.dtype)
                kind = np.uint32 if found.dtype == f32 else np.uint8
                bad = np.argwhere(found.view(kind) != y.view(kind))
                self.compared += 1
                if len(bad):
                    at = tuple(bad[0])
                    self.faults.append(f"{name} ({node['op']}): {len(bad)} of {found.size} differ, first at {at}: "
                                       f"{found[at]!r}, expected {y[at]!r}")
                self.value[name] = y


def main(paths):
    print(f"1..{len(paths)}")
    for i, path in enumerate(paths, 1):
        m = Model(path)
        m.run()
        for fault in m.faults[:5]:
            print("#", fault)
        print(f"{'not ok' if m.faults or not m.compared else 'ok'} {i} - {path.rsplit('/', 1)[-1]}: {m.compared} tensors")


if __name__ == "__main__":
    main(sys.argv[1:])

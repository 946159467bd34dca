#!/usr/bin/python3
"""An independent model of quantized layers, in NumPy, over golden bundles written with --accumulators.

For every convolution (of any rank, transposed too), fully-connected layer, matrix product, ADD, SUB,
MUL, pool and mean it recomputes the accumulators and the output codes from the bundle's own tensors,
scales and zero points, deriving multipliers itself, and compares element by element; multipliers and
shifts in the manifest are compared too. The formulas are those of TFLite and Glow
(schemes/SOURCES.md), and npu16.yaml's comments for that example; no code is shared with the library.
Prints TAP.

    numpy_model.py BUNDLE ...
"""
import os
import sys

import numpy as np

from bundle_arrays import Bundle, bounds, compare, each, strided, windows
from numpy_presets import PRESETS

f32 = np.float32


def convolve(x, w, attributes):
    """Exact convolution of centred integers: x [N,C,...], w [O,C/g,...]."""
    kernel, stride, dilation, begin, end = windows(attributes, x.ndim - 2)
    group, o = attributes["group"], w.shape[0]
    x = np.pad(x, [(0, 0), (0, 0)] + list(zip(begin, end)))
    size = [(n - (k - 1) * d - 1) // s + 1
            for n, k, d, s in zip(x.shape[2:], kernel, dilation, stride)]
    out = np.zeros([x.shape[0], o] + size, np.int64)
    og, cg = o // group, w.shape[1]
    for g in range(group):
        for tap in np.ndindex(*kernel):
            at = strided([t * d for t, d in zip(tap, dilation)], size, stride)
            patch = x[(slice(None), slice(g * cg, (g + 1) * cg)) + at]
            taps = w[(slice(g * og, (g + 1) * og), slice(None)) + tap]
            out[:, g * og:(g + 1) * og] += np.einsum("nc...,oc->no...", patch, taps)
    return out


def convolve_transposed(x, w, attributes, shape):
    """Every input element adds the kernel times itself: x [N,C,...], w [C,O/g,...]; `shape` is the
    output's, of which the begin padding is cut off."""
    kernel, stride, dilation, begin, _ = windows(attributes, x.ndim - 2)
    group, og = attributes["group"], w.shape[1]
    cg = w.shape[0] // group
    full = [max((n - 1) * s + (k - 1) * d + 1, b + m) for n, s, k, d, b, m in
            zip(x.shape[2:], stride, kernel, dilation, begin, shape[2:])]
    out = np.zeros([x.shape[0], og * group] + full, np.int64)
    for g in range(group):
        for tap in np.ndindex(*kernel):
            at = strided([t * d for t, d in zip(tap, dilation)], x.shape[2:], stride)
            taps = w[(slice(g * cg, (g + 1) * cg), slice(None)) + tap]
            out[(slice(None), slice(g * og, (g + 1) * og)) + at] += np.einsum(
                "nc...,co->no...", x[:, g * cg:(g + 1) * cg], taps)
    return out[(slice(None), slice(None)) +
               tuple(slice(b, b + m) for b, m in zip(begin, shape[2:]))]


def rescale(bundle, node, scheme, acc, axis, s_w):
    """Codes of accumulators, with the scale s_w, or one per channel along the axis; or a fault."""
    op, out, params = node["op"], node["outputs"][0], node.get("parameters", {})
    s_in, s_out, zero = bundle.scale(node["inputs"][0]), bundle.scale(out), int(bundle.zero(out))
    lo, hi = bounds(bundle, node, out)
    want = np.empty_like(acc)
    for c in range(acc.shape[axis] if s_w.ndim else 1):
        key = scheme.derive(op, s_in, s_w[c] if s_w.ndim else s_w, s_out, s_w.size > 1)
        if scheme.names and scheme.names[-1] in params:
            given = tuple(p[c if len(p) > 1 else 0] for p in (params[n] for n in scheme.names))
            if given != key:
                return None, f"channel {c}: manifest has {scheme.names} {given}, derived {key}"
        index = [slice(None)] * acc.ndim
        if s_w.ndim:
            index[axis] = c
        part = acc[tuple(index)]
        want[tuple(index)] = each(lambda a: min(max(scheme.apply(op, a, key, zero), lo), hi), part)
    return want, ""


def check_weighted(bundle, node, scheme):
    x, w = node["inputs"][:2]
    bias = node["inputs"][2] if len(node["inputs"]) > 2 else None
    out = node["outputs"][0]
    found = bundle.load(out)
    xs = bundle.load(x) - bundle.zero(x)
    weights, wz, s_w = bundle.load(w), bundle.zero(w), bundle.scale(w)
    w_axis = bundle.entry[w].get("axis", 0)
    weights = weights - (wz.reshape([-1 if a == w_axis else 1 for a in range(weights.ndim)])
                         if wz.ndim else wz)
    axis = 1
    if node["op"] == "fc":
        acc, axis = xs @ weights.T, -1
    elif node["op"] == "conv":
        acc = convolve(xs, weights, node["attributes"])
    else:
        acc = convolve_transposed(xs, weights, node["attributes"], found.shape)
    if bias is not None:
        acc = acc + bundle.load(bias).reshape([-1 if a == axis % acc.ndim else 1
                                               for a in range(acc.ndim)])
    dumped = bundle.accumulators(out)
    if dumped is None or not np.array_equal(dumped, acc):
        return "accumulators differ"
    want, fault = rescale(bundle, node, scheme, acc, axis, s_w)
    return fault or compare(found, want)


def check_matmul(bundle, node, scheme):
    a, b = (bundle.load(v) - bundle.zero(v) for v in node["inputs"])
    if node["attributes"]["transpose_a"]:
        a = a.swapaxes(-1, -2)
    if node["attributes"]["transpose_b"]:
        b = b.swapaxes(-1, -2)
    out = node["outputs"][0]
    acc = a @ b
    dumped = bundle.accumulators(out)
    if dumped is None or not np.array_equal(dumped, acc):
        return "accumulators differ"
    want, fault = rescale(bundle, node, scheme, acc, -1, bundle.scale(node["inputs"][1]))
    return fault or compare(bundle.load(out), want)


def check_mul(bundle, node, scheme):
    a, b = (bundle.load(v) - bundle.zero(v) for v in node["inputs"])
    want, fault = rescale(bundle, node, scheme, a * b, -1, bundle.scale(node["inputs"][1]))
    return fault or compare(bundle.load(node["outputs"][0]), want)


def check_add(bundle, node, scheme):
    a, b = node["inputs"]
    out = node["outputs"][0]
    lo, hi = bounds(bundle, node, out)
    sign = -1 if node["op"] == "sub" else 1
    args = (bundle.scale(a), bundle.scale(b), bundle.scale(out), int(bundle.zero(a)),
            int(bundle.zero(b)), int(bundle.zero(out)))
    want = each(lambda x, y: min(max(scheme.add(x, y, sign, *args), lo), hi), bundle.load(a),
                bundle.load(b))
    return compare(bundle.load(out), want)


def pool_codes(bundle, node, scheme, sums, counts, include_pad):
    x, out = node["inputs"][0], node["outputs"][0]
    lo, hi = bounds(bundle, node, out)
    args = (include_pad, bundle.scale(x), bundle.scale(out), int(bundle.zero(x)),
            int(bundle.zero(out)))
    return each(lambda s, n: min(max(scheme.pool(node["op"], s, n, *args), lo), hi), sums, counts)


def check_reduction(bundle, node, scheme):
    """Mean or sum over whole axes; global average pooling is the mean over the spatial ones."""
    x, found = bundle.load(node["inputs"][0]), bundle.load(node["outputs"][0])
    axes = tuple(node["attributes"].get("axes") or range(2, x.ndim))
    count = int(np.prod([x.shape[a] for a in axes]))
    want = pool_codes(bundle, node, scheme, x.sum(axes), count, False)
    return compare(found, want.reshape(found.shape))


def check_pool(bundle, node, scheme):
    x, found = bundle.load(node["inputs"][0]), bundle.load(node["outputs"][0])
    attributes, zero = node["attributes"], int(bundle.zero(node["inputs"][0]))
    kernel, stride, dilation, begin, end = windows(attributes, x.ndim - 2)
    shape, size = x.shape[2:], found.shape[2:]
    sums = np.zeros(found.shape, np.int64)
    counts = np.zeros(found.shape, np.int64)
    greatest = np.full(found.shape, np.iinfo(np.int64).min)
    for at in np.ndindex(*size):
        for tap in np.ndindex(*kernel):
            p = [a * s - b + t * d for a, s, b, t, d in zip(at, stride, begin, tap, dilation)]
            cell = (slice(None), slice(None)) + tuple(at)
            if all(0 <= i < n for i, n in zip(p, shape)):
                v = x[(slice(None), slice(None)) + tuple(p)]
                sums[cell] += v
                greatest[cell] = np.maximum(greatest[cell], v)
                counts[cell] += 1
            elif attributes["count_include_pad"] and all(
                    i < n + e for i, n, e in zip(p, shape, end)):
                sums[cell] += zero
                counts[cell] += 1
    if node["op"] == "max_pool":
        lo, hi = bounds(bundle, node, node["outputs"][0])
        return compare(found, np.clip(greatest, lo, hi))
    return compare(found, pool_codes(bundle, node, scheme, sums, counts,
                                     attributes["count_include_pad"]))


CHECKS = {"conv": check_weighted, "conv_transpose": check_weighted, "fc": check_weighted,
          "matmul": check_matmul, "mul": check_mul, "add": check_add, "sub": check_add,
          "max_pool": check_pool, "avg_pool": check_pool, "global_avg_pool": check_reduction,
          "reduce_mean": check_reduction, "reduce_sum": check_reduction}


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
            if result:
                failed += 1
                print(f"not ok {count} - {name}\n# {result}")
            else:
                print(f"ok {count} - {name}")
    print(f"1..{count}")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

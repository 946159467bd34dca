#!/usr/bin/python3
"""An independent model of any parameter record, over golden bundles written with --accumulators.

It reads the record that the manifest holds (schemes/record/record.def says what each parameter means) and
recomputes, from the bundle's own tensors, scales and zero points: accumulators in the record's order,
width and overflow; multipliers and shifts; every code of conv, fc, matmul, add, sub, mul, pools, means,
lrn, rescale, relu and max pool; quantize and dequantize. Integers are Python's, a rounding is of an exact
fraction, float steps are the processor's own. No code is shared with the library. Prints TAP.

    record_model.py BUNDLE ...
"""
import math
import os
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np

import bundle_arrays as tensors  # bundles, windows, convolution taps
from record_kinds import Output, adder, pooler
from record_rules import (Rescale, Unknown, accumulate, effective, f32, formed, narrow, parse_record,
                          rounded, shifted, to_int)


def fields(x, attributes, spatial):
    """What each output cell sees of x: [N, C, cells..., taps]."""
    kernel, stride, dilation, begin, end = tensors.windows(attributes, x.ndim - 2)
    x = np.pad(x, [(0, 0), (0, 0)] + list(zip(begin, end)))
    out = np.zeros(x.shape[:2] + tuple(spatial) + (int(np.prod(kernel)),), np.int64)
    for i, tap in enumerate(np.ndindex(*kernel)):
        at = tensors.strided([t * d for t, d in zip(tap, dilation)], spatial, stride)
        out[..., i] = x[(slice(None), slice(None)) + at]
    return out


# ---- nodes ----
class Model:
    def __init__(self, path):
        self.bundle = tensors.Bundle(path)
        self.record = parse_record(self.bundle.manifest["scheme"]["text"])

    def rule(self, node):
        x = self.bundle.entry[node["inputs"][0]]
        wide = x["bits"] > 8 and x["dtype"] != "float32"
        return effective(self.record, node, wide, x["dtype"].startswith("u"))

    def centred(self, name):
        x, z = self.bundle.load(name), self.bundle.zero(name)
        if z.ndim == 0 or z.size == 1:
            return x - int(z.reshape(-1)[0])
        if "block" in self.bundle.entry[name]:
            return x - z.reshape(-1)[self.scale_numbers(name)]
        axis = self.bundle.entry[name]["axis"]
        return x - z.reshape([-1 if a == axis else 1 for a in range(x.ndim)])

    def finish(self, node, rec, acc, axis, s_w):
        """Codes of accumulators with a scale for each index of the axis, or one."""
        k, out, b = rec["rescale"], Output(self.bundle, node), self.bundle
        s_in = f32(b.scale(node["inputs"][0]))
        scales = [f32(s) for s in np.atleast_1d(s_w)]
        real = [formed(k, s_in, s, out.scale, len(scales) == 1) for s in scales]
        units = [Rescale(k, r, (s_in, s, out.scale)) for r, s in zip(real, scales)]
        if k["common_shift"] and len(units) > 1:
            largest = int(np.argmax(real))
            shift = units[largest].listed[1]
            units = [u if i == largest else Rescale(k, u.real, u.steps, shift)
                     for i, u in enumerate(units)]
        fault = self.listed(node, units)
        want = np.empty_like(acc)
        for c, unit in enumerate(units):
            index = [slice(None)] * acc.ndim
            if len(units) > 1:
                index[axis] = c
            part = acc[tuple(index)]
            want[tuple(index)] = tensors.each(lambda a: unit.code(a, out), part)
        return want, fault

    def listed(self, node, units):
        """Whether the manifest's multipliers are those of the units."""
        given = node.get("parameters", {}).get("multiplier")
        if given is None or units[0].k["encoding"] != "multiplier":
            return ""
        derived = [u.listed[0] for u in units]
        return "" if list(given) == derived else f"multipliers {given[:4]}, derived {derived[:4]}"

    def products(self, node):
        """Centred products in reduction order [..., k], and the channel axis."""
        x, w = (self.centred(v) for v in node["inputs"][:2])
        if node["op"] == "fc":
            return x[..., None, :] * w, -1
        if node["op"] == "matmul":
            a = x.swapaxes(-1, -2) if node["attributes"]["transpose_a"] else x
            b = w if node["attributes"]["transpose_b"] else w.swapaxes(-1, -2)
            return a[..., :, None, :] * b[..., None, :, :], -1
        found = self.bundle.load(node["outputs"][0])
        seen = fields(x, node["attributes"], found.shape[2:])
        group, o = node["attributes"]["group"], w.shape[0]
        cg, og = w.shape[1], o // group
        spatial, rank = found.shape[2:], len(found.shape) - 2
        out = np.empty((x.shape[0], o) + tuple(spatial) + (cg * seen.shape[-1],), np.int64)
        for c in range(o):
            part = seen[:, c // og * cg:(c // og + 1) * cg]
            part = np.moveaxis(part, 1, -2).reshape(out[:, c].shape)
            out[:, c] = part * w[c].reshape([1] * (rank + 1) + [-1])
        return out, 1

    def scale_numbers(self, name):
        """Of weights per block: the number of each one's scale."""
        entry = self.bundle.entry[name]
        axis, block, shape = entry["axis"], entry["block"], list(entry["shape"])
        extent, shape[axis] = shape[axis], -(-shape[axis] // block)
        numbers = np.arange(math.prod(shape)).reshape(shape)
        return np.repeat(numbers, block, axis).take(range(extent), axis)

    def by_block(self, node, rec, products):
        """What the blocks of each filter come to, and the channels' scales."""
        k, name = rec["blocks"], node["inputs"][1]
        if node["op"] == "matmul":
            raise Unknown("a matrix by block")
        numbers = self.scale_numbers(name)
        channels = numbers.shape[0]
        scales = self.bundle.scale(name).reshape(channels, -1)
        max_multiplier = 2 ** k["multiplier_bits"] - 1
        terms = np.zeros(products.shape[:-1] + (scales.shape[1],), np.int64)
        units = []
        for c in range(channels):
            at = (slice(None),) * (1 if node["op"] == "conv" else products.ndim - 2) + (c,)
            largest = float(scales[c].max())
            if k["unit"] == "largest":
                unit = f32(largest / max_multiplier)
            else:
                unit = f32(2.0 ** (math.frexp(largest)[1] - k["multiplier_bits"]))
            units.append(f32(unit * f32(2.0 ** k["shift"])))
            filters = (numbers[c] - numbers[c].min()).reshape(-1)
            for b in range(scales.shape[1]):
                m = min(rounded(Fraction(float(scales[c, b]) / float(unit)),
                                k["multiplier_round"]), max_multiplier)
                total = products[at][..., filters == b].sum(-1)
                terms[at + (Ellipsis, b)] = tensors.each(
                    lambda s: shifted(narrow(s, k["sum_bits"], k["sum_overflow"]) * m, k["shift"],
                                      k["round"]), total)
        return terms, np.array(units, f32)

    def weighted(self, node, rec):
        products, axis = self.products(node)
        bias = 0
        if len(node["inputs"]) > 2 and node["inputs"][2]:
            b = self.bundle.load(node["inputs"][2])
            rank = products.ndim - 1
            bias = b.reshape([-1 if a == axis % rank else 1 for a in range(rank)])
        if rec["accumulator"]["saturate_pairs"]:
            raise Unknown("pairs of products")
        rule, scales = rec["accumulator"], None
        if "block" in self.bundle.entry[node["inputs"][1]]:
            products, scales = self.by_block(node, rec, products)
            rule = dict(rule, block=1)
        acc = accumulate(rule, products, bias)
        name = node["outputs"][0]
        dumped = self.bundle.accumulators(name)
        if dumped is None or not np.array_equal(dumped, acc):
            return "accumulators differ"
        want, fault = self.finish(node, rec, acc, axis,
                                  self.bundle.scale(node["inputs"][1]) if scales is None else scales)
        return fault or tensors.compare(self.bundle.load(name), want)

    def pairs(self, node, rec):
        """add, sub, mul"""
        b, out = self.bundle, Output(self.bundle, node)
        x, y = (self.centred(v) for v in node["inputs"])
        if node["op"] == "mul":
            want, fault = self.finish(node, rec, x * y, -1, b.scale(node["inputs"][1]))
            return fault or tensors.compare(b.load(node["outputs"][0]), want)
        s1, s2 = (f32(b.scale(v)) for v in node["inputs"])
        function = adder(rec, s1, s2, out, -1 if node["op"] == "sub" else 1)
        return tensors.compare(b.load(node["outputs"][0]), tensors.each(function, x, y))

    def pool(self, node, rec):
        b, out = self.bundle, Output(self.bundle, node)
        name, a = node["inputs"][0], node["attributes"]
        x, found, zero = b.load(name), b.load(node["outputs"][0]), int(b.zero(name))
        if node["op"] in ("max_pool", "avg_pool"):
            if node["op"] == "max_pool":
                return self.max_pool(node, x, found, rec, out)
            inside = fields(np.ones_like(x), a, found.shape[2:]).sum(-1)
            sums = fields(x, a, found.shape[2:]).sum(-1)
            sides = [int(n) for n in a["kernel"]]
            if a["count_include_pad"]:
                _, _, _, begin, end = tensors.windows(a, x.ndim - 2)
                held = np.pad(np.ones_like(x), [(0, 0), (0, 0)] + list(zip(begin, end)),
                              constant_values=1)
                none = dict(a, pad_begin=[0] * (x.ndim - 2), pad_end=[0] * (x.ndim - 2))
                counts = fields(held, none, found.shape[2:]).sum(-1)
                sums = sums + (counts - inside) * zero
            else:
                counts = inside
        else:
            axes = tuple(n % x.ndim for n in a.get("axes") or range(2, x.ndim))
            sides = [x.shape[n] for n in sorted(axes)]
            sums = x.sum(axes)
            counts = np.full_like(sums, int(np.prod(sides)))
        sums = accumulate(rec["accumulator"], sums[..., None], 0)
        function = pooler(node["op"], rec, f32(b.scale(name)), zero, out, sides,
                          bool(a.get("count_include_pad")))
        return tensors.compare(found, tensors.each(function, sums, counts).reshape(found.shape))

    def max_pool(self, node, x, found, rec, out):
        a = node["attributes"]
        _, _, _, begin, end = tensors.windows(a, x.ndim - 2)
        padded = np.pad(x, [(0, 0), (0, 0)] + list(zip(begin, end)), constant_values=-(2**40))
        none = dict(a, pad_begin=[0] * (x.ndim - 2), pad_end=[0] * (x.ndim - 2))
        maxima = fields(padded, none, found.shape[2:]).max(-1)
        return self.codes(node, rec, out, maxima, found)

    def change(self, node, rec):
        """rescale, relu, clip"""
        x, found = self.bundle.load(node["inputs"][0]), self.bundle.load(node["outputs"][0])
        return self.codes(node, rec, Output(self.bundle, node), x, found)

    def codes(self, node, rec, out, codes, found):
        name = node["inputs"][0]
        s_in, zero = f32(self.bundle.scale(name)), int(self.bundle.zero(name))
        if (s_in, zero) == (out.scale, out.zero) and node["op"] != "rescale":
            return tensors.compare(found, np.clip(codes, out.lo, out.hi))
        if rec["unary"]["rescale"] == "table":
            raise Unknown("a table")
        unit = Rescale(rec["rescale"], formed(rec["rescale"], s_in, f32(1), out.scale, True),
                       (s_in, f32(1), out.scale))
        return tensors.compare(found, tensors.each(lambda q: unit.code(q - zero, out), codes))

    def lrn(self, node, rec):
        """Channels first."""
        k, name, a = rec["lrn"], node["inputs"][0], node["attributes"]
        d, out, s_in = self.centred(name), Output(self.bundle, node), f32(self.bundle.scale(name))
        before = (a["size"] - 1) // 2
        squares = np.pad(d * d, [(0, 0), (before, a["size"] - 1 - before)] + [(0, 0)] * (d.ndim - 2))
        sums = sum(squares[:, j:j + d.shape[1]] for j in range(a["size"]))
        bias, alpha, beta = (Decimal(float(f32(a[n]))) for n in ("bias", "alpha", "beta"))
        places = k["bits"] - math.frexp(float(bias**-beta))[1]

        def entry(s):
            base = bias + alpha / a["size"] * Decimal(float(s_in))**2 * int(s)
            return rounded(Fraction(base**-beta) * Fraction(2)**places, k["round"])

        def gain(s):
            e = max(int(s).bit_length() - k["cells"] - 1, 0)
            low = entry(s >> e << e)
            if not k["interpolate"]:
                return low
            high = entry(((s >> e) + 1) << e)
            return low + shifted((high - low) * (s % 2**e), e, k["round"])
        w = f32(2.0**-places)
        unit = Rescale(rec["rescale"], formed(rec["rescale"], s_in, w, out.scale, True),
                       (s_in, w, out.scale))
        want = tensors.each(lambda x, s: unit.code(x * gain(s), out), d, sums)
        return tensors.compare(self.bundle.load(node["outputs"][0]), want)

    def quantize(self, node, rec):
        k, b, out = rec["convert"], self.bundle, Output(self.bundle, node)
        x = np.load(os.path.join(b.path, b.entry[node["inputs"][0]]["file"]))
        wide = k["division"] == "divide-float64"
        x = x.astype(np.float64) if wide else x
        f = x * f32(f32(1) / out.scale) if k["division"] == "reciprocal" else x / out.scale
        inside = k["zero_point"] == "inside"
        f = (f + f32(out.zero) if inside else f).astype(np.float64 if wide else f32)
        want = np.array([out.clamp(to_int(v, k["round"]) + (0 if inside else out.zero))
                         for v in f.flat]).reshape(x.shape)
        return tensors.compare(b.load(node["outputs"][0]), want)

    def dequantize(self, node, rec):
        b, name = self.bundle, node["inputs"][0]
        x, s = self.centred(name), f32(b.scale(name))
        want = (f32(x) * s if rec["convert"]["dequantize"] == "float32"
                else (x.astype(np.float64) * np.float64(s)).astype(f32))
        found = np.load(os.path.join(b.path, b.entry[node["outputs"][0]]["file"]))
        return "" if np.array_equal(found, want.astype(f32)) else "floats differ"


CHECKS = {"conv": Model.weighted, "fc": Model.weighted, "matmul": Model.weighted,
          "add": Model.pairs, "sub": Model.pairs, "mul": Model.pairs, "max_pool": Model.pool,
          "avg_pool": Model.pool, "global_avg_pool": Model.pool, "reduce_mean": Model.pool,
          "reduce_sum": Model.pool, "rescale": Model.change, "relu": Model.change,
          "clip": Model.change, "lrn": Model.lrn, "quantize": Model.quantize, "dequantize": Model.dequantize}


def main(paths):
    count = failed = 0
    for path in paths:
        model = Model(path)
        nodes, codes, unknown, faults = 0, 0, set(), []
        for node in model.bundle.manifest["nodes"]:
            check = CHECKS.get(node["op"])
            data = [v for v in node["inputs"] + node["outputs"] if v]
            if check is None or not any(model.bundle.quantized(v) for v in data):
                continue
            try:
                fault = check(model, node, model.rule(node))
            except Unknown as what:
                unknown.add(f"{node['op']}: {what}")
                continue
            nodes += 1
            codes += int(np.prod(model.bundle.entry[node["outputs"][0]]["shape"]))
            if fault:
                faults.append(f"{node['op']} {node['name']}: {fault}")
        count += 1
        failed += bool(faults) or nodes == 0
        print(f"{'not ok' if faults or nodes == 0 else 'ok'} {count} - {os.path.basename(path)}: "
              f"{nodes} nodes, {codes} elements")
        for line in faults[:8]:
            print("# " + line)
        for line in sorted(unknown):
            print("# not modelled: " + line)
    print(f"1..{count}")
    return 1 if failed or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

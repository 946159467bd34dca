"""A small device: the nodes of a golden bundle computed with the bundle's own parameters. Every attribute of a Node may
be changed before `codes`; that is a fault. Where the unchanged node does not give golden's codes the device does not
know the arithmetic (`Device.known`), and nothing is planted or computed there."""
import numpy as np

import rescales
from bundle import in_force
from moves import Moves
from rescales import f32
from rows import Rows

INSIDE = {"reshape", "concat", "transpose", "pad", "slice", "tile", "reverse", "depth_to_space"}
STATE = ("read", "assign")
CALLED = {"sub": "add", "clip": "relu", "pad": "padding", "tile": "tiled"}


def floats(bits):
    return np.array(bits, np.uint32).view(np.float32)


def clip(x, lo, hi):
    return np.minimum(np.maximum(x, lo), hi)


class Node(Rows, Moves):
    """values: {name: array} of everything before it."""

    def __init__(self, bundle, index, values):
        entry = bundle.nodes[index]
        self.bundle, self.index, self.op, self.name = bundle, index, entry["op"], entry["name"]
        self.inputs, self.output = entry["inputs"], entry["outputs"][0]
        self.attr, p = dict(entry["attributes"]), entry.get("parameters", {})
        self.p, self.record = p, in_force(bundle.record, entry["op"])
        self.shape = bundle.tensor[self.output]["shape"]
        self.low, self.high = bundle.span(self.output)
        self.x = [values[i] for i in self.inputs if i in values]
        constants = [bundle.codes(i) for i in self.inputs if i in bundle.constant]
        self.w, self.b = (constants + [None, None])[:2] if self.op in ("conv", "fc") else (None, None)
        if self.op not in ("conv", "fc"):
            self.x += constants
        zeros = p.get("input_zero_points", [0])
        self.zx, self.zw = list(zeros[:len(self.x)]), zeros[1] if self.w is not None and len(zeros) > 1 else 0
        self.zero = p.get("zero_point", [0])[0]
        self.lo, self.hi = p.get("range", [self.low, self.high])
        self.nhwc = self.attr.get("layout") == "nhwc" or bundle.tensor[self.output].get("layout") == "NHWC"
        self.axis = len(self.shape) - 1 if self.nhwc or len(self.shape) < 4 else 1
        self.rule = rescales.rule_of(self.record)
        self.m = self.multipliers("") if self.rule else None
        self.s = self.shifts("") if self.rule else None
        self.store = self.rule["store"] if self.rule else "saturate"
        self.pad_code = self.zx[0] if self.zx else 0
        self.pad, self.stride = list(self.attr.get("pad_begin", [])), list(self.attr.get("stride", []))
        k = self.record["accumulator"]
        self.sum = {"bits": int(k["bits"]), "overflow": k["overflow"], "order": k["order"], "lanes": int(k["lanes"]), "bias": k["bias"]}
        self.tile = None  # (rows, columns) of output that see nothing of their neighbours
        self.count = None  # a pool's divisor
        self.include_pad = self.attr.get("count_include_pad", False)
        self.pool_round = self.record["pool"]["round"]
        self.table = np.array(p["table"]) if "table" in p else None
        self.sign = -1 if self.op == "sub" else 1
        self.m_negative = self.s_negative = None
        if self.rule and "shift_negative" in p:
            self.m_negative, self.s_negative = self.multipliers("_negative"), self.shifts("_negative")
        elif self.rule and "scale_bits_negative" in p:
            self.m_negative, self.s_negative = self.multipliers("_negative"), self.s
        self.last, self.fine = self.record["resize"]["round"] if self.op == "resize" else "half-away", int(self.record["resize"]["bits"])  # softmax's last rounding, resize's fraction

    # ---- parameters ----
    def multipliers(self, suffix):
        if "scale_bits" + suffix in self.p:
            return floats(self.p["scale_bits" + suffix])
        return np.array(self.p.get("multiplier" + suffix, [1]), np.int64)

    def shifts(self, suffix):
        return rescales.right_shift(self.rule, np.array(self.p.get("shift" + suffix, [0]), np.int64))

    def channels(self, values):
        """An array a channel, to go with the output."""
        return values if len(values) == 1 else values.reshape([-1 if i == self.axis else 1 for i in range(len(self.shape))])

    # ---- ends ----
    def end(self, acc, m=None, s=None):
        """The code of sums in the output's shape."""
        m, s = self.channels(self.m if m is None else m), self.channels(self.s if s is None else s)
        if self.rule["encoding"] == "float32" and self.rule["zero_point"] == "inside":
            value = rescales.to_integer(acc.astype(f32) * m.astype(f32) + f32(self.zero), self.rule["steps"][-1][1])
        else:
            value = rescales.scaled(self.rule, acc, m, s) + self.zero
        return self.stored(value)

    def stored(self, value):
        if self.store == "wrap":
            return rescales.wrap(value, (self.high - self.low).bit_length(), self.low < 0)
        return clip(value, self.lo, self.hi)

    # ---- windows ----
    def places(self, extent, out, axis, kernel):
        """[out, kernel] input places and whether they are inside."""
        at = (np.arange(out) * self.stride[axis] - self.pad[axis])[:, None] + np.arange(kernel) * self.attr["dilation"][axis]
        inside = (at >= 0) & (at < extent)
        if self.tile and self.tile[axis]:
            size = self.tile[axis]
            inside &= at // (size * self.stride[axis]) == (np.arange(out) // size)[:, None]
        return np.clip(at, 0, extent - 1), inside

    def seen(self, x):
        """x [N,C,H,W] -> codes and inside [N,C,oh,ow,kh,kw]"""
        oh, ow = self.shape[1:3] if self.nhwc else self.shape[2:]
        kh, kw = self.attr["kernel"]
        (r, rin), (c, cin) = self.places(x.shape[2], oh, 0, kh), self.places(x.shape[3], ow, 1, kw)
        codes = x[:, :, r[:, None, :, None], c[None, :, None, :]]
        return codes, rin[:, None, :, None] & cin[None, :, None, :]

    def image(self, x):
        return np.moveaxis(x, -1, 1) if self.nhwc else x

    def back(self, y):
        return np.moveaxis(y, 1, -1) if self.nhwc else y

    # ---- nodes ----
    def conv(self):
        codes, inside = self.seen(self.image(self.x[0]))
        centred = np.where(inside, codes, self.pad_code) - self.zx[0]
        n, c, oh, ow, kh, kw = centred.shape
        group = self.attr["group"]
        parts = centred.reshape(n, group, c // group, oh * ow, kh * kw)
        order = (0, 1, 4, 2, 3) if self.nhwc else (0, 1, 2, 4, 3)
        terms = parts.transpose(order).reshape(n, group, -1, oh * ow)
        w = (self.w - self.zw).reshape(group, self.w.shape[0] // group, -1)
        acc = accumulate(w, terms, self.bias(w), self.sum)
        return self.end(self.back(acc.reshape(n, -1, oh, ow)))

    def bias(self, w):
        size = w.shape[0] * w.shape[1]
        return (np.zeros(size, np.int64) if self.b is None else self.b).reshape(w.shape[:2])

    def fc(self):
        w = (self.w - self.zw)[None]
        x = (self.x[0] - self.zx[0]).reshape(-1, w.shape[-1])
        acc = accumulate(w, x.T[None, None], self.bias(w), self.sum)
        return self.end(acc[0, 0].T.reshape(self.shape))

    def add(self):
        a, b = (x - z for x, z in zip(self.x, self.zx))
        kind, k = self.record["add"]["kind"], self.p.get("constants")
        if kind == "left-shift":
            (m1, s1), (m2, s2) = self.operands()
            return self.end(rescales.scaled(self.rule, a << k[0], m1, s1) + self.sign * rescales.scaled(self.rule, b << k[0], m2, s2))
        mode = self.record["add"]["round"]
        if kind == "common-exponent":
            return self.stored(rescales.shift_right(a * k[0] + self.sign * b * k[1], k[2], mode) + self.zero)
        if kind == "align-power-of-two":
            fine = self.record["add"]["align_round"]
            total = rescales.shift_right(a << k[2], k[0], fine) + self.sign * rescales.shift_right(b << k[2], k[1], fine)
            return self.stored(rescales.shift_right(total, k[3], mode) + self.zero)
        ra, rb, fixed = (floats([v])[0].astype(np.float64) for v in k[:3])
        inner = f32(self.x[1] * rb + fixed).astype(np.float64)
        added = 0 if self.record["add"]["zero_point"] == "inside" else self.zero
        return self.stored(rescales.to_integer(f32(self.x[0] * ra + inner), mode) + added)

    def operands(self):
        return [(self.multipliers(s), self.shifts(s)) for s in ("_1", "_2")]

    def mul(self):
        return self.end((self.x[0] - self.zx[0]) * (self.x[1] - self.zx[1]))

    def averages(self, total, count):
        """total: of raw codes"""
        kind = self.record["pool"]["kind"]
        if kind == "divide":
            return self.stored(divide_each(total, count, self.pool_round))
        return self.end(total - count * self.zx[0])

    def avg_pool(self):
        codes, inside = self.seen(self.image(self.x[0]))
        count = np.broadcast_to(inside, codes.shape).sum((-1, -2))
        total = np.where(inside, codes, self.zx[0] if self.include_pad else 0).sum((-1, -2))
        if self.include_pad:
            count = np.full_like(count, self.attr["kernel"][0] * self.attr["kernel"][1])
        if self.count:
            total, count = total + (self.count - count) * self.zx[0], np.full_like(count, self.count)
        return self.back(self.averages(total, count)) if self.record["pool"]["kind"] == "divide" else self.averages(self.back(total), self.back(count))

    def global_avg_pool(self):
        axes = (1, 2) if self.nhwc else (2, 3)
        total = self.x[0].sum(axes, keepdims=True)
        size = self.x[0].size // total.size
        count = self.count or size
        return self.averages(total + (count - size) * self.zx[0], np.full_like(total, count)).reshape(self.shape)

    def max_pool(self):
        codes, inside = self.seen(self.image(self.x[0]))
        outside = self.low if self.pad_code == self.zx[0] else self.pad_code
        return self.back(self.stored(np.where(inside, codes, outside).max((-1, -2))))

    def relu(self):
        return self.stored(self.x[0])

    def tabled(self):
        return self.table[self.x[0] - self.bundle.span(self.inputs[0])[0]].astype(np.int64)

    def quantize(self):
        scale = f32(self.bundle.entry(self.output)["scale"])
        return self.stored(rescales.to_integer(self.x[0] / scale, self.rule["steps"][-1][1] if self.attr.get("mode") else
                                               self.record["convert"]["round"]) + self.zero)

    def dequantize(self):
        return ((self.x[0] - self.zx[0]).astype(f32) * f32(self.bundle.entry(self.inputs[0])["scale"])).astype(f32)

    def codes(self):
        if self.table is not None:
            return self.tabled()
        return getattr(self, CALLED.get(self.op, self.op))()

    def rounded(self, x, bits):
        """What resize mixed, as a code."""
        return self.stored(rescales.shift_right(x, bits, self.last))


def divide_each(total, count, mode):
    out = np.zeros(total.shape, np.int64)
    for c in np.unique(count):
        out[count == c] = rescales.divide(total[count == c], int(c), mode)
    return out


def step(value, rule):
    half = 1 << rule["bits"] - 1
    return rescales.wrap(value, rule["bits"]) if rule["overflow"] == "wrap" else clip(value, -half, half - 1)


def accumulate(w, terms, bias, rule):
    """w [g, o, k], terms [n, g, k, p], bias [g, o] -> [n, g, o, p]"""
    bias = bias[None, :, :, None]
    if rule["overflow"] != "saturate-each-step":
        exact = np.matmul(w.astype(np.float64), terms.astype(np.float64)).astype(np.int64)
        return step(exact + bias, rule)
    size = w.shape[-1]
    order = range(size) if rule["order"] == "forward" else range(size - 1, -1, -1)
    shape = (terms.shape[0],) + w.shape[:2] + terms.shape[3:]
    sums = [np.zeros(shape, np.int64) for _ in range(rule["lanes"])]
    total = step(bias * (rule["bias"] == "first") + np.zeros(shape, np.int64), rule)
    if rule["lanes"] == 1:
        sums[0] = total
    for i in order:
        lane = i % rule["lanes"]
        sums[lane] = step(sums[lane] + w[None, :, :, i, None] * terms[:, :, None, i], rule)
    if rule["lanes"] == 1:
        total = sums[0]
    else:  # each lane from nothing, added in order to what the sum begins with
        for lane in sums:
            total = step(total + lane, rule)
    return step(total + bias, rule) if rule["bias"] == "last" else total


class Device:
    """A network that runs: which nodes are known, and everything behind a node computed again."""

    def __init__(self, bundle):
        self.bundle = bundle
        self.golden = {t["name"]: bundle.codes(t["name"]) for t in bundle.tensors}
        self.known = [self.agrees(i) for i in range(len(bundle.nodes))]

    def agrees(self, index):
        node = Node(self.bundle, index, self.golden)
        if (node.rule is None and node.op not in INSIDE) or not (node.table is not None or hasattr(node, CALLED.get(node.op, node.op))):
            return False
        if node.op in ("conv", "fc") and (node.m.dtype == f32) != (node.rule["encoding"] == "float32"):
            return False
        try:
            made = node.codes()
        except (AttributeError, KeyError, IndexError, TypeError, ValueError):
            return False
        return made.shape == tuple(node.shape) and np.array_equal(made, self.golden[node.output])

    def node(self, index, values=None):
        """Of a node that is not known the codes are golden's, which a fault of stored codes begins with."""
        node = Node(self.bundle, index, self.golden if values is None else values)
        if not self.known[index]:
            node.codes = lambda: self.golden[node.output]
        return node

    def behind(self, index, codes, values=None):
        """The values of a device whose node gave these codes; values that depend on a node that is not known are
        missing."""
        before = dict(self.golden if values is None else values)
        before[self.bundle.nodes[index]["outputs"][0]] = codes
        changed = {self.bundle.nodes[index]["outputs"][0]}
        for i in range(index + 1, len(self.bundle.nodes)):
            entry = self.bundle.nodes[i]
            if not changed & set(entry["inputs"]):
                continue
            changed |= set(entry["outputs"])
            ready = all(v in before or v in self.bundle.constant for v in entry["inputs"])
            for out in entry["outputs"]:
                before.pop(out, None)
            if ready and self.known[i] and entry["op"] not in STATE:
                before[entry["outputs"][0]] = Node(self.bundle, i, before).codes()
        return before

"""A device: the nodes of a golden bundle computed in Python's integers, by TFLite's arithmetic as it is written down here,
and its dumps as .npy files. Every attribute of a Node may be changed before `codes`. Shares no code with the library."""
import json
import os
import struct

CODES = {"|i1": "b", "|u1": "B", "<i2": "h", "<i4": "i", "<i8": "q", "<f4": "f", "|b1": "?"}


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<H", data[8:10])[0]
    head = eval(data[10:10 + size].decode())  # a literal that NumPy's format asks for
    code = CODES[head["descr"]]
    return list(head["shape"]), head["descr"], list(struct.unpack(f"<{(len(data) - 10 - size) // struct.calcsize(code)}{code}", data[10 + size:]))


def write(path, shape, descr, values):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''}), }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{CODES[descr]}", *values))


# ---- TFLite's arithmetic ----

def high_mul(a, b):
    n = a * b
    n += (1 << 30) if n >= 0 else 1 - (1 << 30)
    return n >> 31 if n >= 0 else -((-n) >> 31)


def divide_by_power(x, e):
    mask = (1 << e) - 1
    return (x >> e) + ((x & mask) > (mask >> 1) + (x < 0))


def rescale(x, m, shift):
    left, right = max(shift, 0), max(-shift, 0)
    return divide_by_power(high_mul(x << left, m), right)


def rescale_floor(x, m, shift):
    return (x * m) >> (31 - shift)


def clamp(x, lo, hi):
    return min(max(x, lo), hi)


def wrap(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


class Node:
    """A node of the bundle with all that it reads; every attribute may be changed before `codes`."""

    def __init__(self, bundle, name):
        m = json.load(open(os.path.join(bundle, "manifest.json")))
        node = next(n for n in m["nodes"] if n["name"] == name or name in n["outputs"])
        tensor = {t["name"]: t for t in m["tensors"]}
        constant = {c["name"]: c for c in m["constants"]}
        self.name, self.op, self.output = node["name"], node["op"], node["outputs"][0]
        self.out = tensor[self.output]
        self.attr, p = node["attributes"], node["parameters"]
        self.p = p
        self.ins = [read(os.path.join(bundle, (tensor if i in tensor else constant)[i]["file"])) for i in node["inputs"]]
        self.shape = self.out["shape"]
        self.zx = p["input_zero_points"][0]
        self.zero = p["zero_point"][0]
        self.lo, self.hi = p["range"]
        channels = self.shape[1] if len(self.shape) > 1 else 1
        self.m = (p.get("multiplier", [0]) * channels)[:max(channels, len(p.get("multiplier", [0])))]
        self.s = (p.get("shift", [0]) * channels)[:max(channels, len(p.get("shift", [0])))]
        self.x, self.w, self.b = self.ins[0][2], None, None
        if self.op in ("conv", "fc"):
            self.w, self.b = list(self.ins[1][2]), list(self.ins[2][2])
        self.rescale, self.store = rescale, lambda v: clamp(v, self.lo, self.hi)
        self.acc = lambda terms, bias: bias + sum(terms)
        self.y = self.ins[1][2] if self.op == "add" else None
        self.zeros, self.rescales = p["input_zero_points"], (rescale, rescale)
        self.pad_code = self.zx
        self.tile = None
        self.pad, self.stride = self.attr.get("pad_begin"), self.attr.get("stride")

    def end(self, acc, c):
        return self.store(self.rescale(acc, self.m[c], self.s[c]) + self.zero)

    def conv(self):
        n, cin, h, w = self.ins[0][0]
        _, cout, oh, ow = self.shape
        kh, kw = self.attr["kernel"]
        group = self.attr["group"]
        per = cin // group
        out = []
        for o in range(cout):
            first = o // (cout // group) * per
            filt = self.w[o * per * kh * kw:(o + 1) * per * kh * kw]
            for y in range(oh):
                for x in range(ow):
                    terms = []
                    for c in range(per):
                        for i in range(kh):
                            yy = y * self.stride[0] - self.pad[0] + i
                            for j in range(kw):
                                xx = x * self.stride[1] - self.pad[1] + j
                                inside = 0 <= yy < h and 0 <= xx < w
                                if inside and self.tile:
                                    inside = yy // (self.tile * self.stride[0]) == y // self.tile
                                v = self.x[((first + c) * h + yy) * w + xx] if inside else self.pad_code
                                terms.append((v - self.zx) * filt[(c * kh + i) * kw + j])
                    out.append(self.end(self.acc(terms, self.b[o]), o))
        return out

    def fc(self):
        k = self.ins[0][0][-1]
        return [self.end(self.acc([(self.x[i] - self.zx) * self.w[o * k + i] for i in range(k)], self.b[o]), o)
                for o in range(self.shape[-1])]

    def pool(self, divisor=None, floor=False):
        n, c, h, w = self.ins[0][0]
        count = divisor or h * w
        out = []
        for k in range(c):
            total = sum(self.x[k * h * w:(k + 1) * h * w])
            if divisor:
                total += (divisor - h * w) * self.zx
            out.append(clamp(total // count if floor else (total + count // 2) // count if total > 0 else -((-total + count // 2) // count), self.lo, self.hi))
        return out

    def add(self):
        p, bits = self.p, self.p["constants"][0]
        (za, zb), (ra, rb) = self.zeros, self.rescales
        return [self.end(ra((a - za) << bits, p["multiplier_1"][0], p["shift_1"][0]) +
                         rb((b - zb) << bits, p["multiplier_2"][0], p["shift_2"][0]), 0) for a, b in zip(self.x, self.y)]

    def codes(self):
        return {"add": self.add, "conv": self.conv, "fc": self.fc, "global_avg_pool": self.pool}[self.op]()

#!/usr/bin/env python3
"""assay blame on faults whose cause is known: blame.py ASSAY SOURCE   (TAP)

A golden bundle of a shipped network; then one node at a time by the arithmetic written down here, with one thing wrong.
Nothing behind the node is dumped. Shares no code with the library; integers are Python's."""
import json
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support"))
from tap import Tap  # noqa: E402

ASSAY, SOURCE = sys.argv[1], sys.argv[2]
SEED = int(os.environ.get("BLAME_SEED", "16"))
CODES = {"|i1": "b", "|u1": "B", "<i4": "i", "<i8": "q", "<f4": "f", "|b1": "?"}


# ---- .npy ----

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


# ---- faults: (class, others that say the same, change of the node or of its codes) ----

def change(**what):
    def apply(n):
        for k, v in what.items():
            setattr(n, k, v(n) if callable(v) and k not in ("rescale", "store", "acc") else v)
        return n.codes()
    return apply


def after(f):
    return lambda n: f(n, n.codes())


def plane(n):
    return n.shape[2] * n.shape[3]


def rolled(values, by, size=1):
    k = by * size
    return values[k:] + values[:k]


def filter_size(n):
    return len(n.w) // n.shape[1]


def one(values, i, v):
    return values[:i] + [v] + values[i + 1:]


def saturating(bits):
    def acc(terms, bias):
        s, top = clamp(bias, -(1 << bits - 1), (1 << bits - 1) - 1), (1 << bits - 1) - 1
        for t in terms:
            s = clamp(s + t, -top - 1, top)
        return s
    return acc


def stuck(bit, value):
    return after(lambda n, y: [wrap(v | 1 << bit if value else v & ~(1 << bit), 8) for v in y])


def lanes(l, r, code):
    return after(lambda n, y: [code if i // plane(n) % l == r else v for i, v in enumerate(y)])


def transposed(n, y):
    c, h, w = n.shape[1:]
    return [y[k * h * w + i] for i in range(h * w) for k in range(c)]


def stale_rows(first, size, code=None):
    """`size` rows from `first` on were not written: they hold those before them, or a code."""
    def change_of(n, y):
        width = n.shape[3]
        return [v if not first <= k // width % n.shape[2] < first + size else y[k - size * width] if code is None else code for k, v in enumerate(y)]
    return after(change_of)


def edge_copies(tile):
    def f(n, y):
        w, h = n.shape[3], n.shape[2]
        return [y[i - w] if i // w % h % tile == 0 and i // w % h else v for i, v in enumerate(y)]
    return after(f)


def flipped_filters(n):
    k = n.attr["kernel"][0] * n.attr["kernel"][1]
    return [v for f in range(len(n.w) // k) for v in reversed(n.w[f * k:(f + 1) * k])]


STEM, DEPTHWISE, POINT = "/stem/act/Clip_output_0", "/block3/dw/act/Clip_output_0", "/block6/pw/bn/BatchNormalization_output_0"
ADD, FULL, POOL = "/block6/relu/Relu_output_0", "logits", "/pool/GlobalAveragePool_output_0"
FAULTS = [
    (STEM, "rescale.rounding", change(rescale=rescale_floor)),
    (POINT, "rescale.rounding", change(rescale=rescale_floor)),
    (STEM, "rescale.multiplier", change(m=lambda n: one(n.m, 3, n.m[3] ^ 1 << 25))),
    (POINT, "rescale.multiplier", change(m=lambda n: one(n.m, 7, n.m[7] ^ 1 << 26))),
    (STEM, "rescale.shift", change(s=lambda n: [v - 1 for v in n.s])),
    (POINT, "rescale.shift", change(s=lambda n: one(n.s, 5, n.s[5] + 1))),
    (STEM, "rescale.channel", change(m=lambda n: rolled(n.m, 1), s=lambda n: rolled(n.s, 1))),
    (POINT, "rescale.channel", change(m=lambda n: n.m[:1] * len(n.m), s=lambda n: n.s[:1] * len(n.s))),
    (STEM, "rescale.zero_point", change(zero=-120)),
    (POINT, "rescale.zero_point", change(zero=0)),
    (STEM, "saturation.missing", change(store=lambda v: wrap(v, 8))),
    (STEM, "saturation.bounds", change(hi=-90)),
    (POINT, "saturation.bounds", change(lo=lambda n: n.zero)),
    (POINT, "accumulator.width", change(acc=lambda t, b: wrap(b + sum(t), 14))),
    (FULL, "accumulator.width", change(acc=saturating(13))),
    (FULL, "accumulator.order", change(acc=lambda t, b: saturating(13)(list(reversed(t)), b))),
    (STEM, "bias.missing", change(b=lambda n: [0] * len(n.b))),
    (POINT, "bias.missing", change(b=lambda n: one(n.b, 4, 0))),
    (STEM, "bias.channel", change(b=lambda n: rolled(n.b, 1))),
    (POINT, "weights.stale", change(w=lambda n: n.w[:64] + [0] * (len(n.w) - 64))),
    (STEM, "weights.stale", change(w=lambda n: rolled(n.w, 4, filter_size(n)))),
    (DEPTHWISE, "weights.layout", change(w=flipped_filters)),
    (POINT, "weights.layout", change(w=lambda n: [n.w[i * n.shape[1] + o] for o in range(n.shape[1]) for i in range(filter_size(n))]
                                     if filter_size(n) == n.shape[1] else
                                     [n.w[k] for o in range(filter_size(n)) for k in range(o, len(n.w), filter_size(n))])),
    (POINT, "weights.sign", change(w=lambda n: [v & 255 for v in n.w])),
    (DEPTHWISE, "input.zero_point", change(zx=0, pad_code=0)),
    (POINT, "input.zero_point", change(zx=lambda n: n.zx + 1)),
    (STEM, "padding.value", change(pad_code=-128)),
    (DEPTHWISE, "padding.value", change(pad_code=0)),
    (STEM, "padding.place", change(pad=[2, 2])),
    (STEM, "padding.place", change(pad=[1, 0])),
    (DEPTHWISE, "padding.place", change(pad=[0, 0])),
    ("/block1/dw/act/Clip_output_0", "stride", change(stride=[1, 1])),
    (STEM, "tile.edge", change(tile=8)),
    (STEM, "tile.edge", edge_copies(8)),
    (STEM, "tile.edge", stale_rows(4, 4)),
    (STEM, "tile.edge", stale_rows(6, 4, 13)),
    (STEM, "lane", lanes(8, 3, 0)),
    (POINT, "lane", lanes(4, 1, -128)),
    (STEM, "stuck_bit", stuck(0, 1)),
    (POINT, "stuck_bit", stuck(6, 0)),
    (STEM, "sign", after(lambda n, y: [wrap(v ^ 128, 8) for v in y])),
    (POINT, "sign", change(x=lambda n: [v & 255 for v in n.x])),
    (STEM, "output.layout", after(transposed)),
    (POOL, "pool.divisor", lambda n: n.pool(divisor=32)),
    (ADD, "rescale.rounding", change(rescale=rescale_floor)),
    (ADD, "rescale.rounding", change(rescale=rescale_floor, rescales=(rescale_floor, rescale_floor))),
    (ADD, "operands.swapped", change(zeros=lambda n: n.zeros[::-1])),
    (ADD, "input.zero_point", change(zeros=lambda n: [n.zeros[0], 0])),
    (ADD, "rescale.zero_point", change(zero=-100)),
    (ADD, "saturation.bounds", change(lo=-60)),
    (ADD, "lane", lanes(16, 5, -128)),
    (ADD, "sign", change(x=lambda n: [v & 255 for v in n.x])),
    (POINT, "bias.channel", change(b=lambda n: one(n.b, 4, n.b[4 + 11]))),
    (POINT, "rescale.channel", change(m=lambda n: one(n.m, 9, n.m[9 + 13]), s=lambda n: one(n.s, 9, n.s[9 + 13]))),
    (STEM, "lane", after(lambda n, y: [y[i - 3 * plane(n)] if i // plane(n) % 8 == 6 else v for i, v in enumerate(y)])),
    (STEM, "tile.edge", change(tile=11)),
    (STEM, "output.layout", after(lambda n, y: [y[(k * 4 + c) * plane(n) + i] for k in range(n.shape[1] // 4) for i in range(plane(n)) for c in range(4)])),
    (STEM, "output.layout", after(lambda n, y: [y[i // 32 * 32 + 31 - i % 32] for i in range(len(y))])),
    (FULL, "lane", after(lambda n, y: [-9 if i % 4 == 1 else v for i, v in enumerate(y)])),
    (FULL, "weights.stale", change(w=lambda n: [0 if i % 96 < 32 else v for i, v in enumerate(n.w)])),
    (FULL, "bias.missing", change(b=lambda n: [0] * len(n.b))),
    (FULL, "rescale.rounding", change(rescale=rescale_floor)),
    (POOL, "pool.rounding", lambda n: n.pool(floor=True)),
    (POOL, "pool.divisor", lambda n: n.pool(divisor=17)),
    (POOL, "stuck_bit", stuck(2, 0)),
    (STEM, "unexplained", after(lambda n, y: [v ^ (1 << random.Random(SEED + i).randrange(7)) if i % 7 == 0 else v for i, v in enumerate(y)])),
]


# ---- running ----

def blame(golden, device, *options):
    r = subprocess.run([ASSAY, "blame", golden, device, "--json", "-", *options], capture_output=True, text=True)
    if r.returncode == 2:
        return 2, r.stderr
    if not r.stdout:
        sys.exit(f"blame ended with {r.returncode} and said nothing but: {r.stderr}")
    return r.returncode, json.loads(r.stdout)


def dump(golden, node, codes, to):
    """Everything up to the node, and the node's codes."""
    shutil.rmtree(to, ignore_errors=True)
    os.makedirs(to)
    tensors = json.load(open(os.path.join(golden, "manifest.json")))["tensors"]
    for t in tensors:
        if t["index"] < node.out["index"]:
            shutil.copy(os.path.join(golden, t["file"]), to)
    write(os.path.join(to, os.path.basename(node.out["file"])), node.shape, "|i1", codes)


def make_golden(scheme, folder, samples=1, *more):
    models = os.path.join(SOURCE, "datasets", "models")
    profile = os.path.join(folder, "profile.yaml")
    images = os.path.join(SOURCE, "datasets", "glyphs")
    if not os.path.exists(profile):
        subprocess.run([ASSAY, "profile", f"{models}/res_dsconv.onnx", "--dataset", f"{images}/calibration", "-n", "64", "-q", "-o", profile],
                       check=True, capture_output=True)
    inputs = [os.path.join(images, "test", f) for f in sorted(os.listdir(f"{images}/test")) if f.endswith(".png")][:samples]
    to = os.path.join(folder, f"{scheme}-{samples}{''.join(more)}")
    subprocess.run([ASSAY, "golden", f"{models}/res_dsconv.onnx", "-p", profile, "-s", scheme, "-o", to] +
                   [a for i in inputs for a in ("--input", i)] + list(more), check=True, capture_output=True)
    return to


# ---- more than one node, more than one cause ----

NEXT = "/block1/dw/act/Clip_output_0"  # reads the stem's output


def path_of(folder, node):
    return os.path.join(folder, os.path.basename(node.out["file"]))


def several(tap, golden, device):
    floor, noisy = change(rescale=rescale_floor), stuck(1, 1)
    stem, after_stem = Node(golden, STEM), Node(golden, NEXT)

    dump(golden, after_stem, after_stem.codes(), device)
    after_stem.x = lanes(8, 3, 0)(stem)
    write(path_of(device, stem), stem.shape, "|i1", after_stem.x)
    write(path_of(device, after_stem), after_stem.shape, "|i1", after_stem.codes())
    status, said = blame(golden, device)
    verdicts = {n["name"]: n["verdict"] for n in said["nodes"]}
    tap.check(status == 1 and [f["name"] for f in said["faults"]] == [STEM] and verdicts[NEXT] == "inherited", "the node behind a fault inherits it", said["faults"])

    write(path_of(device, after_stem), after_stem.shape, "|i1", noisy(after_stem))
    status, said = blame(golden, device)
    tap.check([(f["name"], f["class"]) for f in said["faults"]] == [(STEM, "lane"), (NEXT, "stuck_bit")], "a fault behind a fault", said["faults"])

    os.remove(path_of(device, stem))
    write(path_of(device, after_stem), after_stem.shape, "|i1", after_stem.codes())
    status, said = blame(golden, device)
    verdicts = {n["name"]: (n["verdict"], n.get("region")) for n in said["nodes"]}
    region = ["/stem/conv/Conv", "/block1/dw/conv/Conv"]
    tap.check([(f["name"], f["class"]) for f in said["faults"]] == [(STEM, "lane")] and verdicts[STEM] == verdicts[NEXT] == ("suspect", region),
              "a fault in a node that was not dumped", said["faults"], verdicts[STEM])

    stem = Node(golden, STEM)
    stem.rescale = rescale_floor
    dump(golden, stem, noisy(stem), device)
    status, said = blame(golden, device)
    tap.check(sorted(f["class"] for f in said["faults"]) == ["rescale.rounding", "stuck_bit"], "two causes in one node", said["faults"])

    stem = Node(golden, STEM)
    mask = [i % 3 != 0 for i in range(len(stem.codes()))]
    dump(golden, stem, [v if m else 77 for v, m in zip(floor(stem), mask)], device)
    write(os.path.join(device, os.path.basename(stem.out["file"])[:-4] + ".mask.npy"), stem.shape, "|b1", mask)
    status, said = blame(golden, device)
    tap.check([(f["class"], f["elements"]) for f in said["faults"]] == [("rescale.rounding", sum(mask))], "a tensor that was observed in part", said["faults"])
    behind_unseen(tap, golden, device, mask)


def behind_unseen(tap, golden, device, mask):
    """What reads a tensor at fault that was observed in part is at fault only where its cause does not say the rest."""
    stem, after = Node(golden, STEM), Node(golden, NEXT)
    for what, codes in (("its cause says the rest", change(rescale=rescale_floor)(stem)), ("nothing explains it", [7 * i * i % 101 for i in range(len(mask))])):
        dump(golden, stem, [v if m else 77 for v, m in zip(codes, mask)], device)
        write(os.path.join(device, os.path.basename(stem.out["file"])[:-4] + ".mask.npy"), stem.shape, "|b1", mask)
        after.x = codes
        write(path_of(device, after), after.shape, "|i1", after.codes())
        status, said = blame(golden, device)
        tap.check([f["name"] for f in said["faults"]] == [STEM], f"behind a tensor that was observed in part: {what}", said["faults"])


def schemes(tap, golden, folder):
    other = make_golden("tflite-single", folder)
    status, said = blame(golden, other)
    tap.check(status == 1 and len(said["faults"]) > 5 and all(f["class"] == "scheme" and "tflite-single" in f["detail"] for f in said["faults"]),
              "another scheme on every node", said)
    rng, part = random.Random(SEED), os.path.join(folder, "part")
    for some in (False, True):  # what the host does is not dumped; nor is every third tensor
        shutil.rmtree(part, ignore_errors=True)
        os.makedirs(part)
        for t in json.load(open(os.path.join(other, "manifest.json")))["tensors"]:
            if t["index"] > 1 and not (some and rng.random() < 0.33):
                shutil.copy(os.path.join(other, t["file"]), part)
        status, said = blame(golden, part)
        names = [f["name"] for f in said["faults"]]
        tap.check(status == 1 and len(set(names)) == len(names) > 5 and STEM in names and all(f["class"] == "scheme" and "tflite-single" in f["detail"] for f in said["faults"]),
                  f"another scheme, {'some tensors' if some else 'all but the input'} dumped", said)


def whole_pool(tap, folder):
    """A pool of the whole image, which a target takes for a global one."""
    rng, made = random.Random(SEED), []
    write(os.path.join(folder, "x.npy"), [1, 64, 4, 4], "|u1", [rng.randrange(256) for _ in range(1024)])
    for i, (pool, scheme) in enumerate((("avg_pool(x) {kernel=[4,4], stride=[2,2]}", "tflite"), ("global_avg_pool(x)", "onnxruntime"))):
        file = os.path.join(folder, f"pool{i}.assay")
        with open(file, "w") as f:
            f.write(f"graph main {{\n  input x: u8[1,64,4,4] q(0.023528477,0)\n  y: u8[1,64,1,1] q(0.023528477,0) = {pool} @pool\n  output y\n}}\n")
        made.append(os.path.join(folder, f"pool{i}"))
        subprocess.run([ASSAY, "golden", file, "-s", scheme, "--as-is", "-i", os.path.join(folder, "x.npy"), "-o", made[-1]], check=True, capture_output=True)
    status, said = blame(*made)
    tap.check(status == 1 and "scheme" in said["faults"][0]["classes"], "a pool of the whole image as a global one", said)


def samples(tap, folder, device):
    golden = make_golden("tflite", folder, 3)
    tensors = json.load(open(os.path.join(golden, "manifest.json")))["tensors"]
    for stale in (False, True):
        shutil.rmtree(device, ignore_errors=True)
        for t in tensors:
            to = os.path.join(device, f"s{t.get('sample', 0):05d}")
            os.makedirs(to, exist_ok=True)
            if t["index"] <= 2:
                shutil.copy(os.path.join(golden, t["file"]), to)
        if stale:
            name = os.path.basename(tensors[2]["file"])
            shutil.copy(os.path.join(golden, next(t for t in tensors if t["index"] == 2 and t.get("sample") == 1)["file"]), os.path.join(device, "s00002", name))
        status, said = blame(golden, device)
        tap.check([f["class"] for f in said["faults"]] == ["stale.sample"] * stale, f"three samples, {'one' if stale else 'none'} stale", said["faults"])


# ---- accumulators alone ----

def sums_of(fault):
    """What a fault makes of a node's accumulators."""
    def apply(node):
        node.end = lambda acc, c: acc
        return fault(node)
    return apply


SUMS = [
    (STEM, "padding.value", change(pad_code=-128)),
    (STEM, "tile.edge", change(tile=8)),
    (DEPTHWISE, "weights.layout", change(w=flipped_filters)),
    (POINT, "bias.missing", change(b=lambda n: [0] * len(n.b))),
    (POINT, "weights.sign", change(w=lambda n: [v & 255 for v in n.w])),
    (POINT, "input.zero_point", change(zx=0, pad_code=0)),
    (POINT, "accumulator.width", change(acc=lambda t, b: wrap(b + sum(t), 14))),
    (FULL, "bias.channel", change(b=lambda n: rolled(n.b, 1))),
]


def sums_alone(tap, folder, device):
    golden = make_golden("tflite", folder, 1, "--accumulators")
    tensors = [t for t in json.load(open(os.path.join(golden, "manifest.json")))["tensors"] if "accumulators" in t]
    to = os.path.join(device, "accumulators")

    def fill(node, sums, descr):
        shutil.rmtree(device, ignore_errors=True)
        os.makedirs(to)
        for t in tensors:
            if t["index"] < node.out["index"]:
                shutil.copy(os.path.join(golden, t["accumulators"]["file"]), to)
        write(os.path.join(to, os.path.basename(node.out["file"])), node.shape, descr, sums)

    for k, (name, wanted, fault) in enumerate(SUMS):
        node = Node(golden, name)
        sums = sums_of(change())(node)
        fill(node, sums, "<i8" if k % 2 else "<i4")
        status, said = blame(golden, device)
        tap.check(status == 0 and not said["faults"], f"{node.name}: accumulators as they should be", said)
        node = Node(golden, name)
        fill(node, sums_of(fault)(node), "<i8" if k % 2 else "<i4")
        status, said = blame(golden, device)
        faults = said["faults"] if status == 1 else []
        tap.check([(f["name"], f["class"], f["elements"]) for f in faults] == [(name, wanted, len(sums))], f"{node.name}: accumulators alone: {wanted}", faults or said)
    for what, shape, descr, says in (("a shape", [1, 1, 1, 34], "<i8", ""), ("a type", node.shape, "|i1", "int32 or int64"), ("a shape", [1, 33], "<i8", "int32 or int64")):
        fill(node, [0] * (34 if 33 not in shape else 33), descr)
        write(os.path.join(to, os.path.basename(node.out["file"])), shape, descr, [0] * (33 if 33 in shape else 34))
        status, said = blame(golden, device)
        tap.check((status == 2 and says in said and node.output in said) if says else status == 1, f"accumulators of {what}: {'refused' if says else 'taken'}", said)
    fill(node, [0] * 34, "<i8")
    status, said = blame(os.path.join(folder, "tflite-1"), device)  # made before
    tap.check(status == 2 and "--accumulators" in said, "the golden bundle has no accumulators", said)


# ---- clean devices ----

def clean(tap, golden, device):
    rng = random.Random(SEED)
    tensors = json.load(open(os.path.join(golden, "manifest.json")))["tensors"]
    forms = ("some tensors", "raw bytes", "channels last", "under their own names")
    for form in forms:
        shutil.rmtree(device, ignore_errors=True)
        os.makedirs(device)
        for t in tensors:
            file = os.path.join(golden, t["file"])
            shape, descr, values = read(file)
            name = os.path.basename(file)[:-4]
            if form == "some tensors":
                if rng.random() < 0.4:
                    shutil.copy(file, device)
            elif form == "raw bytes":
                with open(os.path.join(device, name + ".bin"), "wb") as f:
                    f.write(struct.pack(f"<{len(values)}{CODES[descr]}", *values))
            elif form == "channels last" and len(shape) == 4:
                n, c, h, w = shape
                write(os.path.join(device, name + ".npy"), [n, h, w, c], descr, [values[k * h * w + i] for i in range(h * w) for k in range(c)])
            elif form == "under their own names":
                shutil.copy(file, os.path.join(device, t["name"].replace("/", "_").replace(":", "_") + ".npy"))
        status, said = blame(golden, device)
        tap.check(status == 0 and not said["faults"] and said["verdict"] == "clean", f"clean: {form}", said)


# ---- bad input ----

def bad(tap, golden, device):
    stem = Node(golden, STEM)
    file = os.path.basename(stem.out["file"])

    def refused(what, says, spoil):
        dump(golden, stem, stem.codes(), device)
        spoil(os.path.join(device, file))
        status, said = blame(golden, device)
        tap.check(status == 2 and says in str(said) and str(said).count("\n") == 1, f"refused: {what}", status, said)

    refused("another shape", STEM, lambda f: write(f, [1, 16, 32, 31], "|i1", [0] * (16 * 32 * 31)))
    refused("16 bits", STEM, lambda f: write(f, stem.shape, "<i2" if "<i2" in CODES else "<i4", [0] * (16 * 1024)))
    refused("a truncated file", file, lambda f: os.truncate(f, 1000))
    refused("NaN", "image", lambda f: write(os.path.join(device, "0000_input_image.npy"), [1, 1, 32, 32], "<f4", [float("nan")] * 1024))
    shutil.rmtree(device)
    os.makedirs(device)
    status, said = blame(golden, device)
    tap.check(status == 2 and "nothing to blame" in str(said), "refused: an empty folder", said)


# ---- what a scheme refuses ----

def refusing(tap, folder):
    """A fault after which the scheme refuses a sum of the node behind it: named, and that node is not judged."""
    net, scheme, x = (os.path.join(folder, f) for f in ("sum.assay", "refusing.yaml", "x.npy"))
    golden, device = os.path.join(folder, "refusing"), os.path.join(folder, "refused")
    with open(net, "w") as f:
        f.write("graph net {\n input x: i8[1,1,8] q(1,0)\n h: i8[1,1,8] q(1,3) = rescale(x)\n"
                " y: i8[1,1,1] q(1,0) = reduce_sum(h) {axes=[2], keepdims=true}\n output y\n}\n")
    with open(scheme, "w") as f:
        f.write("scheme: refusing\ndescription: takes sums of 9 bits\nrescale: {input_bits: 9}\n")
    write(x, [1, 1, 8], "|i1", [20, 9, 11, -5, 17, 3, 2, 1])
    subprocess.run([ASSAY, "golden", net, "-s", scheme, "-i", x, "-q", "-o", golden], check=True, capture_output=True)
    files = {t["name"]: os.path.basename(t["file"]) for t in json.load(open(os.path.join(golden, "manifest.json")))["tensors"]}
    for y in (None, 127, 5):
        shutil.rmtree(device, ignore_errors=True)
        os.makedirs(device)
        write(os.path.join(device, files["h"]), [1, 1, 8], "|i1", [a | 64 for a in [23, 12, 14, -2, 20, 6, 5, 4]])
        if y is not None:
            write(os.path.join(device, files["y"]), [1, 1, 1], "|i1", [y])
        status, said = blame(golden, device)
        verdicts = [n["verdict"] for n in said["nodes"]] if status == 1 else said
        good = status == 1 and [(f["name"], f["class"]) for f in said["faults"]] == [("h", "stuck_bit")]
        tap.check(good and verdicts == ["own", "not_dumped" if y is None else "inherited"], f"a sum that is refused behind a fault: {y}", said)


def main():
    tap = Tap()
    print(f"# seed {SEED}")
    with tempfile.TemporaryDirectory() as folder:
        golden, device = make_golden("tflite", folder), os.path.join(folder, "device")
        for name in (STEM, DEPTHWISE, POINT, ADD, FULL, POOL):
            node = Node(golden, name)
            dump(golden, node, node.codes(), device)
            status, said = blame(golden, device)
            tap.check(status == 0 and said["verdict"] == "clean" and not said["faults"], f"{node.name} as it should be is clean", said)
        for name, wanted, fault in FAULTS:
            node = Node(golden, name)
            dump(golden, node, fault(node), device)
            status, said = blame(golden, device)
            faults = said["faults"] if status == 1 else []
            good = len(faults) == 1 and faults[0]["name"] == name and faults[0]["class"] == wanted
            what = {k: faults[0][k] for k in ("name", "class", "classes", "detail", "explained", "differing")} if faults else said
            tap.check(good, f"{node.name}: {wanted}", what)
        several(tap, golden, device)
        schemes(tap, golden, folder)
        whole_pool(tap, folder)
        samples(tap, folder, device)
        sums_alone(tap, folder, device)
        refusing(tap, folder)
        clean(tap, golden, device)
        bad(tap, golden, device)
    tap.end()


if __name__ == "__main__":
    main()

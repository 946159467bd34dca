"""Faults that are planted in nodes of a shipped network, each with the class that it should be blamed by."""
import os
import random

from device import clamp, rescale_floor, wrap

SEED = int(os.environ.get("BLAME_SEED", "16"))


# ---- changes of a node, or of its codes ----

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
NEXT = "/block1/dw/act/Clip_output_0"  # reads the stem's output

# The node, the class, the change.
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
    (STEM, "lane", after(lambda n, y: [0] * len(y))),  # nothing was written
    (POINT, "lane", after(lambda n, y: [0] * len(y))),
    (ADD, "lane", after(lambda n, y: [0] * len(y))),
    (FULL, "lane", after(lambda n, y: [0] * len(y))),
    (STEM, "lane", after(lambda n, y: [-128] * len(y))),
    (FULL, "weights.stale", change(w=lambda n: [0] * len(n.w))),
    (FULL, "weights.stale", change(w=lambda n: [0 if i % 96 < 32 else v for i, v in enumerate(n.w)])),
    (FULL, "weights.stale", change(w=lambda n: [v if i % 96 < 48 else 0 for i, v in enumerate(n.w)])),
    (FULL, "bias.missing", change(b=lambda n: [0] * len(n.b))),
    (FULL, "rescale.rounding", change(rescale=rescale_floor)),
    (POOL, "pool.rounding", lambda n: n.pool(floor=True)),
    (POOL, "pool.divisor", lambda n: n.pool(divisor=17)),
    (POOL, "stuck_bit", stuck(2, 0)),
    (STEM, "unexplained", after(lambda n, y: [v ^ (1 << random.Random(SEED + i).randrange(7)) if i % 7 == 0 else v for i, v in enumerate(y)])),
]


# ---- faults that accumulators show ----

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

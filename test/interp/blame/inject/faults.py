"""What may be wrong in a node: functions of (rng, node) that change its attributes and give its codes, or None where
the fault says nothing there. Each is planted under the class that issue and interp/blame name it by."""
import numpy as np

import rescales
from device import clip

WEIGHTED, BINARY, MOVES = ("conv", "fc"), ("add", "sub", "mul"), ("reshape", "concat", "transpose")
POOLS = ("avg_pool", "global_avg_pool")
FAULTS = []


def fault(name, *ops):
    """Registers a fault of a class for ops (none: every op that gives codes)."""
    def register(function):
        FAULTS.append((name, ops, function))
        return function
    return register


def changed(values, at, value):
    values = np.array(values)
    values[at] = value
    return values


def some(rng, count, most=4):
    """A few different indices."""
    return rng.sample(range(count), rng.randint(1, min(most, count)))


# ---- the rescale ----

def rescaling(node):
    return node.op in WEIGHTED or node.op == "mul" or node.record["add"]["kind"] == "left-shift"


@fault("rescale.rounding", "conv", "fc", "add", "mul", "sub")
def last_rounding(rng, n):
    if not rescaling(n):
        return None
    steps = n.rule["steps"]
    modes = [m for m in ("floor", "trunc", "half-up", "half-even", "half-away", "ceil", "half-down") if m != steps[-1][1]]
    n.rule = dict(n.rule, steps=steps[:-1] + [(steps[-1][0], rng.choice(modes))])
    return n.codes()


@fault("rescale.rounding", "conv", "fc")
def one_rounding(rng, n):
    if len(n.rule["steps"]) < 2:
        return None
    n.rule = dict(n.rule, steps=[(None, rng.choice(["half-up", "floor", "half-away"]))], left_shift="product")
    return n.codes()


@fault("rescale.rounding", "conv", "fc")
def two_roundings(rng, n):
    if len(n.rule["steps"]) != 1 or n.rule["encoding"] != "multiplier":
        return None
    n.rule = dict(n.rule, steps=[(n.rule["bits"], "half-up"), (None, "half-away")])
    return n.codes()


@fault("rescale.rounding", "quantize")
def quantize_rounding(rng, n):
    mode = rng.choice(["floor", "trunc"])
    n.record = dict(n.record, convert=dict(n.record["convert"], round=mode))
    return n.codes()


@fault("rescale.multiplier", "conv", "fc", "mul")
def multiplier_bit(rng, n):
    if n.rule["encoding"] == "shift":
        return None
    at = some(rng, len(n.m), 1)
    if n.m.dtype == np.float32:
        n.m = changed(n.m, at, (n.m[at].view(np.uint32) ^ np.uint32(1 << rng.randint(17, 21))).view(np.float32))
    else:
        n.m = changed(n.m, at, n.m[at] ^ 1 << rng.randint(n.rule["bits"] - 6, n.rule["bits"] - 3))
    return n.codes()


@fault("rescale.multiplier", "conv", "fc")
def multiplier_cut(rng, n):
    if n.rule["encoding"] != "multiplier" or n.rule["bits"] < 20:
        return None
    kept = rng.randint(6, 10)
    n.m = n.m >> n.rule["bits"] - kept << n.rule["bits"] - kept
    return n.codes()


@fault("rescale.shift", "conv", "fc", "mul")
def shift_off(rng, n):
    if n.rule["encoding"] == "float32":
        return None
    n.s = n.s + rng.choice([-1, 1])
    return n.codes()


@fault("rescale.shift", "conv", "fc")
def shift_off_in_some(rng, n):
    if n.rule["encoding"] == "float32" or len(n.s) < 2:
        return None
    at = some(rng, len(n.s), 3)
    n.s = changed(n.s, at, n.s[at] + rng.choice([-1, 1]))
    return n.codes()


@fault("rescale.channel", "conv", "fc")
def channel_rolled(rng, n):
    if len(n.m) < 2 and len(n.s) < 2:
        return None
    by = rng.choice([1, -1])
    n.m, n.s = np.roll(n.m, by), np.roll(n.s, by)
    return n.codes()


@fault("rescale.channel", "conv", "fc")
def channel_of_another(rng, n):
    if len(n.m) < 4:
        return None
    a, b = rng.sample(range(len(n.m)), 2)
    n.m = changed(n.m, a, n.m[b])
    n.s = changed(n.s, a, n.s[b]) if len(n.s) > 1 else n.s
    return n.codes()


@fault("rescale.channel", "conv", "fc")
def first_channel_for_all(rng, n):
    if len(n.m) < 2:
        return None
    n.m, n.s = n.m[:1], n.s[:1]
    return n.codes()


@fault("rescale.zero_point", "conv", "fc", "add", "sub", "mul", "quantize")
def zero_point(rng, n):
    n.zero = int(clip(rng.choice([0, n.zero + 1, n.zero - 1, n.zero + rng.randint(2, 9)]), n.low, n.high))
    return n.codes()


# ---- stores ----

@fault("saturation.missing", "conv", "fc", "add", "sub", "mul")
def low_bits(rng, n):
    n.store = "wrap"
    return n.codes()


@fault("saturation.bounds", "conv", "fc", "add", "sub", "mul", "max_pool", "relu", "clip")
def other_bound(rng, n):
    span = n.hi - n.lo
    kind = rng.randrange(4)
    if kind == 0:
        n.hi -= rng.randint(1, span // 3)
    elif kind == 1:
        n.lo = max(n.lo, n.zero) if n.zero > n.lo else n.lo + span // 8  # a fused activation that is not there
    elif kind == 2:
        if (n.lo, n.hi) == (n.low, n.high):
            return None
        n.lo, n.hi = n.low, n.high
    else:
        n.lo += 1
    return n.codes()


# ---- sums ----

def exact_sums(n):
    """The greatest magnitude of the exact sums."""
    seen = []
    end, n.end = n.end, lambda acc: seen.append(acc) or np.zeros(n.shape, np.int64)
    kept, n.sum = n.sum, dict(n.sum, bits=62, overflow="wrap")
    n.codes()
    n.end, n.sum = end, kept
    return int(np.abs(seen[0]).max())


@fault("accumulator.width", "conv", "fc")
def narrow_sums(rng, n):
    most = exact_sums(n)
    bits = max(most.bit_length() - rng.randint(0, 2), 4)
    if n.sum["overflow"] == "saturate-each-step" and bits >= n.sum["bits"]:
        bits = n.sum["bits"] - 1
    n.sum = dict(n.sum, bits=bits, overflow=rng.choice(["wrap", "saturate-at-end", "saturate-each-step"]))
    return n.codes()


@fault("accumulator.width", "conv", "fc")
def other_overflow(rng, n):
    if n.sum["bits"] >= 32:
        return None
    n.sum = dict(n.sum, overflow=rng.choice([o for o in ("wrap", "saturate-at-end") if o != n.sum["overflow"]]))
    return n.codes()


@fault("accumulator.order", "conv", "fc")
def other_order(rng, n):
    if n.sum["overflow"] != "saturate-each-step":
        return None
    kind = rng.randrange(3)
    n.sum = dict(n.sum, **({"order": "reverse"} if kind == 0 else {"lanes": rng.choice([2, 4, 8])} if kind == 1 else {"bias": "last"}))
    return n.codes()


# ---- biases and weights ----

def has_bias(n):
    return n.b is not None and n.b.any()


@fault("bias.missing", "conv", "fc")
def no_bias(rng, n):
    if not has_bias(n):
        return None
    n.b = n.b * 0
    return n.codes()


@fault("bias.missing", "conv", "fc")
def no_bias_in_some(rng, n):
    if not has_bias(n):
        return None
    n.b = changed(n.b, some(rng, len(n.b), 3), 0) if rng.random() < 0.6 else changed(n.b, slice(len(n.b) // 2, None), 0)
    return n.codes()


@fault("bias.channel", "conv", "fc")
def bias_rolled(rng, n):
    if not has_bias(n):
        return None
    n.b = np.roll(n.b, rng.choice([1, -1, 4]))
    return n.codes()


@fault("bias.channel", "conv", "fc")
def bias_of_another(rng, n):
    if not has_bias(n) or len(n.b) < 4:
        return None
    a, b = rng.sample(range(len(n.b)), 2)
    n.b = changed(n.b, a, n.b[b])
    return n.codes()


@fault("weights.stale", "conv", "fc")
def filters_of_zeros(rng, n):
    first = rng.randrange(n.w.shape[0])
    n.w = changed(n.w, slice(first, first + rng.choice([1, 2, 8])), 0)
    return n.codes()


@fault("weights.stale", "conv", "fc")
def tail_of_zeros(rng, n):
    flat = n.w.reshape(-1)
    n.w = changed(flat, slice(len(flat) - len(flat) // rng.choice([2, 4, 8]), None), 0).reshape(n.w.shape)
    return n.codes()


@fault("weights.stale", "conv", "fc")
def tile_of_filters_before(rng, n):
    size = rng.choice([4, 8, 16])
    if n.w.shape[0] < 2 * size:
        return None
    at = rng.randrange(1, n.w.shape[0] // size) * size
    n.w = changed(n.w, slice(at, at + size), n.w[at - size:at])
    return n.codes()


@fault("weights.stale", "conv", "fc")
def weights_of_another_layer(rng, n):
    others = [c for c in n.bundle.constant if tuple(n.bundle.constant[c]["shape"]) == n.w.shape and c not in n.inputs]
    if not others:
        return None
    n.w = n.bundle.codes(rng.choice(sorted(others)))
    return n.codes()


@fault("weights.layout", "conv")
def kernels_flipped(rng, n):
    axes = [(1, 2), (1,), (2,)] if n.nhwc else [(2, 3), (2,), (3,)]
    n.w = np.flip(n.w, rng.choice(axes))
    return n.codes()


@fault("weights.layout", "conv")
def kernels_turned(rng, n):
    a, b = (1, 2) if n.nhwc else (2, 3)
    if n.w.shape[a] != n.w.shape[b] or n.w.shape[a] == 1:
        return None
    n.w = n.w.swapaxes(a, b)
    return n.codes()


@fault("weights.layout", "conv", "fc")
def read_in_another_order(rng, n):
    """The bytes of [O, I...] read as those of [I..., O], or with channels and kernel in the other order."""
    if n.w.ndim == 4 and rng.random() < 0.5:
        move = (0, 3, 1, 2) if n.nhwc else (0, 2, 3, 1)
        n.w = n.w.transpose(move).reshape(n.w.shape)
    else:
        n.w = np.moveaxis(n.w, 0, -1).reshape(n.w.shape)
    return n.codes()


@fault("weights.sign", "conv", "fc")
def weights_unsigned(rng, n):
    if n.w.min() >= 0:
        n.w = rescales.wrap(n.w, 8)
    else:
        n.w = n.w & 255
    return n.codes()


# ---- inputs and windows ----

@fault("input.zero_point", "conv", "fc", "add", "sub", "mul")
def input_zero(rng, n):
    at = rng.randrange(len(n.zx))
    if n.op in ("add", "sub") and n.record["add"]["kind"] == "float-scaled":
        return None
    pads = n.pad_code
    n.zx[at] = int(clip(rng.choice([0, n.zx[at] + 1, n.zx[at] - 1, n.zx[at] + 7]), *n.bundle.span(n.inputs[at])))
    n.pad_code = rng.choice([pads, n.zx[0]])
    return n.codes()


def padded(n):
    return any(n.attr.get("pad_begin", [])) or any(n.attr.get("pad_end", []))


@fault("padding.value", "conv", "max_pool")
def padding_code(rng, n):
    if not padded(n):
        return None
    n.pad_code = rng.choice([v for v in (0, n.low, n.high, n.zx[0] + 1) if v != n.zx[0] and (n.op == "conv" or v > n.low)])
    return n.codes()


@fault("padding.place", "conv", "max_pool", "avg_pool")
def padding_moved(rng, n):
    if not padded(n):
        return None
    n.pad = rng.choice([p for p in ([0, 0], [0, n.pad[1]], [n.pad[0], 0], [n.pad[0] + 1, n.pad[1] + 1], [n.pad[0] + 1, n.pad[1]]) if p != n.pad])
    return n.codes()


@fault("stride", "conv", "max_pool", "avg_pool")
def other_stride(rng, n):
    here = n.shape[1:3] if n.nhwc else n.shape[2:]
    if min(here) < 2 or n.stride == [1, 1]:
        return None
    n.stride = rng.choice([[1, 1], [1, n.stride[1]], [n.stride[0], 1]])
    return n.codes()


@fault("tile.edge", "conv")
def no_halo(rng, n):
    here = n.shape[1:3] if n.nhwc else n.shape[2:]
    if max(n.attr["kernel"]) < 2 or min(here) < 4:
        return None
    size = rng.choice([s for s in (2, 4, 5, 8, 16) if s < min(here)])
    n.tile = rng.choice([(size, size), (size, 0), (0, size)])
    return n.codes()


@fault("tile.edge", "conv", "add", "max_pool")
def stale_edges(rng, n):
    if len(n.shape) != 4:
        return None
    y = np.array(n.image(n.codes()))
    axis = rng.choice([2, 3])
    size = rng.choice([4, 5, 8])
    if y.shape[axis] <= size:
        return None
    at = np.arange(size, y.shape[axis], size)
    y = np.moveaxis(y, axis, 0)
    y[at] = y[at - 1]
    return n.back(np.moveaxis(y, 0, axis))


@fault("sign", "conv", "fc", "add", "sub", "mul")
def input_unsigned(rng, n):
    if n.op in ("add", "sub") and n.record["add"]["kind"] == "float-scaled":
        return None
    at = rng.randrange(len(n.x)) if n.op not in WEIGHTED else 0
    low = n.bundle.span(n.inputs[at])[0]
    n.x[at] = n.x[at] & 255 if low < 0 else rescales.wrap(n.x[at], 8)
    return n.codes()


# ---- two operands ----

@fault("operands.swapped", "add", "sub")
def parameters_swapped(rng, n):
    if n.record["add"]["kind"] != "left-shift":
        return None
    kind = rng.randrange(3)
    if kind != 1:
        n.zx = n.zx[::-1]
    if kind != 0:
        one = n.operands()
        n.operands = lambda: one[::-1]
    return n.codes()


@fault("operands.swapped", "sub", "concat")
def order_swapped(rng, n):
    if n.op == "concat" and (len(n.x) != 2 or n.x[0].shape != n.x[1].shape):
        return None
    n.x = n.x[::-1]
    return n.codes()


# ---- pools and tables ----

def quotient_of_pool(n):
    return n.record["pool"]["kind"] == "divide"


@fault("pool.divisor", "avg_pool", "global_avg_pool")
def other_divisor(rng, n):
    if not quotient_of_pool(n):
        return None
    if n.op == "avg_pool" and padded(n) and rng.random() < 0.5:
        n.include_pad = not n.include_pad
        return n.codes()
    size = int(np.prod(n.attr["kernel"])) if n.op == "avg_pool" else int(np.prod(n.x[0].shape[1:3] if n.nhwc else n.x[0].shape[2:]))
    n.count = rng.choice([size + 1, size - 1, 1 << (size - 1).bit_length(), 2 * size, size // 2 + 1])
    return n.codes() if n.count > 0 and n.count != size else None


@fault("pool.rounding", "avg_pool", "global_avg_pool")
def other_pool_rounding(rng, n):
    if not quotient_of_pool(n):
        return None
    n.pool_round = rng.choice(["floor", "trunc", "ceil"])
    return n.codes()


@fault("table.entry", "sigmoid", "tanh", "hard_swish", "leaky_relu", "elu", "gelu")
def table_entries(rng, n):
    if n.table is None:
        return None
    low = n.bundle.span(n.inputs[0])[0]
    used = np.unique(n.x[0]) - low
    at = [int(used[i]) for i in some(rng, len(used), 3)]
    n.table = changed(n.table, at, [clip(int(n.table[i]) + rng.choice([-40, -3, 5, 17]), n.low, n.high) for i in at])
    return n.codes()


# ---- the output ----

@fault("lane")
def dead_lanes(rng, n):
    y = np.moveaxis(np.array(n.codes()), n.axis, 0)
    lanes = [v for v in (2, 4, 8, 16) if v <= y.shape[0] // 2]
    if not lanes:
        return None
    count = rng.choice(lanes)
    lane = rng.randrange(count)
    if rng.random() < 0.6 or lane == 0:
        y[lane::count] = rng.choice([0, n.zero, n.low]) if n.low < 0 else rng.choice([0, n.zero])
    else:
        for c in range(lane, y.shape[0], count):
            y[c] = y[c - 1]
    return np.moveaxis(y, 0, n.axis)


@fault("stuck_bit")
def bit_stuck(rng, n):
    y, bit = n.codes(), 1 << rng.randrange(8)
    return rescales.wrap(y | bit if rng.random() < 0.5 else y & ~bit, 8, n.low < 0)


@fault("sign")
def top_bit_flipped(rng, n):
    return rescales.wrap(n.codes() ^ 128, 8, n.low < 0)


@fault("output.layout")
def permuted(rng, n):
    y = n.codes()
    if y.ndim != 4:
        return None
    c = y.shape[n.axis]
    kinds = ["axes", "reversed"] + ["blocks"] * (c % 4 == 0 and c > 4) + ["turned"] * (n.image(y).shape[2] == n.image(y).shape[3] > 1)
    kind = rng.choice(kinds)
    if kind == "axes":
        return (y.transpose(0, 3, 1, 2) if n.nhwc else y.transpose(0, 2, 3, 1)).reshape(y.shape)
    if kind == "reversed":
        return np.flip(y, rng.choice([1, 2, 3]))
    image = n.image(y)
    if kind == "turned":
        return n.back(image.swapaxes(2, 3))
    size = image.shape
    blocks = image.reshape(size[0], c // 4, 4, size[2] * size[3]).swapaxes(2, 3)
    return blocks.reshape(y.shape)


@fault("unexplained")
def noise(rng, n):
    y = np.array(n.codes()).reshape(-1)
    draw = np.random.RandomState(rng.randrange(1 << 30))
    at = draw.rand(y.size) < rng.choice([0.05, 0.3, 1.0])
    y[at] = draw.randint(n.low, n.high + 1, int(at.sum()))
    return y.reshape(n.shape)

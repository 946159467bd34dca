"""Faults of what comes out of a node: quotients of pools, tables, lanes, bits, layouts."""
import numpy as np

import rescales
from device import clip
from faults import changed, fault, some
from faults_operands import padded


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

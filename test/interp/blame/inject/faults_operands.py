"""Faults of what goes into a node: biases, weights, zero points, padding, strides, tiles, the order of operands."""
import numpy as np

import rescales
from device import clip
from faults import WEIGHTED, changed, fault, some


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

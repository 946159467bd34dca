"""What may be wrong in nodes over rows, of two slopes, of tables, in moves and resizes. A class "a|b": an engineer
would call it a, and b says the same of the same arithmetic."""
import numpy as np

import rescales
from device import clip
from faults import changed, fault

RESCALED = ("matmul", "reduce_mean", "leaky_relu", "prelu")


# ---- rescales ----

@fault("rescale.rounding|pool.rounding", *RESCALED)
def row_rounding(rng, n):
    """Of a mean: pool.rounding."""
    steps = n.rule["steps"]
    modes = [m for m in ("floor", "trunc", "half-up", "half-even", "half-away", "ceil") if m != steps[-1][1]]
    n.rule = dict(n.rule, steps=steps[:-1] + [(steps[-1][0], rng.choice(modes))])
    return n.codes()


@fault("rescale.rounding", "softmax", "resize")
def cut_off(rng, n):
    n.last = rng.choice(["floor", "trunc"])
    return n.codes()


def other_multipliers(rng, m, rule, size):
    """m by a factor near 1, or with one of its higher bits the other way; a smaller `size` is a greater change."""
    if m.dtype == np.float32:
        return m * np.float32(1 + 2.0 ** -rng.randint(size - 4, size))
    return m ^ 1 << rng.randint(rule["bits"] - size, rule["bits"] - 3)


@fault("rescale.multiplier", *RESCALED)
def row_multiplier(rng, n):
    if n.rule["encoding"] == "shift":
        return None
    n.m = other_multipliers(rng, n.m, n.rule, 7)
    return n.codes()


@fault("rescale.multiplier", "leaky_relu", "prelu")
def slope_multiplier(rng, n):
    if n.m_negative is None:
        return None
    n.m_negative = other_multipliers(rng, n.m_negative, n.rule, 6)
    return n.codes()


@fault("rescale.multiplier|rescale.shift|rescale.channel|operands.swapped", "leaky_relu", "prelu")
def one_slope(rng, n):
    """Both signs by the rescale of the positive ones."""
    if n.m_negative is None:
        return None
    n.m_negative, n.s_negative = n.m, n.s
    return n.codes()


@fault("rescale.shift", *RESCALED)
def row_shift(rng, n):
    if n.rule["encoding"] == "float32":
        return None
    n.s = n.s + rng.choice([-1, 1])
    return n.codes()


@fault("rescale.zero_point", "matmul", "softmax", "reduce_mean", "leaky_relu", "prelu")
def row_zero(rng, n):
    n.zero = int(clip(rng.choice([0, n.zero + 1, n.zero - 1, n.zero + rng.randint(2, 9)]), n.low, n.high))
    return n.codes()


@fault("rescale.multiplier|rescale.shift", "softmax")
def beta(rng, n):
    """The scale before the exponential."""
    m = n.p["multiplier_in"][0]
    n.p = dict(n.p, **rng.choice([{"shift_in": [n.p["shift_in"][0] + rng.choice([-1, 1])]}, {"multiplier_in": [m ^ 1 << rng.randint(25, 28)]}]))
    return n.codes()


@fault("saturation.missing", *RESCALED)
def row_low_bits(rng, n):
    n.store = "wrap"
    return n.codes()


@fault("saturation.bounds", *RESCALED, "softmax")
def row_bounds(rng, n):
    y = n.codes()
    n.lo, n.hi = rng.choice([(n.lo, int(y.max()) - rng.randint(1, 9)), (int(y.min()) + rng.randint(1, 9), n.hi)])
    return n.codes()


# ---- operands ----

@fault("input.zero_point", *RESCALED)
def row_input_zero(rng, n):
    at = rng.randrange(2 if n.op == "matmul" else 1)
    n.zx[at] = int(clip(rng.choice([0, n.zx[at] + 1, n.zx[at] - 1, n.zx[at] + 5]), *n.bundle.span(n.inputs[at])))
    return n.codes()


@fault("operands.swapped", "matmul")
def zeros_swapped(rng, n):
    n.zx = n.zx[::-1]
    return n.codes()


@fault("operands.swapped|weights.layout", "matmul")
def operand_not_turned(rng, n):
    """The second operand's memory read in the other orientation."""
    b = n.x[1]
    n.x[1] = b.swapaxes(-1, -2).reshape(b.shape)
    return n.codes()


@fault("weights.stale|operands.swapped|stale.sample", "matmul")
def batch_of_before(rng, n):
    """The second operand of one batch stays for the next."""
    b = n.x[1]
    if b.ndim < 3 or b.shape[0] < 2:
        return None
    n.x[1] = changed(b, slice(1, None), b[:-1])
    return n.codes()


@fault("accumulator.width", "matmul")
def narrow_dots(rng, n):
    seen = []
    n.step = lambda exact: seen.append(exact) or exact
    n.codes()
    del n.step
    n.sum = dict(n.sum, bits=max(int(np.abs(seen[0]).max()).bit_length() - rng.randint(0, 2), 4), overflow=rng.choice(["wrap", "saturate-at-end"]))
    return n.codes()


@fault("sign", "matmul", "softmax", "reduce_mean", "leaky_relu", "prelu", "resize")
def row_unsigned(rng, n):
    if n.table is not None:
        return None
    at = rng.randrange(len(n.x)) if n.op == "matmul" else 0
    n.x[at] = n.x[at] & 255 if n.bundle.span(n.inputs[at])[0] < 0 else rescales.wrap(n.x[at], 8)
    return n.codes()


@fault("weights.stale|weights.layout|rescale.channel|bias.channel", "prelu")
def slopes_rolled(rng, n):
    n.x[1] = np.roll(n.x[1], rng.choice([1, -1]), 0)
    return n.codes()


@fault("pool.divisor|rescale.multiplier|rescale.shift", "reduce_mean")
def mean_of_more(rng, n):
    """Divided by the next power of two, or by one more."""
    count = n.x[0].size // n.codes().size
    other = rng.choice([1 << count.bit_length(), count + 1])
    n.m = (n.m * count // other) if n.m.dtype != np.float32 else (n.m * np.float32(count / other)).astype(np.float32)
    return n.codes()


# ---- tables ----

@fault("input.zero_point|table.entry", "sigmoid", "tanh", "gelu", "hard_swish", "leaky_relu")
def table_shifted(rng, n):
    if n.table is None:
        return None
    n.table = np.roll(n.table, rng.choice([1, -1]))
    return n.codes()


@fault("sign|input.zero_point", "sigmoid", "tanh", "gelu", "hard_swish")
def table_by_unsigned(rng, n):
    """The table addressed by the byte as it stands."""
    if n.table is None:
        return None
    n.table = np.roll(n.table, 128)
    return n.codes()


@fault("table.entry", "gelu", "sigmoid", "tanh")
def table_half(rng, n):
    """A quarter of the table was not loaded."""
    if n.table is None:
        return None
    first = rng.randrange(4) * 64
    n.table = changed(n.table, slice(first, first + 64), 0)
    return n.codes()


# ---- moves ----

@fault("padding.value", "pad")
def other_fill(rng, n):
    right = n.fill()
    code = rng.choice([c for c in (0, n.low, n.high, right + 1) if c != right])
    n.fill = lambda: code
    return n.codes()


@fault("padding.place", "pad")
def ends_swapped(rng, n):
    n.attr["begin"], n.attr["end"] = n.attr["end"], n.attr["begin"]
    return n.codes()


@fault("output.layout", "transpose", "depth_to_space")
def moved_wrongly(rng, n):
    if n.op == "depth_to_space":
        n.attr["order"] = "crd" if n.attr["order"] == "dcr" else "dcr"
        return n.codes()
    perm = list(n.attr["perm"])
    rng.shuffle(perm)
    n.attr["perm"] = perm
    return n.codes().reshape(n.shape)


@fault("output.layout", "transpose", "tile")
def not_moved(rng, n):
    """Copied as it lies."""
    return np.resize(n.x[0], n.shape)


@fault("stride", "slice")
def step_ignored(rng, n):
    if max(n.attr["step"]) == 1:
        return None
    n.attr["step"] = [1] * len(n.shape)
    return n.codes()


@fault("operands.swapped|weights.stale", "concat")
def first_twice(rng, n):
    if len(n.x) != 2 or n.x[0].shape != n.x[1].shape:
        return None
    n.x[1] = n.x[0]
    return n.codes()


@fault("tile.edge", "resize", "mul", "sub")
def row_edges(rng, n):
    """The first row of each tile is the last of the tile before."""
    if len(n.shape) != 4:
        return None
    y = np.array(n.image(n.codes()))
    size = rng.choice([4, 8])
    at = np.arange(size, y.shape[2], size)
    y[:, :, at] = y[:, :, at - 1]
    return n.back(y) if len(at) else None


@fault("lane")
def lanes_not_written(rng, n):
    """Elements of the last axis that are r mod L hold what the memory held."""
    y = np.array(n.codes())
    lanes = rng.choice([2, 4])
    if y.shape[-1] < 2 * lanes or n.axis != y.ndim - 1:
        return None
    y[..., rng.randrange(lanes)::lanes] = rng.choice([0, n.zero])
    return y


"""More faults: channels that are dealt another's numbers by their place in a group, weights read otherwise, windows that
begin late, averages over so many cells in padding too."""
import numpy as np

from faults import WEIGHTED, fault
from faults_operands import padded


def dealt(rng, count):
    """For each channel the one whose numbers it has: the other of its pair, the first of its group, c mod L."""
    c, size = np.arange(count), rng.choice([2, 4, 8])
    return rng.choice([np.minimum(c ^ 1, count - 1), c // size * size, c % size])


@fault("rescale.channel", *WEIGHTED)
def rescales_dealt(rng, n):
    if len(n.m) < 4 and len(n.s) < 4:
        return None
    of = dealt(rng, max(len(n.m), len(n.s)))
    n.m, n.s = (v[of] if len(v) > 1 else v for v in (n.m, n.s))
    return n.codes()


@fault("bias.channel", *WEIGHTED)
def biases_dealt(rng, n):
    if n.b is None or len(n.b) < 4:
        return None
    n.b = n.b[dealt(rng, len(n.b))]
    return n.codes()


@fault("weights.stale", *WEIGHTED)
def filters_dealt(rng, n):
    if len(n.w) < 4:
        return None
    n.w = n.w[dealt(rng, len(n.w))]
    return n.codes()


@fault("weights.sign", *WEIGHTED)
def weights_otherwise(rng, n):
    if n.w.min() >= 0:
        return None
    n.w = rng.choice([np.abs(n.w), n.w + 128, -n.w])
    return n.codes()


@fault("padding.place", "conv", "max_pool")
def windows_late(rng, n):
    axis = rng.randrange(len(n.pad)) if n.pad else 0
    if not n.pad or n.pad[axis] or n.shape[1 if n.nhwc else 2] < 4:
        return None
    n.pad[axis] = -1
    return n.codes()


@fault("pool.divisor", "avg_pool")
def padding_counted(rng, n):
    """The whole window's cells, or one less, wherever it lies."""
    if not padded(n) or n.include_pad:
        return None
    n.count = n.attr["kernel"][0] * n.attr["kernel"][1] - rng.randrange(2)
    return n.codes()

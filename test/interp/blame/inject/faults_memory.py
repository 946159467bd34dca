"""More faults: one channel's numbers for all, memory in one order read in another, a bit of every multiplier, rows of a
tile's edge that were never written, means cut off."""
import numpy as np

from device import clip, f32
from faults import WEIGHTED, fault
from faults_output import quotient_of_pool


@fault("rescale.channel", *WEIGHTED)
def one_rescale_for_all(rng, n):
    if max(len(n.m), len(n.s)) < 4:
        return None
    of = rng.randrange(1, max(len(n.m), len(n.s)) - 1)
    n.m, n.s = (np.full_like(v, v[of]) if len(v) > 1 else v for v in (n.m, n.s))
    return n.codes()


@fault("bias.channel", *WEIGHTED)
def one_bias_for_all(rng, n):
    if n.b is None or len(n.b) < 4:
        return None
    n.b = np.full_like(n.b, n.b[rng.randrange(1, len(n.b) - 1)])
    return n.codes()


@fault("weights.layout", "conv")
def taken_for_another_order(rng, n):
    """The bytes of [O, I, H, W] taken for those of [O, H, W, I], or the other way round."""
    if n.w.ndim != 4 or n.w.shape[1] == 1 or n.w[0, 0].size == 1 or n.w[0, ..., 0].size == 1:
        return None
    o, a, b, c = n.w.shape
    n.w = n.w.reshape(o, c, a, b).transpose(0, 2, 3, 1) if n.nhwc else n.w.reshape(o, b, c, a).transpose(0, 3, 1, 2)
    return n.codes()


@fault("rescale.multiplier", *WEIGHTED)
def bit_of_all_multipliers(rng, n):
    if n.m.dtype == f32 or n.rule["encoding"] != "multiplier" or n.rule["bits"] < 20:
        return None
    bit = 1 << rng.randint(n.rule["bits"] - 6, n.rule["bits"] - 2)
    n.m = rng.choice([n.m ^ bit, n.m | bit, n.m & ~bit])
    return n.codes()


@fault("tile.edge", "conv", "max_pool", "add")
def rows_never_written(rng, n):
    """The last row of each tile holds 0, the image's last row too."""
    y = np.array(n.codes())
    if y.ndim != 4:
        return None
    image, size = n.image(y), rng.choice([4, 8])
    if image.shape[2] < 2 * size:
        return None
    image[:, :, size - 1::size] = 0
    return n.back(image)


@fault("pool.rounding", "global_avg_pool")
def mean_cut_off(rng, n):
    """Where golden multiplies: sums that are not negative, divided, and the rest cut off."""
    if quotient_of_pool(n) or n.x[0].min() < n.zx[0] or n.bundle.entry(n.inputs[0])["scale"] != n.bundle.entry(n.output)["scale"]:
        return None
    x = n.image(n.x[0])
    total = (x - n.zx[0]).sum(axis=(2, 3), keepdims=True)
    return n.back(clip(total // (x.shape[2] * x.shape[3]) + n.zero, n.lo, n.hi))

"""Nodes of the device over whole rows, and those of two slopes: matmul, softmax, means, leaky relu, prelu."""
import numpy as np

import rescales
from rescales import shift_right

HALF_WORD = 1 << 31


def high(a, b):
    """Of two Q31 the product's upper half, doubled, rounded, saturated."""
    product = a * b
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    return np.clip(np.where(nudged < 0, -(-nudged // HALF_WORD), nudged // HALF_WORD), -HALF_WORD, HALF_WORD - 1)


def narrowed(x, bits):
    return shift_right(x, bits, "half-away")


def widened(x, bits):
    return np.clip(x << bits, -HALF_WORD, HALF_WORD - 1)


def exponential(a):
    """exp of Q5.26, a <= 0, as Q0.31: a polynomial around -1/8, and factors by the bits of what is left."""
    quarter = 1 << 24
    part = (a & quarter - 1) - quarter
    x = widened(part, 5) + (1 << 28)
    x2 = high(x, x)
    x3, x4 = high(x2, x), high(x2, x2)
    rest = narrowed(high(narrowed(x4, 2) + x3, np.int64(715827883)) + x2, 1)
    e = np.int64(1895147668)
    y = np.minimum(e + high(e, x + rest), HALF_WORD - 1)
    for bit, factor in zip(range(24, 31), (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)):
        y = np.where(part - a & 1 << bit, high(y, np.int64(factor)), y)
    return np.where(a == 0, HALF_WORD - 1, y)


def reciprocal(a):
    """1 / (1 + a) of Q0.31 in [0, 1): Newton's steps in Q2.29."""
    half = (a + HALF_WORD - 1 + 1) // 2
    x = 1515870810 + high(half, np.int64(-1010580540))
    for _ in range(3):
        x = x + widened(high(x, (1 << 29) - high(half, x)), 2)
    return widened(x, 1)


class Rows:
    """Methods of device.Node."""

    def matmul(self):
        a, b = (x - z for x, z in zip(self.x, self.zx))
        a = a.swapaxes(-1, -2) if self.attr["transpose_a"] else a
        b = b.swapaxes(-1, -2) if self.attr["transpose_b"] else b
        exact = np.matmul(a.astype(np.float64), b.astype(np.float64)).astype(np.int64)
        return self.end(self.step(exact))

    def reduce_mean(self):
        axes = tuple(self.attr["axes"])
        total = self.x[0].sum(axes, keepdims=self.attr["keepdims"])
        return self.end(total - self.x[0].size // total.size * self.zx[0]).reshape(self.shape)

    def softmax(self):
        """In fixed point: TensorFlow Lite's."""
        x = np.moveaxis(self.x[0], self.attr["axis"], -1)
        far = x - x.max(-1, keepdims=True)
        seen = far >= self.p["constants"][0]
        e = np.where(seen, exponential(high(np.where(seen, far, 0) << self.p["shift_in"][0], np.int64(self.p["multiplier_in"][0]))), 0)
        total = np.where(seen, narrowed(e, 12), 0).sum(-1, keepdims=True)
        room = 32 - np.vectorize(lambda v: int(v).bit_length())(total)
        scale = reciprocal((total << room) - HALF_WORD)
        y = shift_right(high(scale, e), 12 - room + 23, self.last)
        return np.moveaxis(self.stored(np.where(seen, y, 0) + self.zero), -1, self.attr["axis"])

    def leaky_relu(self):
        return self.sloped(self.x[0] - self.zx[0], 1)

    def prelu(self):
        return self.sloped(self.x[0] - self.zx[0], self.x[1] - self.zx[1])

    def sloped(self, x, slope):
        negative = self.end(x * slope, self.m_negative, self.s_negative)
        return np.where(x >= 0, self.end(x), negative)

    def step(self, exact):
        half = 1 << self.sum["bits"] - 1
        return rescales.wrap(exact, self.sum["bits"]) if self.sum["overflow"] == "wrap" else np.clip(exact, -half, half - 1)

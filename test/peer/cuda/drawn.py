"""Rows of dot products drawn by kind: small integers that every unit adds exactly, and what tells units apart."""
import numpy as np

# Bits of storage, of the exponent and of the fraction; what the greatest exponent holds.
FORMATS = {
    "f64": (64, 11, 52, "infinity"), "f32": (32, 8, 23, "infinity"), "tf32": (32, 8, 23, "infinity"), "bf16": (16, 8, 7, "infinity"),
    "f16": (16, 5, 10, "infinity"), "e5m2": (8, 5, 2, "infinity"), "e4m3": (8, 4, 3, "nan"), "e3m2": (6, 3, 2, "numbers"),
    "e2m3": (6, 2, 3, "numbers"), "e2m1": (4, 2, 1, "numbers"),
}


class Format:
    def __init__(self, name):
        self.bits, self.exponent, self.fraction, self.top = FORMATS[name]
        self.bias = 2 ** (self.exponent - 1) - 1
        self.greatest = 2**self.exponent - (2 if self.top == "infinity" else 1)  # of a number's exponent field
        self.sign = 1 << self.exponent + self.fraction
        self.type = {64: np.uint64, 32: np.uint32, 16: np.uint16}.get(self.bits, np.uint8)

    def numbers(self, rng, shape, low, high):
        """Finite ones whose exponent field is from low to high, as far as there are such."""
        low, high = (min(max(bound, 0), self.greatest) for bound in (low, high))
        field = rng.integers(low, high + 1, shape)
        fraction = rng.integers(0, 2**self.fraction, shape)
        if self.top == "nan":
            fraction = np.where((field == self.greatest) & (fraction == 2**self.fraction - 1), 0, fraction)
        return self.signs(rng, shape) | (field << self.fraction | fraction).astype(self.type)

    def signs(self, rng, shape):
        return rng.integers(0, 2, shape).astype(self.type) * self.type(self.sign)

    def integers(self, values):
        """The patterns of small integers."""
        codes = {0: 0}
        for v in range(1, 9):
            power = v.bit_length() - 1
            codes[v] = power + self.bias << self.fraction | (v - 2**power << self.fraction >> power)
            codes[-v] = codes[v] | self.sign
        return np.vectorize(codes.get, otypes=[self.type])(values)

    def any(self, rng, shape):
        return rng.integers(0, 2 * self.sign, shape, np.uint64).astype(self.type)

    def specials(self, rng, shape):
        """Infinities and NaN, where the format has them."""
        if self.top == "numbers":
            return self.any(rng, shape)
        top = (2**self.exponent - 1) << self.fraction
        fraction = rng.integers(0, 3, shape) * (2**self.fraction - 1) // 2 if self.top == "infinity" else 2**self.fraction - 1
        return self.signs(rng, shape) | self.type(top) | np.asarray(fraction).astype(self.type)


class Drawing:
    """n rows of k elements; a, b, c are Formats."""

    def __init__(self, rng, a, b, c, n, k):
        self.rng, self.a, self.b, self.c, self.n, self.k = rng, a, b, c, n, k

    def around(self, f, width, shape=None):
        return f.numbers(self.rng, shape or (self.n, self.k), f.bias - width, f.bias + width)

    def tiny(self):
        """Accumulators near the least."""
        return self.c.numbers(self.rng, self.n, 0, 1)

    def integers(self):
        a, b = (f.integers(self.rng.integers(-2, 3, (self.n, self.k))) for f in (self.a, self.b))
        return a, b, self.c.integers(self.rng.integers(-8, 9, self.n))

    def near(self):
        return self.around(self.a, 2), self.around(self.b, 2), self.around(self.c, 6, self.n)

    def spread(self):
        return self.around(self.a, 16), self.around(self.b, 16), self.around(self.c, 20, self.n)

    def far(self):
        """One great product beside small ones."""
        a, b, c = self.spread()
        low = self.a.numbers(self.rng, a.shape, self.a.bias - 14, self.a.bias - 4)
        great = self.rng.integers(0, self.k, self.n)[:, None] == np.arange(self.k)
        return np.where(great, self.around(self.a, 1), low).astype(self.a.type), self.around(self.b, 2), c

    def cancel(self):
        """Half of the products are the negatives of the others but for a few elements."""
        a, b, _ = self.near()
        half = self.k // 2
        a[:, half:], b[:, half:] = a[:, :half], b[:, :half] ^ self.b.type(self.b.sign)
        order = self.rng.permuted(np.tile(np.arange(self.k), (self.n, 1)), axis=1)
        a, b = np.take_along_axis(a, order, 1), np.take_along_axis(b, order, 1)
        few = self.rng.random(a.shape) < 1 / self.k
        c = self.c.numbers(self.rng, self.n, self.c.bias - 28, self.c.bias)
        return np.where(few, self.around(self.a, 4), a).astype(self.a.type), b, c

    def least(self):
        """Subnormal elements and results."""
        a = self.a.numbers(self.rng, (self.n, self.k), 0, 3)
        low = max(self.b.bias - 24, 0)
        return a, self.b.numbers(self.rng, a.shape, low, low + 8 if self.rng.integers(2) else self.b.bias), self.tiny()

    def zeros(self):
        """Most elements are zero, of either sign; the accumulator is tiny or zero."""
        a, b, _ = self.spread()
        for x, f in ((a, self.a), (b, self.b)):
            x[self.rng.random(x.shape) < 0.8] &= f.type(f.sign)
        c = self.tiny()
        c[self.rng.random(self.n) < 0.3] &= self.c.type(self.c.sign)
        return a, b, c

    def specials(self):
        a, b, c = self.near()
        for x, f, chance in ((a, self.a, 1 / self.k), (b, self.b, 1 / self.k), (c, self.c, 0.1)):
            planted = self.rng.random(x.shape) < chance
            x[planted] = f.specials(self.rng, x.shape)[planted]
        return a, b, c

    def any(self):
        shape = (self.n, self.k)
        return self.a.any(self.rng, shape), self.b.any(self.rng, shape), self.c.any(self.rng, self.n)


KINDS = ["integers", "near", "spread", "far", "cancel", "least", "zeros", "specials", "any"]


def scales(rng, kind, form, shape):
    """Of blocks: powers of two around one; with any elements any patterns. The sum of small integers stays exact."""
    one = 127 if form == "ue8m0" else 7 << 3
    step = 1 if form == "ue8m0" else 8
    if kind == "any":
        return rng.integers(0, 256, shape).astype(np.uint8)
    if form == "ue4m3" and kind != "integers":
        return rng.integers(1, 0x7F, shape).astype(np.uint8)
    return (one + step * rng.integers(0, 2 if kind == "integers" else 9, shape)).astype(np.uint8)


def rows(rng, kinds, n, k, a, b, c, scale, scale_columns):
    """Columns of n rows, as many of each kind: a, b, c, kind, and scale_a and scale_b where there are such."""
    parts = []
    for kind in kinds:
        each = -(-n // len(kinds))
        part = dict(zip("abc", getattr(Drawing(rng, Format(a), Format(b), Format(c), each, k), kind)()))
        part["kind"] = np.full(each, KINDS.index(kind), np.uint8)
        if scale:
            part["scale_a"] = scales(rng, kind, scale, (each, scale_columns))
            part["scale_b"] = scales(rng, kind, scale, (each, scale_columns))
        parts.append(part)
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

"""Images of either layout and the windows that slide over them."""
from network import ints


class Image:
    """x: a tensor of four dimensions, read by batch, channel, row, column."""

    def __init__(self, x, nhwc):
        self.x, self.nhwc, self.batch = x, nhwc, x.shape[0]
        self.depth, self.extent = (x.shape[3], x.shape[1:3]) if nhwc else (x.shape[1], x.shape[2:])

    def layout(self):
        return "layout=%s" % ("nhwc" if self.nhwc else "nchw")

    def code(self, n, channel, row, column):
        if self.nhwc:
            at = ((n * self.extent[0] + row) * self.extent[1] + column) * self.depth + channel
        else:
            at = ((n * self.depth + channel) * self.extent[0] + row) * self.extent[1] + column
        return self.x.codes[at]

    def shape(self, depth, extent):
        """Of an output in the same layout."""
        return [self.batch] + (extent + [depth] if self.nhwc else [depth] + extent)

    def order(self, depth, extent):
        """[(batch, channel, row, column)] of an output in C order."""
        places = [(i, j) for i in range(extent[0]) for j in range(extent[1])]
        own = [(c, i, j) for i, j in places for c in range(depth)] if self.nhwc else [
            (c, i, j) for c in range(depth) for i, j in places]
        return [(n, c, i, j) for n in range(self.batch) for c, i, j in own]


OVER = "over"  # what the last window of ceil_mode hangs over, beyond the padding


class Window:
    """A two-dimensional window: kernel, stride, dilation, padding; which input elements an output element sees."""

    def __init__(self, rng, extent, padded, ceil=False):
        self.extent, self.ceil = extent, ceil
        self.kernel = [rng.randint(1, min(3, n)) for n in extent]
        self.stride = [rng.choice([1, 1, 2, 3]) for _ in extent]
        self.dilation = [rng.choice([d for d in (1, 1, 1, 2, 3) if (k - 1) * d < n])
                         for k, n in zip(self.kernel, extent)]
        self.reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation)]
        self.begin = [rng.randint(0, r - 1) if padded else 0 for r in self.reach]
        self.end = [rng.randint(0, r - 1) if padded else 0 for r in self.reach]
        self.out = [self.count(i) for i in (0, 1)]

    def count(self, i):
        padded, stride = self.extent[i] + self.begin[i] + self.end[i], self.stride[i]
        n = (padded - self.reach[i]) // stride + 1
        more = self.ceil and (padded - self.reach[i]) % stride and n * stride < self.extent[i] + self.begin[i]
        return n + 1 if more else n

    def text(self):
        return "kernel=%s, stride=%s, dilation=%s, pad_begin=%s, pad_end=%s" % (
            ints(self.kernel), ints(self.stride), ints(self.dilation), ints(self.begin), ints(self.end))

    def one(self, axis, place, tap):
        """An index, None in the padding, OVER beyond it."""
        at = place * self.stride[axis] + tap * self.dilation[axis] - self.begin[axis]
        if at >= self.extent[axis] + self.end[axis]:
            return OVER
        return at if 0 <= at < self.extent[axis] else None

    def cells(self, row, column):
        """[(row, column), or None in the padding, or OVER], row-major in the kernel"""
        for i in range(self.kernel[0]):
            for j in range(self.kernel[1]):
                r, c = self.one(0, row, i), self.one(1, column, j)
                yield OVER if OVER in (r, c) else None if None in (r, c) else (r, c)

    def places(self, row, column):
        """[(row, column) or None], of windows that hang over nothing or where that is padding"""
        return [p if p != OVER else None for p in self.cells(row, column)]

"""Transposed convolution: each input element, times the kernel, is added where it falls (ONNX ConvTranspose; TFLite
in schemes/SOURCES.md). Each output element adds its products in the order of the weights in memory."""
from layers import Weights, give, outputs
from network import ints
from numbers_exact import Unsaid
from windows import Image


class Scattered:
    """Which input elements reach an output element."""

    def __init__(self, rng, extent):
        self.extent = extent
        self.kernel, self.stride = [rng.randint(1, 3) for _ in "hw"], [rng.randint(1, 3) for _ in "hw"]
        self.dilation = [rng.choice([1, 1, 2, 3]) for _ in "hw"]
        reach = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation)]
        self.begin, self.end = ([rng.randint(0, r - 1) for r in reach] for _ in "be")
        self.more = [rng.choice([0, 0, rng.randint(0, max(s, d) - 1)]) for s, d in zip(self.stride, self.dilation)]
        self.out = [(n - 1) * s + r + m - b - e for n, s, r, m, b, e in zip(
            extent, self.stride, reach, self.more, self.begin, self.end)]

    def text(self):
        return "kernel=%s, stride=%s, dilation=%s, pad_begin=%s, pad_end=%s, output_padding=%s" % tuple(
            ints(v) for v in (self.kernel, self.stride, self.dilation, self.begin, self.end, self.more))

    def source(self, axis, place, tap):
        """The input's index whose tap falls there, or None."""
        at, rest = divmod(place + self.begin[axis] - tap * self.dilation[axis], self.stride[axis])
        return at if not rest and 0 <= at < self.extent[axis] else None

    def sources(self, row, column):
        """[(row, column) or None] of the kernel's taps, row-major"""
        for a in range(self.kernel[0]):
            for b in range(self.kernel[1]):
                r, c = self.source(0, row, a), self.source(1, column, b)
                yield None if None in (r, c) else (r, c)


class Swapped(Weights):
    """Weights [inputs, outputs of a group, kernel]: channel g * outputs + o has those of its group's inputs."""

    def __init__(self, network, name, image, group, width, kernel):
        self.group, self.own, self.plane = group, image.depth // group, kernel[0] * kernel[1]
        Weights.__init__(self, network, name, [image.depth, width // group] + kernel, False, width,
                         self.own * self.plane, whole=group > 1)

    def axis(self):
        return 1

    def of_channel(self, channel):
        part = self.width // self.group
        first, o = channel // part * self.own, channel % part
        return [w for i in range(first, first + self.own)
                for w in self.codes[(i * part + o) * self.plane:(i * part + o + 1) * self.plane]]


def conv_transpose(network, x):
    rng = network.rng
    image = Image(network.image(x), rng.random() < 0.5)
    x, nhwc, depth = image.x, image.nhwc, image.depth
    window = Scattered(rng, image.extent)
    if min(window.out) < 1:
        raise Unsaid("nothing is left of it")
    group = 1 if nhwc else rng.choice([1, 1] + [g for g in (2, 3, depth) if depth % g == 0])
    width = group * rng.randint(1, 2)
    out = network.tensor(image.shape(width, window.out), kind=network.next_kind(x))
    if nhwc:
        weights = Weights(network, "w" + out.name, [width] + window.kernel + [depth], False)
    else:
        weights = Swapped(network, "w" + out.name, image, group, width, window.kernel)
    bias = weights.draw_bias(x)
    record = network.records("conv_transpose", out.name, x)
    own = depth // group

    def codes(n, channel, i, j):
        inputs = range(channel * group // width * own, channel * group // width * own + own)
        places = list(window.sources(i, j))
        if nhwc:
            return [p and image.code(n, k, *p) for p in places for k in inputs]
        return [p and image.code(n, k, *p) for k in inputs for p in places]
    rows = [(c, codes(n, c, i, j)) for n, c, i, j in image.order(width, window.out)]
    given = give(network, out, record, weights)
    text = "conv_transpose(%s, %s%s) {%s, %s, group=%d}%s" % (
        x.name, weights.name, bias, image.layout(), window.text(), group, network.bounds(out))
    network.node(out, text, lambda: outputs(record, x, out, network.sums, weights.channels(), weights.per_tensor, rows, given))
    return out

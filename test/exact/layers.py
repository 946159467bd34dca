"""Weighted nodes: fc, conv in both layouts, matmul. Drawn, and computed from exact products in the order of
the weights in memory; taps of the padding are products of nothing, which keep their place."""
import rescale
import sums
from network import count_of, ints
from numbers_exact import Unsaid, f32, number


class Channel:
    """One output channel: weights, its bias and the scale of its accumulator."""

    def __init__(self, weights, bias, zero, unit, scales=None, size=0):
        self.weights, self.bias, self.zero = weights, bias, zero
        self.unit, self.scales, self.size = unit, scales, size

    def total(self, record, x, codes):
        rule, x_zero, w_zero = record["accumulator"], x.zero, self.zero
        products = [0 if p is None else (p - x_zero) * (w - w_zero) for p, w in zip(codes, self.weights)]
        if self.size:
            products = sums.block_terms(record["blocks"], products, self.scales, self.unit, self.size)
            rule = sums.one_by_one(rule)
        elif rule["saturate_pairs"]:
            products = sums.saturated_pairs(codes, self.weights, x_zero, w_zero, x.kind[1])
            rule = sums.of_pairs(rule)
        return sums.accumulate(rule, products, self.bias)


class Weights:
    """Drawn weights of `width` channels and `depth` products each."""

    def __init__(self, network, name, shape, blocks):
        record = network.record
        self.network, self.record, self.name, self.shape = network, record, name, shape
        self.width, self.depth = shape[0], 1
        for extent in shape[1:]:
            self.depth *= extent
        types = record["types"]
        self.kind = (types["weight_bits"], types["weight_signed"])
        self.blocks = blocks and types["weight_scales"] == "per-block"
        self.per_tensor = types["weight_scales"] == "per-tensor"
        self.zeros = [0 if self.blocks else network.draw_zero(self.kind, types["weight_zero_point"])
                      for _ in range(self.width)]
        self.codes = network.draw_codes(self.kind, self.width * self.depth, types["weight_narrow"])
        self.size = network.rng.randint(1, self.depth) if self.blocks else 0
        count = (self.depth + self.size - 1) // self.size if self.blocks else 1
        self.scales = [[network.draw_scale(-8, -1) for _ in range(count)] for _ in range(self.width)]
        if self.per_tensor:
            self.scales, self.zeros = [self.scales[0]] * self.width, [self.zeros[0]] * self.width
        self.bias, self.wide_bias = [0] * self.width, False
        network.lines.append("const %s: %s = %s" % (name, self.type(), ints(self.codes)))

    def type(self):
        flat = ",".join(number(s) for own in self.scales for s in own)
        if self.blocks:
            zeros = ints([0] * sum(map(len, self.scales)))
            params = "q(axis=1,block=%d,[%s],%s)" % (self.size, flat, zeros)
        elif self.per_tensor:
            params = "q(%s,%d)" % (number(self.scales[0][0]), self.zeros[0])
        else:
            params = "q(axis=0,[%s],%s)" % (flat, ints(self.zeros))
        return "%s%d%s %s" % ("i" if self.kind[1] else "u", self.kind[0], ints(self.shape), params)

    def draw_bias(self, x):
        """The text of the third argument."""
        rng = self.network.rng
        if self.blocks or rng.random() < 0.4:
            return ""
        bits = self.record["types"]["bias_bits"]
        self.wide_bias = bits > 32
        limit = 1 << min(bits - 1, rng.choice([4, 10, 20, 31]))
        self.bias = [rng.randint(-limit, limit - 1) for _ in range(self.width)]
        steps = [number(f32(x.scale * own[0])) for own in self.scales]
        params = "q(%s,0)" % steps[0] if self.per_tensor else "q(axis=0,[%s],%s)" % (
            ",".join(steps), ints([0] * self.width))
        self.network.lines.append("const b%s: i%d[%d] %s = %s" % (self.name, 64 if bits > 32 else 32, self.width, params,
                                                               ints(self.bias)))
        return ", b" + self.name

    def channels(self):
        made = []
        for index, own in enumerate(self.scales):
            unit = sums.unit_of(self.record["blocks"], own) if self.blocks else own[0]
            weights = self.codes[index * self.depth:(index + 1) * self.depth]
            made.append(Channel(weights, self.bias[index], self.zeros[index], unit, own, self.size))
        return made


def give(network, out, record, weights):
    """Sometimes multipliers and shifts that the scheme's file states for the node, of a rescale that reads such."""
    rule, rng = record["rescale"], network.rng
    if rule["encoding"] != "multiplier" or weights.size or rng.random() < 0.8:
        return None
    bits, count = rule["multiplier_bits"], 1 if weights.per_tensor else weights.width
    made = [(rng.randint(1 << bits - 1, (1 << bits) - 1), bits + rng.randint(0, 12)) for _ in range(count)]
    network.given[out.name] = {"multiplier": ints([m for m, _ in made]),
                               "shift": ints([rescale.written_right(rule, s) for _, s in made])}
    return [rescale.reduce(rule, m, s) for m, s in made] * (weights.width if count == 1 else 1)


def outputs(record, x, out, kept, channels, per_tensor, rows, given=None):
    """rows: [(channel, codes)] in the order of the output's elements; given: what each channel is rescaled by."""
    coarse = 1 << record["blocks"]["shift"] if channels[0].size else 1
    reals = [rescale.form(record["rescale"]["scale"], x.scale, c.unit * coarse, out.scale, per_tensor)
             for c in channels]
    common = None if isinstance(reals[0], tuple) else max(reals)
    encoded = given or [rescale.encode(record["rescale"], real, common) for real in reals]
    totals = [channels[c].total(record, x, codes) for c, codes in rows]
    kept[out.name] = totals
    return [rescale.apply(record["rescale"], encoded[c], total, out.zero, out.bounds, out.kind)
            for (c, _), total in zip(rows, totals)]


def fc(network, x):
    rng = network.rng
    batch = x.shape[0]
    depth = len(x.codes) // batch
    out = network.tensor([batch, rng.randint(1, 3)], kind=x.kind)
    weights = Weights(network, "w" + out.name, [out.shape[1], depth], True)
    bias = weights.draw_bias(x)
    record = network.records("fc", out.name, x, not weights.wide_bias)
    rows = [(c, x.codes[r * depth:(r + 1) * depth]) for r in range(batch) for c in range(weights.width)]
    given = give(network, out, record, weights)
    network.node(out, "fc(%s, %s%s)%s" % (x.name, weights.name, bias, network.bounds(out)), lambda: outputs(
        record, x, out, network.sums, weights.channels(), weights.per_tensor, rows, given))
    return out


def matmul(network, x):
    """By a computed matrix, an input of its own; batches of them; either operand transposed."""
    rng = network.rng
    if rng.random() < 0.5:
        x = network.input([rng.randint(1, 3) for _ in range(rng.choice([2, 3, 3, 4]))])
    left, right = rng.random() < 0.3, rng.random() < 0.3
    batch = x.shape[:-2]
    high, depth = (x.shape[-1], x.shape[-2]) if left else (x.shape[-2], x.shape[-1])
    width = rng.randint(1, 3)
    y = network.input(batch + ([width, depth] if right else [depth, width]))
    out = network.tensor(batch + [high, width], kind=x.kind)
    record = network.records("matmul", out.name, x)
    channels, rows = [], []
    for b in range(count_of(batch)):
        xs, ys = x.codes[b * high * depth:(b + 1) * high * depth], y.codes[b * width * depth:(b + 1) * width * depth]
        for c in range(width):
            channels.append(Channel(ys[c * depth:(c + 1) * depth] if right else ys[c::width], 0, y.zero, y.scale))
        for r in range(high):
            own = xs[r::high] if left else xs[r * depth:(r + 1) * depth]
            rows += [(b * width + c, own) for c in range(width)]
    attributes = [n for n, on in (("transpose_a=true", left), ("transpose_b=true", right)) if on]
    network.node(out, "matmul(%s, %s)%s%s" % (
        x.name, y.name, " {%s}" % ", ".join(attributes) if attributes else "", network.bounds(out)),
        lambda: outputs(record, x, out, network.sums, channels, True, rows))
    return out


class Window:
    """A two-dimensional window: kernel, stride, padding; which input elements an output element sees."""

    def __init__(self, rng, extent, padded):
        self.extent = extent
        self.kernel = [rng.randint(1, min(3, n)) for n in extent]
        self.stride = [rng.choice([1, 1, 2]) for _ in extent]
        self.begin = [rng.randint(0, k - 1) if padded else 0 for k in self.kernel]
        self.end = [rng.randint(0, k - 1) if padded else 0 for k in self.kernel]
        self.out = [(n + b + e - k) // s + 1 for n, b, e, k, s in zip(extent, self.begin, self.end, self.kernel,
                                                                      self.stride)]

    def text(self):
        return "kernel=%s, stride=%s, pad_begin=%s, pad_end=%s" % (
            ints(self.kernel), ints(self.stride), ints(self.begin), ints(self.end))

    def places(self, row, column):
        """[(row, column) or None in the padding], row-major in the kernel"""
        for i in range(self.kernel[0]):
            for j in range(self.kernel[1]):
                r = row * self.stride[0] + i - self.begin[0]
                c = column * self.stride[1] + j - self.begin[1]
                yield (r, c) if 0 <= r < self.extent[0] and 0 <= c < self.extent[1] else None


def svdf_feature(network, x):
    """As a fully connected node without a bias, in the memory's type before and after its zero point (schemes/FORMULAS.md)."""
    if not x.kind[1]:
        raise Unsaid("an unsigned memory is refused")
    depth = x.shape[-1]
    out = network.tensor(x.shape[:-1] + [network.rng.randint(1, 3)], kind=x.kind)
    weights = Weights(network, "w" + out.name, [out.shape[-1], depth], False)
    record = network.records("svdf_feature", out.name, x)
    bits = out.kind[0]
    if record["rescale"]["encoding"] not in ("multiplier", "shift", "glow"):
        raise Unsaid("floats and thresholds are refused")
    record = dict(record, rescale=dict(record["rescale"], result_bits=bits, sum_bits=bits, result_overflow="saturate",
                                       sum_overflow="wrap"))
    rows = [(c, x.codes[at:at + depth]) for at in range(0, len(x.codes), depth) for c in range(weights.width)]
    network.node(out, "svdf_feature(%s, %s)%s" % (x.name, weights.name, network.bounds(out)), lambda: outputs(
        record, x, out, network.sums, weights.channels(), weights.per_tensor, rows))
    return out


def conv_transpose(network, x):
    """Each input element, times the kernel, is added where it falls; weights O,k,I of images with channels last."""
    rng = network.rng
    x = network.image(x)
    batch, extent, depth = x.shape[0], x.shape[1:3], x.shape[3]
    kernel, stride = [rng.randint(1, 3) for _ in "hw"], [rng.randint(1, 3) for _ in "hw"]
    begin, end = ([rng.randint(0, k - 1) for k in kernel] for _ in "be")
    size = [(n - 1) * s + k - b - e for n, s, k, b, e in zip(extent, stride, kernel, begin, end)]
    if min(size) < 1:
        raise Unsaid("nothing is left of it")
    out = network.tensor([batch] + size + [rng.randint(1, 2)], kind=x.kind)
    weights = Weights(network, "w" + out.name, [out.shape[3]] + kernel + [depth], False)
    bias = weights.draw_bias(x)
    record = network.records("conv_transpose", out.name, x)

    def codes(n, i, j):
        row = []
        for a in range(kernel[0]):
            for b in range(kernel[1]):
                r, rest = divmod(i + begin[0] - a, stride[0])
                c, more = divmod(j + begin[1] - b, stride[1])
                inside = not rest and not more and 0 <= r < extent[0] and 0 <= c < extent[1]
                at = ((n * extent[0] + r) * extent[1] + c) * depth
                row += x.codes[at:at + depth] if inside else [None] * depth
        return row
    text = "conv_transpose(%s, %s%s) {layout=nhwc, kernel=%s, stride=%s, pad_begin=%s, pad_end=%s}%s" % (
        x.name, weights.name, bias, ints(kernel), ints(stride), ints(begin), ints(end), network.bounds(out))
    network.node(out, text, lambda: outputs(record, x, out, network.sums, weights.channels(), weights.per_tensor, [
        (c, codes(n, i, j)) for n in range(batch) for i in range(size[0]) for j in range(size[1]) for c in range(weights.width)]))
    return out


def conv(network, x):
    """On an image."""
    rng = network.rng
    x = network.image(x)
    nhwc = rng.random() < 0.4
    batch, depth = x.shape[0], x.shape[3 if nhwc else 1]
    extent = x.shape[1:3] if nhwc else x.shape[2:]
    group = rng.choice([1, 1] + [g for g in (2, depth) if depth % g == 0])
    window = Window(rng, extent, rng.random() < 0.5)
    width = group * rng.randint(1, 2)
    out = network.tensor([batch] + (window.out + [width] if nhwc else [width] + window.out), kind=x.kind)
    own = depth // group
    shape = [width] + (window.kernel + [own] if nhwc else [own] + window.kernel)
    weights = Weights(network, "w" + out.name, shape, False)
    bias = weights.draw_bias(x)
    alone = depth == 1 and rng.random() < 0.6  # one channel, which nothing else tells from a plain convolution
    grouped = group > 1 or alone
    record = network.records("depthwise" if grouped else "conv", out.name, x, not weights.wide_bias and (not grouped or bias != ""))

    def code(n, channel, place):
        if place is None:
            return None
        r, c = place
        at = (r * extent[1] + c) * depth + channel if nhwc else (channel * extent[0] + r) * extent[1] + c
        return x.codes[n * depth * extent[0] * extent[1] + at]

    def row(n, c, i, j):
        channels = [c * group // width * own + k for k in range(own)]
        places = list(window.places(i, j))
        if nhwc:
            return [code(n, k, place) for place in places for k in channels]
        return [code(n, k, place) for k in channels for place in places]

    given = give(network, out, record, weights)
    planes = [(i, j) for i in range(window.out[0]) for j in range(window.out[1])]
    order = [(c, i, j) for i, j in planes for c in range(width)] if nhwc else [
        (c, i, j) for c in range(width) for i, j in planes]
    text = "conv(%s, %s%s) {layout=%s, %s, group=%d%s}%s" % (
        x.name, weights.name, bias, "nhwc" if nhwc else "nchw", window.text(), group, ", depthwise=true" if alone else "",
        network.bounds(out))
    network.node(out, text, lambda: outputs(record, x, out, network.sums, weights.channels(), weights.per_tensor,
                                            [(c, row(n, c, i, j)) for n in range(batch) for c, i, j in order], given))
    return out

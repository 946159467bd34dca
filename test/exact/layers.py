"""Weighted nodes: fc, conv in both layouts, matmul. Drawn, and computed from exact products in the order of
the weights in memory; taps of the padding are products of nothing, which keep their place."""
import rescale
import sums
from network import count_of, ints
from numbers_exact import Refused, Unsaid, f32, number
from windows import Image, Window


class Channel:
    """One output channel: weights, its bias and the scale of its accumulator."""

    def __init__(self, weights, bias, zero, unit, signed, scales=None, size=0):
        self.weights, self.bias, self.zero, self.signed = weights, bias, zero, signed
        self.unit, self.scales, self.size = unit, scales, size
        self.apart, self.single = 1, False  # of a convolution: see Weights.channels

    def total(self, record, x, codes):
        rule, x_zero, w_zero = record["accumulator"], x.zero, self.zero
        products = [0 if p is None else (p - x_zero) * (w - w_zero) for p, w in zip(codes, self.weights)]
        if self.size:
            products = sums.block_terms(record["blocks"], products, self.scales, self.unit, self.size)
            rule = sums.one_by_one(rule)
        elif rule["saturate_pairs"] and self.signed and not (rule["pair_channels"] and self.single):
            weights = self.weights
            if rule["pair_channels"]:
                codes, weights = self.by_cell(codes), self.by_cell(weights)
            products = sums.saturated_pairs(codes, weights, x_zero, w_zero, x.kind[1])
            rule = sums.of_pairs(rule)
        return sums.accumulate(rule, products, self.bias)

    def by_cell(self, filter_order):
        """All channels at one cell of the kernel, then all at the next."""
        return [v for cell in range(self.apart) for v in filter_order[cell::self.apart]]


class Weights:
    """Drawn weights of `width` channels and `depth` products each; whole: of one scale, whatever the types have."""

    def __init__(self, network, name, shape, blocks, width=None, depth=None, whole=False):
        types = network.record["types"]
        self.network, self.record, self.name, self.shape = network, network.record, name, shape
        self.width = width or shape[0]
        self.depth = depth or count_of(shape) // self.width
        self.kind, narrow, zero_rule = draw_weight_kind(network.rng, network.record)
        self.blocks = blocks and types["weight_scales"] == "per-block"
        self.per_tensor = whole or types["weight_scales"] == "per-tensor"
        self.zeros = [0 if self.blocks else network.draw_zero(self.kind, zero_rule) for _ in range(self.width)]
        self.codes = network.draw_codes(self.kind, count_of(shape), narrow)
        self.size = network.rng.randint(1, self.depth) if self.blocks else 0
        count = (self.depth + self.size - 1) // self.size if self.blocks else 1
        self.scales = [[network.draw_scale(-8, -1) for _ in range(count)] for _ in range(self.width)]
        if self.per_tensor:
            self.scales, self.zeros = [self.scales[0]] * self.width, [self.zeros[0]] * self.width
        self.bias, self.wide_bias = [0] * self.width, False
        network.lines.append("const %s: %s = %s" % (name, self.type(), ints(self.codes)))

    def axis(self):
        """Of the scales of output channels."""
        return 0

    def of_channel(self, channel):
        return self.codes[channel * self.depth:(channel + 1) * self.depth]

    def type(self):
        flat = ",".join(number(s) for own in self.scales for s in own)
        if self.blocks:
            zeros = ints([0] * sum(map(len, self.scales)))
            params = "q(axis=1,block=%d,[%s],%s)" % (self.size, flat, zeros)
        elif self.per_tensor:
            params = "q(%s,%d)" % (number(self.scales[0][0]), self.zeros[0])
        else:
            params = "q(axis=%d,[%s],%s)" % (self.axis(), flat, ints(self.zeros))
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

    def channels(self, apart=1, single=False):
        """Of a convolution: how far channels are apart in a filter, whether it has pairs at all."""
        made = []
        for index, own in enumerate(self.scales):
            unit = sums.unit_of(self.record["blocks"], own) if self.blocks else own[0]
            made.append(Channel(self.of_channel(index), self.bias[index], self.zeros[index], unit, self.kind[1], own, self.size))
            made[-1].apart, made[-1].single = apart, single and len(set(self.zeros)) == 1
        return made


def draw_weight_kind(rng, record):
    """(kind, whether the least code is left out, which zero points): types, or what `accepts` adds to them."""
    types, more = record["types"], record["accepts"]
    kind, narrow, zeros = (types["weight_bits"], types["weight_signed"]), types["weight_narrow"], types["weight_zero_point"]
    if more["weight_bits"] and rng.random() < 0.5:
        kind = more["weight_bits"], kind[1]
    if more["weight_either_sign"] and rng.random() < 0.5:
        kind = kind[0], not kind[1]
    if more["weight_zero_point"] != "none" and rng.random() < 0.5 and types["weight_scales"] != "per-block":
        zeros = more["weight_zero_point"]
    return kind, narrow and not (more["weight_least_code"] and rng.random() < 0.5), zeros


def draw_given(network, out, rule, count):
    """[(multiplier, shift)] that the scheme's file states for a node, and sometimes the zero point."""
    rng, bits = network.rng, rule["multiplier_bits"]
    made = [(rng.randint(1 << bits - 1, (1 << bits) - 1), bits + rng.randint(0, 12)) for _ in range(count)]
    own = {"multiplier": ints([m for m, _ in made]), "shift": ints([rescale.written(rule, s) for _, s in made])}
    if rng.random() < 0.5:
        out.given_zero = rng.randint(-300, 300)
        own["zero_point"] = out.given_zero
    network.given[out.name] = own
    return [rescale.reduce(rule, m, s) for m, s in made]


def give_one(network, out, record):
    """Of a node without weights, sometimes."""
    if record["rescale"]["encoding"] == "multiplier" and record["unary"]["rescale"] == "rescale" and network.rng.random() < 0.15:
        out.given_scale = draw_given(network, out, record["rescale"], 1)[0]


def give(network, out, record, weights):
    """Sometimes, of a rescale that reads such."""
    if record["rescale"]["encoding"] != "multiplier" or weights.size or network.rng.random() < 0.8:
        return None
    count = 1 if weights.per_tensor else weights.width
    return draw_given(network, out, record["rescale"], count) * (weights.width if count == 1 else 1)


def outputs(record, x, out, kept, channels, per_tensor, rows, given=None):
    """rows: [(channel, codes)] in the order of the output's elements; given: what each channel is rescaled by."""
    if x.low - x.zero < -1 << 31 or x.high - x.zero >= 1 << 31:
        raise Refused("a code less its zero point beyond 32 bits")
    coarse = 1 << record["blocks"]["shift"] if channels[0].size else 1
    reals = [rescale.form(record["rescale"]["scale"], x.scale, c.unit * coarse, out.scale, per_tensor or len(channels) == 1)
             for c in channels]
    common = None if isinstance(reals[0], tuple) else max(reals)
    encoded = given or [rescale.encode(record["rescale"], real, common) for real in reals]
    totals = [channels[c].total(record, x, codes) for c, codes in rows]
    kept[out.name] = totals
    return [rescale.apply(record["rescale"], encoded[c], total, out.last_zero(), out.bounds, out.kind)
            for (c, _), total in zip(rows, totals)]


def fc(network, x):
    rng = network.rng
    batch = x.shape[0]
    depth = len(x.codes) // batch
    out = network.tensor([batch, rng.randint(1, 3)], kind=network.next_kind(x))
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
    out = network.tensor(batch + [high, width], kind=network.next_kind(x))
    record = network.records("matmul", out.name, x)
    channels, rows = [], []
    for b in range(count_of(batch)):
        xs, ys = x.codes[b * high * depth:(b + 1) * high * depth], y.codes[b * width * depth:(b + 1) * width * depth]
        for c in range(width):
            channels.append(Channel(ys[c * depth:(c + 1) * depth] if right else ys[c::width], 0, y.zero, y.scale, y.kind[1]))
        for r in range(high):
            own = xs[r::high] if left else xs[r * depth:(r + 1) * depth]
            rows += [(b * width + c, own) for c in range(width)]
    attributes = [n for n, on in (("transpose_a=true", left), ("transpose_b=true", right)) if on]
    network.node(out, "matmul(%s, %s)%s%s" % (
        x.name, y.name, " {%s}" % ", ".join(attributes) if attributes else "", network.bounds(out)),
        lambda: outputs(record, x, out, network.sums, channels, True, rows))
    return out


def of_memory(record, bits):
    """The record of SVDF's feature: the memory's type before and after the zero point (schemes/FORMULAS.md)."""
    if record["rescale"]["encoding"] not in ("multiplier", "shift", "glow"):
        raise Refused("floats and thresholds are refused")
    return dict(record, rescale=dict(record["rescale"], result_bits=bits, sum_bits=bits, result_overflow="saturate",
                                     sum_overflow="wrap"))


def svdf_feature(network, x):
    """As a fully connected node without a bias; what follows in an SVDF: memories.py."""
    if not x.kind[1]:
        raise Unsaid("an unsigned memory is refused")
    depth = x.shape[-1]
    out = network.tensor(x.shape[:-1] + [network.rng.randint(1, 3)], kind=network.next_kind(x))
    weights = Weights(network, "w" + out.name, [out.shape[-1], depth], False)
    record = network.records("svdf_feature", out.name, x)
    rows = [(c, x.codes[at:at + depth]) for at in range(0, len(x.codes), depth) for c in range(weights.width)]
    network.node(out, "svdf_feature(%s, %s)%s" % (x.name, weights.name, network.bounds(out)), lambda: outputs(
        of_memory(record, out.kind[0]), x, out, network.sums, weights.channels(), weights.per_tensor, rows))
    return out


def conv(network, x):
    """On an image."""
    rng = network.rng
    image = Image(network.image(x), rng.random() < 0.4)
    x, depth, nhwc = image.x, image.depth, image.nhwc
    group = rng.choice([1, 1] + [g for g in (2, depth) if depth % g == 0])
    window = Window(rng, image.extent, rng.random() < 0.5)
    width = group * rng.randint(1, 2)
    out = network.tensor(image.shape(width, window.out), kind=network.next_kind(x))
    own = depth // group
    shape = [width] + (window.kernel + [own] if nhwc else [own] + window.kernel)
    weights = Weights(network, "w" + out.name, shape, False)
    bias = weights.draw_bias(x)
    alone = depth == 1 and rng.random() < 0.6  # one channel, which nothing else tells from a plain convolution
    grouped = group > 1 or alone
    record = network.records("depthwise" if grouped else "conv", out.name, x, not weights.wide_bias and (not grouped or bias != ""))

    def row(n, c, i, j):
        channels = [c * group // width * own + k for k in range(own)]
        places = window.places(i, j)
        if nhwc:
            return [place and image.code(n, k, *place) for place in places for k in channels]
        return [place and image.code(n, k, *place) for k in channels for place in places]

    given = give(network, out, record, weights)
    rows = [(c, row(n, c, i, j)) for n, c, i, j in image.order(width, window.out)]
    apart = 1 if nhwc else window.kernel[0] * window.kernel[1]
    single = own == 1 and width == depth or out.kind[0] == 32
    text = "conv(%s, %s%s) {%s, %s, group=%d%s}%s" % (
        x.name, weights.name, bias, image.layout(), window.text(), group, ", depthwise=true" if alone else "",
        network.bounds(out))
    network.node(out, text, lambda: outputs(
        record, x, out, network.sums, weights.channels(apart, single), weights.per_tensor, rows, given))
    return out

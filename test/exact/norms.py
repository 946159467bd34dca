"""Layer normalization and local response normalization: schemes/FORMULAS.md."""
import math
from fractions import Fraction

import elements
import fixedpoint as fp
import functions
import rescale
from network import ints
from numbers_exact import Unsaid, exponent, f32, number, round_to_int


def divide(a, b):
    return round_to_int(Fraction(a, b), "trunc")


def integer_sqrt(codes, a, fraction, guard, record):
    n, total = len(codes), sum(codes)
    spread = n * sum(q * q for q in codes) - total * total + guard
    root = math.isqrt(spread << 16)
    made = [round_to_int(Fraction((n * q - total) << fraction + 8, root), "half-away") if root else 0 for q in codes]
    for q, zeta in zip(codes, made):  # (x - mean) / deviation itself: the root's 8 fraction bits are cut
        exact = functions.decimal(Fraction(n * q - total)) / functions.decimal(Fraction(max(spread, 1))).sqrt() * 2 ** fraction
        assert abs(zeta - exact) <= abs(exact) / 256 * 2 + 1, "integer-sqrt is no normalization"
    return made


def newton(codes, a, fraction, guard, record):
    """PortableApplyLayerNorm of TensorFlow Lite's portable_tensor_utils.cc, where 1 << fraction is 1024."""
    unit, n = 1 << fraction, len(codes)
    mean = divide(sum(codes) * unit, n)
    part = divide(unit * unit, n)
    variance = divide(sum(q * q for q in codes) * part - mean * mean, unit * unit)
    if variance < 1:
        variance = guard
    a_inverse, b_inverse = fp.inverse_sqrt(variance)
    return [fp.by_multiplier(unit * q - mean, a_inverse, b_inverse, fp.single(record)) for q in codes]


def normalized(record, a, gamma_scale, epsilon):
    """A function of a row's codes: about 2^F * (x - mean) / deviation."""
    rule = record["softmax"]
    fraction, depth = rule["layer_norm_fraction"], a.shape[-1]
    if rule["layer_norm"] == "integer-sqrt":
        scale = float(a.scale)
        guard, kind = round_to_int(Fraction(depth * depth * float(epsilon) / (scale * scale)), "half-even"), integer_sqrt
    else:
        guard, kind = max(1, round_to_int(Fraction(10000 * float(gamma_scale)), "trunc")), newton
    return lambda codes: kind(codes, a, fraction, guard, record)


def layer_norm(record, a, out, gamma, beta, epsilon):
    rule, depth = record["softmax"], a.shape[-1]
    shift, fraction = rule["layer_norm_shift"], rule["layer_norm_fraction"]
    gamma_scale = gamma.scale if gamma else Fraction(1, 1 << shift)
    weights = [g - gamma.zero for g in gamma.codes] if gamma else [1 << shift]
    offsets = [0]
    if beta:
        unit = gamma_scale / (1 << fraction)
        change = (lambda b: b) if beta.scale == unit else elements.bare(
            record, rescale.form(record["rescale"]["scale"], beta.scale, Fraction(1), unit))
        offsets = [change(b - beta.zero) for b in beta.codes]
    step = Fraction(2) ** (shift - fraction)
    last = elements.requantize(record, rescale.form(record["rescale"]["scale"], step, gamma_scale, out.scale), out)
    z_of = normalized(record, a, gamma_scale, epsilon)

    def row(codes):
        return [last(round_to_int(Fraction(z * weights[i % len(weights)] + offsets[i % len(offsets)], 1 << shift), "half-away"))
                for i, z in enumerate(z_of(codes))]
    return row


def constant(network, letter, count, kind, scale, zero):
    """Codes of another width than the scheme's activations."""
    made = network.constant([count])
    network.lines.pop()
    made.name, made.kind, made.scale, made.zero = letter + made.name, kind, scale, zero
    made.codes = network.draw_codes(kind, count)
    network.lines.append("const %s: %s = %s" % (made.name, made.type(), ints(made.codes)))
    return made


def layer_norm_node(network, x):
    rng, depth = network.rng, x.shape[-1]
    out = network.tensor(x.shape, kind=network.next_kind(x))
    record = network.records("layer_norm", out.name, x)
    rule, gamma, beta = record["softmax"], None, None
    if rng.random() < 0.8:
        kind = (rng.choice([4, 8, 16]), True)
        zero = rng.choice([0, 0, rng.randint(-3, 3)])
        gamma = constant(network, "g", rng.choice([1, depth, depth]), kind, network.draw_scale(-12, -2), zero)
    if gamma and rng.random() < 0.7:
        unit = gamma.scale / (1 << rule["layer_norm_fraction"])
        kind = (32, True) if rng.random() < 0.6 else (16, True)
        scale = unit if rng.random() < 0.6 else network.draw_scale(-16, -4)
        beta = constant(network, "b", rng.choice([1, depth, depth]), kind, scale, 0)
        beta.codes = [rng.randint(-1 << 14, 1 << 14) for _ in beta.codes]
        network.lines[-1] = "const %s: %s = %s" % (beta.name, beta.type(), ints(beta.codes))
    epsilon = f32(Fraction(rng.choice([0.0, 1e-5, 1e-3])))
    last = len(x.shape) - 1

    def run():
        one = layer_norm(record, x, out, gamma, beta, epsilon)
        return [c for at in range(0, len(x.codes), depth) for c in one(x.codes[at:at + depth])]
    network.node(out, "layer_norm(%s) {axis=%d, epsilon=%s}" % (
        ", ".join(t.name for t in (x, gamma, beta) if t), last, number(epsilon)), run)
    return out


def power(base, beta):
    """base^-beta to 60 digits."""
    return functions.exp(-beta * Fraction(functions.decimal(Fraction(base)).ln()))


class Gains:
    """The table of local response normalization."""

    def __init__(self, rule, scale, size, alpha, beta, bias):
        self.rule, self.cells, self.bias, self.beta = rule, rule["cells"], float(bias), beta
        self.places = rule["bits"] - exponent(power(self.bias, beta))
        self.unit = float(alpha) / float(size) * float(scale) * float(scale)

    def least(self, cell):
        octave, rest = cell >> self.cells, cell & (1 << self.cells) - 1
        return cell if octave < 2 else (rest + (1 << self.cells)) << octave - 1

    def entry(self, cell):
        base = Fraction(self.bias + self.unit * float(self.least(cell)))
        exact = power(base, self.beta) * Fraction(2) ** self.places
        codes = {round_to_int(exact * (1 + k * Fraction(1, 1 << 50)), self.rule["round"]) for k in (-1, 0, 1)}
        if exact == round_to_int(exact, "floor"):
            codes = {int(exact)}
        if len(codes) > 1:
            raise Unsaid("the last bit of a library's pow")
        return codes.pop()

    def check(self, total, gain):
        """Of ONNX's formula, which falls: the sum lies between its cell's ends, and so does the gain, to a unit."""
        e = max(total.bit_length() - self.cells - 1, 0)
        first, end = total >> e << e, (total >> e) + 1 << e
        high, exact, low = (power(Fraction(self.bias) + Fraction(self.unit) * u, self.beta) * Fraction(2) ** self.places
                            for u in (first, total, end))
        assert low - 1 <= gain <= high + 1 and low <= exact <= high, "a gain beyond its cell's ends"

    def gain(self, total):
        e = max(total.bit_length() - self.cells - 1, 0)
        cell = (e << self.cells) + (total >> e)
        value = self.entry(cell)
        if not self.rule["interpolate"]:
            return value
        part = (self.entry(cell + 1) - value) * (total & (1 << e) - 1)
        return value + round_to_int(Fraction(part, 1 << e), self.rule["round"])


def lrn_node(network, x):
    """Over the channels of an image of either layout."""
    rng = network.rng
    if network.rng.random() < 0.5 or len(x.shape) != 4:
        x = network.input([1, rng.randint(1, 6), rng.randint(1, 2), rng.randint(1, 6)])
    nhwc = rng.random() < 0.5
    depth = x.shape[3 if nhwc else 1]
    plane = x.count() // depth // x.shape[0]
    size = rng.randint(1, 6)
    alpha, beta, bias = (f32(Fraction(rng.choice(v))) for v in (
        [1e-4, 0.01, 1.0, 20.0, 0.0], [0.75, 0.5, 1.0, 0.3, 0.0], [1.0, 2.0, 0.3, 1.5]))
    out = network.tensor(x.shape, kind=network.next_kind(x))
    record = network.records("lrn", out.name, x)
    bounds = network.bounds(out)

    def place(n, c, p):
        return (n * plane + p) * depth + c if nhwc else (n * depth + c) * plane + p

    def run():
        gains = Gains(record["lrn"], x.scale, size, alpha, beta, bias)
        unit = Fraction(2) ** -gains.places
        last = elements.requantize(record, rescale.form(record["rescale"]["scale"], x.scale, unit, out.scale), out)
        made = [0] * x.count()
        gains.check(x.codes[0] ** 2, gains.gain(x.codes[0] ** 2))
        for n in range(x.shape[0]):
            for p in range(plane):
                d = [x.codes[place(n, c, p)] - x.zero for c in range(depth)]
                for c in range(depth):
                    window = d[max(c - (size - 1) // 2, 0):c + size // 2 + 1]
                    made[place(n, c, p)] = last(d[c] * gains.gain(sum(v * v for v in window)))
        return made
    network.node(out, "lrn(%s) {layout=%s, size=%d, alpha=%s, beta=%s, bias=%s}%s" % (
        x.name, "nhwc" if nhwc else "nchw", size, number(alpha), number(beta), number(bias), bounds), run)
    return out

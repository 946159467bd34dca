"""DIV, squared difference and comparisons of two tensors of one shape: the kinds of record.def with the formulas of
the targets in schemes/SOURCES.md."""
from fractions import Fraction

import fixedpoint as fp
import rescale
from elements import ONE, bare, ending, finish, requantize
from numbers_exact import Refused, Unsaid, clamp, f32, f64, plus, round_to_int


def ratio(record, a, b, out):
    return rescale.form(record["rescale"]["scale"], a.scale, ONE, f32(b.scale * out.scale))


def newton(record, a, b, out):  # 2.4 DIV int8
    m, s = fp.quantize_multiplier(f64(f32(a.scale / f32(b.scale * out.scale))))
    rounds_once = fp.single(record)

    def one(p, q):
        x, y = p - a.zero, q - b.zero
        if y == 0:
            raise Unsaid("a division by zero")
        x, y = (-x, -y) if y < 0 else (x, y)
        inverse, over = fp.reciprocal(y, 31)
        spare = 31 - (x if x >= 0 else ~x).bit_length()
        if spare < 0:
            raise Refused("a code less its zero point beyond 32 bits")
        left = s - over - spare
        if left > 0:
            raise Unsaid("a quotient's multiplier beyond one")
        value = fp.by_multiplier(fp.srdhm(fp.w32(x << spare), inverse), m, left, rounds_once)
        return finish(record, value, out)
    return one


def by_float(record, a, b, out):  # Glow, interpreter
    def one(p, q):
        if q == b.zero:
            raise Unsaid("a division by zero")
        left, right = f32(a.scale * (p - a.zero)), f32(f32(b.scale * out.scale) * (q - b.zero))
        value = rescale.float_to_int(plus(f32(left / right), out.zero, f32), record["rescale"]["round"][0][1],
                                     record["rescale"]["float_overflow"])
        return ending(record, value, out)
    return one


def truncated(record, a, b, out):  # Glow: the codes are divided, then scaled
    last = requantize(record, ratio(record, a, b, out), out)

    def one(p, q):
        if q == b.zero:
            raise Unsaid("a division by zero")
        return last(round_to_int(Fraction(p - a.zero, q - b.zero), "trunc"))
    return one


DIV = {"newton-reciprocal": newton, "float": by_float, "truncate-then-scale": truncated}


def squared_difference(record, a, b, out):  # 2.4
    bits = record["binary"]["squared_difference_bits"] if a.kind[0] <= 8 else 0
    top = 2 * max(a.scale, b.scale)
    left = [bare(record, f64(t.scale / top)) for t in (a, b)]
    last = requantize(record, f64(f64(top * top) / f64((1 << 2 * bits) * out.scale)), out)
    return lambda p, q: last((left[0]((p - a.zero) << bits) - left[1]((q - b.zero) << bits)) ** 2)


COMPARE = {"equal": lambda p, q: p == q, "not_equal": lambda p, q: p != q, "less": lambda p, q: p < q,
           "less_equal": lambda p, q: p <= q, "greater": lambda p, q: p > q, "greater_equal": lambda p, q: p >= q}


def compare(record, a, b, op):
    if record["binary"]["compare"] == "exact":
        sides = [lambda p, t=t: t.scale * (p - t.zero) for t in (a, b)]
    else:  # 2.4 COMPARISONS
        if max(a.scale, b.scale) >= 1:
            raise Unsaid("a scale of one and more")
        sides = [lambda p, t=t, last=bare(record, t.scale): last((p - t.zero) << 8) for t in (a, b)]
    return lambda p, q: int(COMPARE[op](sides[0](p), sides[1](q)))


def divisor(network, x):
    """A constant or a given tensor without the code of zero."""
    y = network.constant(x.shape) if network.rng.random() < 0.5 else network.input(x.shape)
    if y.given:
        y.codes = [c if c != y.zero else clamp(c + 1, y.low, y.high) for c in y.codes]
    return y


def node(network, x, op):
    y = divisor(network, x)
    if op == "compare":
        op = network.rng.choice(sorted(COMPARE))
        network.flags(op, x, y, compare)
        return x
    out = network.tensor(x.shape, kind=network.next_kind(x))
    record = network.records(op, out.name, x)

    def run():
        one = (DIV[record["binary"]["div"]] if op == "div" else squared_difference)(record, x, y, out)
        return [one(p, q) for p, q in zip(x.codes, y.codes)]
    network.node(out, "%s(%s, %s)%s" % (op, x.name, y.name, network.bounds(out)), run)
    return out

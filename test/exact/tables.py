"""Functions of one code: full tables, 513 points with lines between, and the fixed-point forms of TFLite.
Sources: schemes/SOURCES.md."""
import math
from fractions import Fraction

import elements
import fixedpoint as fp
import functions
import rescale
from numbers_exact import Unsaid, clamp, exponent, f32, f64, number, round_to_int

ONE = Fraction(1)


def full(record, a, out, name):
    rule = record["table"]
    to = f32 if rule["precision"] == "float32" else f64
    ending, values = elements.table_ending(record, out, to), elements.argument(rule, a, to)
    if name == "sigmoid" and rule["sigmoid"] != "library" and to is f32:
        return lambda p: ending(functions.rational_sigmoid(values(p)))
    return lambda p: functions.code_of(name, values(p), to, ending)


def points(function, low, high, out_low, out_high, to=f32):
    """513 points of a function of [low, high] (2.5)"""
    step = to(to(high - low) / 512)
    inverse = to(65536 / to(out_high - out_low))
    if max(abs(v) for v in (step, inverse)) == math.inf:
        raise Unsaid("points beyond the format")
    made, half = [], to(step / 2)

    def at(x):
        value = to(function(x) * inverse)
        if abs(value) == math.inf:
            raise Unsaid("a point beyond the format")
        return value
    for i in range(512):
        x = to(low + to(i * step))
        a, n = round_to_int(at(x), "half-away"), at(to(low + to((i + 1) * step)))
        middle = round_to_int(at(to(x + half)), "half-away")
        between = round_to_int(to(to(n + a) / 2), "half-away")
        bias = round_to_int(to(to(between - middle) / 2), "half-away")
        made.append(clamp(a - bias, -32768, 32767))
    return made + [clamp(round_to_int(at(high), "half-away"), -32768, 32767)]


def interpolate(table, v):
    i, rest = 256 + (v >> 7), v & 127
    slope = table[i + 1] - table[i]
    return table[i] + (slope * rest + 64 >> 7)


def interpolated(record, a, out, name):
    to = f32 if record["table"]["precision"] == "float32" else f64
    function = functions.finite(name, to)
    low, high = (to(a.scale * (end - a.zero)) for end in (a.low, a.high))
    ends = [to(out.scale * (end - out.zero)) for end in (out.low, out.high)]
    made = points(function, low, high, *ends, to=to)
    bounds = out.bounds or (out.low, out.high)
    return lambda p: clamp(clamp(interpolate(made, p), *bounds), out.low, out.high)


def fixed(record, a, out, name):
    """LOGISTIC and TANH of 8 bits (2.4)"""
    e = exponent(a.scale) + 27
    m = round_to_int(a.scale * Fraction(2) ** (27 + 31 - e), "half-away")
    radius = int(15 * Fraction(1 << 27) / Fraction(2) ** e)
    if e < 0:
        raise Unsaid("an input scale below 2^-27")

    def one(p):
        x = p - a.zero
        if abs(x) >= radius:
            return (out.low if x < 0 else out.high)
        value = fp.by_multiplier(x, m, e, fp.single(record))
        if name == "sigmoid":
            return clamp(fp.rdbp(fp.logistic(value, 4), 23) + out.low, out.low, out.high)
        return clamp(fp.rdbp(fp.tanh(value, 4), 24) + out.zero, out.low, out.high)
    return one


PLUS_ONE = {4, 8, 12, 14, 15, 16, 17, 19, 20, 21, 22, 25, 27, 28, 29, 30, 31, 33, 34, 35, 37, 39, 40, 41, 43, 44, 45,
            46, 49, 50, 54, 62, 63, 64, 66, 82, 86, 93, 100, 103, 112, 116, 135, 255}


def sigmoid_table():
    return [min(65535, round_to_int(65536 / (1 + functions.exp(Fraction(-i, 24))), "half-up") + (i in PLUS_ONE))
            for i in range(256)]


def fixed_16(record, a, out, name):
    """LOGISTIC and TANH of 16 bits (2.4)"""
    e = exponent(a.scale) - 1
    left = 12 + e
    if a.scale == Fraction(2) ** e and left in ((0, 1) if name == "tanh" else (0,)):
        m, shift = 3 << left, 0
    else:
        shift, m = 0, f64(a.scale * 4096 * 3)
        while m <= Fraction(32767, 2) and shift < 31:
            shift, m = shift + 1, m * 2
        m = int(m)
    t = sigmoid_table()

    def one(p):
        d = p * m + ((1 << shift - 1) if shift else 0) >> shift
        a = abs(d)
        if name == "sigmoid":
            u = a >> 9
            r = 0x7fff << 10 if u >= 255 else (t[u] << 9) + (a & 511) * (t[u + 1] - t[u])
            return (r + 512 if d >= 0 else (1 << 25) - r + 511) >> 10
        u = a >> 8
        r = 0xffff << 8 if u >= 255 else (t[u] << 8) + (a & 255) * (t[u + 1] - t[u])
        r = r - (1 << 23) + (1 << 7) if d >= 0 else -r + (1 << 23) + (1 << 7) - 1
        return r >> 8
    return one


def down_16(m):
    return 32767 if m >= (1 << 31) - 1 - (1 << 15) else m + (1 << 15) >> 16


def sat_16(x):
    return clamp(x, -32768, 32767)


def srdhm_16(a, b):
    return sat_16(a * b + (1 << 14) >> 15)


def hard_swish(record, a, out, name):
    """2.4 HARD_SWISH"""
    fine = f32(a.scale * f32(Fraction(1, 128)))
    om, oe = fp.quantize_multiplier(f64(f32(fine / out.scale)))
    rm, re = fp.quantize_multiplier(f64(f32(fine / f32(Fraction(3, 32768)))))
    om, rm = down_16(om), down_16(rm)
    if oe > 0:
        raise Unsaid("an output scale below the input's / 128")

    def one(p):
        x = sat_16((p - a.zero) * 128)
        before, r = srdhm_16(x, om), x
        if re > 0:
            r = sat_16(r << re - 1)
        r = srdhm_16(r, rm)
        if re > 0:
            r = sat_16(r << 1)
        if re < 0:
            r = fp.rdbp(r, -re)
        r = r + 32768 >> 1
        value = clamp(round_to_int(Fraction(r * before, 1 << 15), "trunc"), -32768, 32767)
        return elements.ending(record, sat_16(fp.rdbp(value, -oe) + out.zero), out)
    return one


def whole(value):
    """A real constant toward zero; nothing is said where binary64 may have reached the next integer."""
    ends = {round_to_int(value * (1 + k * Fraction(1, 1 << 50)), "trunc") for k in (-1, 1)}
    if len(ends) > 1:
        raise Unsaid("a constant beside an integer")
    return ends.pop()


def i_bert(record, a, out):
    """I-GELU: x (1 + L(x / sqrt 2)) / 2, L(x) = sgn(x) (A (min(|x|, -B) + B)^2 + 1), the polynomial's constants and the 1 in
    units of what they are added to (Kim et al. 2021, algorithms 1 and 2; igelu of 8.1). The unit of L is negative, so that
    both factors change sign."""
    top, root = Fraction("-0.2888"), Fraction("-1.769")
    erf_scale = a.scale / functions.SQRT2
    unit = top * erf_scale * erf_scale
    b, c = whole(root / erf_scale), whole(ONE / unit)
    step = -unit / 2
    if f32(step * (1 - Fraction(1, 1 << 50))) != f32(step * (1 + Fraction(1, 1 << 50))):
        raise Unsaid("a scale beside two floats' middle")
    last = elements.requantize(record, rescale.form(record["rescale"]["scale"], a.scale, f32(step), out.scale), out)

    def one(p):
        x = p - a.zero
        polynomial = (min(abs(x), -b) + b) ** 2 + c
        return last(-x * ((x > 0) - (x < 0)) * polynomial - x * c)
    return one


def steps_node(network, x):
    """Functions of several steps: full tables, or I-BERT's GELU."""
    rng = network.rng
    op, out = rng.choice(["elu", "gelu", "gelu", "gelu_tanh", "softplus", "hard_sigmoid", "cos"]), network.tensor(x.shape, kind=x.kind)
    word = op.split("_t")[0]
    record = network.records(word, out.name, x)
    alpha = f32(Fraction(rng.uniform(0.1, 1.5)))
    text = {"elu": " {alpha=%s}" % number(alpha), "hard_sigmoid": " {alpha=%s}" % number(alpha), "gelu_tanh": " {approximate=tanh}"}.get(op, "")
    if word == "gelu" and record["unary"]["gelu"] == "i-bert":
        made = lambda: i_bert(record, x, out)
    elif record["table"]["kind"] == "interpolated-513" and x.kind == (16, True):
        raise Unsaid("the steps of %s between points" % op)
    else:
        to = f32 if record["table"]["precision"] == "float32" else f64
        ending, values = elements.table_ending(record, out, to), elements.argument(record["table"], x, to)
        made = lambda: lambda p: functions.code_of_steps(op, values(p), alpha, to, ending)

    def run():
        one = made()
        seen = {p: one(p) for p in set(x.codes)}
        return [seen[p] for p in x.codes]
    network.node(out, "%s(%s)%s%s" % (word, x.name, text, network.bounds(out)), run)
    return out


def choose(record, a, op):
    """(function, fixed output parameters or None) of a function's node."""
    wide = a.kind[0] > 8
    if op in ("sigmoid", "tanh") and record["unary"]["logistic"] == "fixed-point" and a.kind == (16, True):
        return fixed_16, True
    if op in ("sigmoid", "tanh") and record["unary"]["logistic"] == "fixed-point" and not wide:
        return fixed, True
    if op == "hard_swish":
        return hard_swish, False
    if record["table"]["kind"] == "interpolated-513" and a.kind == (16, True):
        return interpolated, False
    return full, False


NAMES = ["neg", "square", "abs", "floor", "ceil", "sign", "round", "exp", "sigmoid", "sigmoid", "tanh", "tanh", "sin", "erf", "sqrt",
         "log", "reciprocal", "hard_swish"]


def node(network, x):
    rng = network.rng
    op = rng.choice(NAMES)
    record = network.records(op, "", x)
    if op == "hard_swish" and (record["unary"]["hard_swish"] != "fixed-point" or x.kind[0] > 8):
        op = "tanh"
    if op == "abs" and record["unary"]["abs"] == "rescale":
        return rescaled_abs(network, x)
    out = network.tensor(x.shape, kind=x.kind)
    maker, fixed_out = choose(network.records(op, out.name, x), x, op)
    bits, signed = out.kind
    if fixed_out and op == "sigmoid":
        out.scale, out.zero = (Fraction(1, 1 << 15), 0) if bits > 8 and signed else (Fraction(1, 1 << bits), out.low)
    elif fixed_out:
        out.scale, out.zero = Fraction(1, 1 << bits - 1), 0 if signed else 1 << bits - 1
    record = network.records(op, out.name, x)

    def run():
        one = maker(record, x, out, op)
        seen = {p: one(p) for p in set(x.codes)}
        return [seen[p] for p in x.codes]
    network.node(out, "%s(%s)%s" % (op, x.name, "" if fixed_out else network.bounds(out)), run)
    return out


def rescaled_abs(network, x):
    out = network.tensor(x.shape, kind=x.kind)
    record = network.records("abs", out.name, x)

    def run():
        last = elements.requantize(record, elements.form(record, x, out), out)
        return [last(abs(p - x.zero)) for p in x.codes]
    network.node(out, "abs(%s)%s" % (x.name, network.bounds(out)), run)
    return out

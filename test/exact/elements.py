"""Operators of one and two codes: the kinds of record.def with the formulas of the
targets in schemes/SOURCES.md."""
from fractions import Fraction
from math import inf

import fixedpoint as fp
import functions
import rescale
from numbers_exact import Refused, Unsaid, clamp, exponent, f32, f64, narrow, plus, round_to_int, times

ONE = Fraction(1)


def code(record, section, value, out):
    """A float value and the output's zero point, inside or after the rounding."""
    rule = record[section]
    if rule["zero_point"] == "inside":
        whole = rescale.float_to_int(plus(value, out.zero, f32), rule["round"])
    else:
        whole = rescale.float_to_int(value, rule["round"]) + out.zero
    return ending(record, whole, out)


def finish(record, value, out):
    """The zero point and the store at the end of an operator in integers."""
    rule = record["rescale"]
    return ending(record, narrow(value + out.zero, rule["sum_bits"], rule["sum_overflow"]), out)


def ending(record, value, out):
    return rescale.store(record["rescale"], value, out.bounds, out.kind)


def requantize(record, real, out):
    """A function of centred accumulators, under the section rescale."""
    rule = record["rescale"]
    scale = out.given_scale or rescale.encode(rule, real)
    return lambda x: rescale.apply(rule, scale, x, out.last_zero(), out.bounds, out.kind)


def bare(record, real):
    """The same without a zero point and an output type: what stands inside an operator."""
    rule = record["rescale"]
    scale = rescale.encode(rule, real)
    if rule["encoding"] == "thresholds":
        raise Refused("thresholds give no more than codes of an output")
    if rule["encoding"] in ("float32", "float64"):
        to = f32 if rule["encoding"] == "float32" else f64
        return lambda x: rescale.float_to_int(rescale.scaled_float(rule, scale, x, to), rule["round"][-1][1],
                                              rule["float_overflow"], rule["float_rounding"])
    return lambda x: narrow(rescale.scaled_integer(rule, scale, x), rule["result_bits"], rule["result_overflow"])


def add(record, a, b, out, sign):
    """A function of two codes; sign -1 subtracts."""
    return ADD[record["add"]["kind"]](record, a, b, out, sign)


def add_left_shift(record, a, b, out, sign):  # 2.4 ADD
    rule = record["add"]
    bits = min(rule["bits"], 31 - max(a.kind[0], b.kind[0]))
    if bits < 0:
        raise Refused("32 bits have no room")
    to = f32 if rule["scale"] == "float32" else f64
    top = 2 * max(a.scale, b.scale)
    left = bare(record, to(a.scale / top)), bare(record, to(b.scale / top))
    last = requantize(record, to(top / (to(Fraction(1 << bits) * out.scale))), out)
    return lambda p, q: last(left[0]((p - a.zero) << bits) + sign * left[1]((q - b.zero) << bits))


def add_common_exponent(record, a, b, out, sign):  # 5.1 (d), 5.2 (d)
    rule = record["add"]
    ratio = f32(a.scale / out.scale), f32(b.scale / out.scale)
    shift = rule["bits"] - (exponent(max(ratio)) - 1)
    m = [round_to_int(r * Fraction(2) ** shift, "half-even") for r in ratio]

    def one(p, q):
        total = m[0] * (p - a.zero) + sign * m[1] * (q - b.zero)
        return finish(record, round_to_int(total / Fraction(2) ** shift, rule["round"]), out)
    return one


def add_float_scaled(record, a, b, out, sign):  # ONNX Runtime, QLinearAdd
    rule = record["add"]
    ra, rb = f32(a.scale / out.scale), sign * f32(b.scale / out.scale)
    fma = (lambda x, y, z: f32(x * y + z)) if rule["fused"] else lambda x, y, z: f32(f32(x * y) + z)
    zero = out.zero if rule["zero_point"] == "inside" else 0
    fixed = f32(zero - fma(ra, a.zero, f32(rb * b.zero)))

    def one(p, q):
        value = fma(p, ra, fma(q, rb, fixed)) if rule["fused"] else f32(f32(fixed + f32(p * ra)) + f32(q * rb))
        whole = rescale.float_to_int(value, rule["round"], rule["float_overflow"])
        return ending(record, whole + out.zero - zero, out)
    return one


def add_float_real(record, a, b, out, sign):  # 7.1 (d) scalar: dequantize, add, quantize
    def one(p, q):
        total = f32(f32((p - a.zero) * a.scale) + sign * f32((q - b.zero) * b.scale))
        return code(record, "add", f32(total / out.scale), out)
    return one


def add_float_ratio(record, a, b, out, sign):  # Glow fwdElementSubInst
    ra, rb = f32(a.scale / out.scale), f32(b.scale / out.scale)
    return lambda p, q: code(record, "add", f32(f32((p - a.zero) * ra) + sign * f32((q - b.zero) * rb)), out)


def add_fixed_scale(record, a, b, out, sign):  # Glow fwdElementAddInst: both on 2^-bits, then to the output
    rule = record["add"]
    unit = Fraction(1, 1 << rule["bits"])
    ra, rb, ro = f32(a.scale / unit), f32(b.scale / unit), f32(unit / out.scale)

    def one(p, q):
        total = (rescale.float_to_int(times(p - a.zero, ra, f32), rule["round"])
                 + sign * rescale.float_to_int(times(q - b.zero, rb, f32), rule["round"]))
        return code(record, "add", times(f32(total), ro, f32), out)
    return one


def add_separate(record, a, b, out, sign):  # 7.4 (d): each operand rounded on the output's scale
    left, right = (bare(record, form(record, a, out)), bare(record, form(record, b, out)))
    return lambda p, q: finish(record, left(p - a.zero) + sign * right(q - b.zero), out)


def add_align(record, a, b, out, sign):  # 8.4 (d) ELTWISE
    rule = record["add"]
    coarse = max(a.scale, b.scale)

    def aligned(x, scale):
        return round_to_int(x * scale / coarse * (1 << rule["bits"]), rule["align_round"])

    def one(p, q):
        total = aligned(p - a.zero, a.scale) + sign * aligned(q - b.zero, b.scale)
        value = round_to_int(total * coarse / out.scale / (1 << rule["bits"]), rule["round"])
        return finish(record, value, out)
    return one


def add_plain(record, a, b, out, sign):  # 8.5 (d)
    return lambda p, q: finish(record, p - a.zero + sign * (q - b.zero), out)


ADD = {"left-shift": add_left_shift, "common-exponent": add_common_exponent, "float-scaled": add_float_scaled,
       "float-real": add_float_real, "float-ratio": add_float_ratio, "fixed-scale": add_fixed_scale,
       "separate": add_separate, "align-power-of-two": add_align, "plain": add_plain}


def form(record, a, out):
    return rescale.form(record["rescale"]["scale"], a.scale, ONE, out.scale)


def multiply(record, a, b, out):
    real = rescale.form(record["rescale"]["scale"], a.scale, b.scale, out.scale)
    last = requantize(record, real, out)
    return lambda p, q: last((p - a.zero) * (q - b.zero))


def same(a, out):
    """Whether there is no change of parameters, hence none to rescale."""
    return not out.given_scale and (a.scale, a.zero, a.kind) == (out.scale, out.zero, out.kind)


def change(record, a, out):
    """The op rescale: a rescale, or a table of dequantized codes that are quantized under section table."""
    if record["unary"]["rescale"] == "table":
        return by_table(record, a, out)
    last = requantize(record, form(record, a, out), out)
    return lambda p: last(p - a.zero)


def leaky(record, a, out, alpha):  # 2.4 LEAKY_RELU: two rescales, of s_in / s_out and s_in * alpha / s_out
    kind = record["unary"]["leaky_relu"]
    if kind == "table":
        return by_table(record, a, out, lambda x, to: x if x >= 0 else to(x * alpha))
    if kind != "two-rescales":  # 5.1 (d)
        ratio = f32(a.scale / out.scale)
        real = (ratio, f32(ratio * alpha))
        slopes = [round_to_int(256 * r, "half-even") for r in real]

        def one(p):
            x = p - a.zero
            return finish(record, x * slopes[x < 0] + 128 >> 8, out)
        if kind == "fixed-8" or all(Fraction(1, 256) <= abs(r) <= 128 for r in real):
            return one
    up = requantize(record, form(record, a, out), out)
    real = rescale.form(record["rescale"]["scale"], a.scale, abs(alpha), out.scale)
    down = requantize(record, real, out)
    return lambda p: up(p - a.zero) if p >= a.zero else down((p - a.zero) * (1 if alpha > 0 else -1))


def prelu(record, a, slope, out):  # 2.4 PRELU: slopes are codes
    up = requantize(record, form(record, a, out), out)
    down = requantize(record, rescale.form(record["rescale"]["scale"], a.scale, slope.scale, out.scale), out)
    return lambda p, q: up(p - a.zero) if p >= a.zero else down((p - a.zero) * (q - slope.zero))


def extreme(record, a, b, out, choose):
    """Maximum and minimum of operands brought to the output's parameters; raw codes where they have those."""
    def fitted(t):
        rule = record["rescale"]
        scale = rescale.encode(rule, form(record, t, out))
        return lambda p: rescale.apply(rule, scale, p - t.zero, out.zero, None, out.kind)
    sides = [(lambda p: p) if (t.scale, t.zero) == (out.scale, out.zero) else fitted(t) for t in (a, b)]
    return lambda p, q: ending(record, choose(sides[0](p), sides[1](q)), out)


def rsqrt(record, a, out):  # 2.4 RSQRT, Newton
    m, left = fp.quantize_multiplier(f64(ONE / f64(f32(f32_root(a.scale) * out.scale))))
    once = fp.single(record)

    def one(p):
        x = p - a.zero
        if x < 0:
            raise Unsaid("a root of less than nothing")
        if x == 0:
            return min((out.bounds or (out.low, out.high))[1], out.high)
        multiplier, shift = fp.inverse_sqrt(x)
        value = fp.by_multiplier(fp.by_multiplier(1, multiplier, shift + 20, once), m, left - 20, once)
        return finish(record, value, out)
    return one


def f32_root(value):
    return functions.EXACT["sqrt"](value, f32)


def by_table(record, a, out, function=None):
    """A full table of a function of the code's real value; see 2.5. function: (value, format) -> value."""
    rule = record["table"]
    if rule["kind"] == "none" or rule["kind"] != "full" and a.kind == (16, True):
        raise Unsaid("a table of 513 points, or none")
    to = f32 if rule["precision"] == "float32" else f64
    ending_of = table_ending(record, out, to)
    values = argument(rule, a, to)

    def one(p):
        return ending_of(function(values(p), to) if function else values(p))
    return one


def table_ending(record, out, to):
    """From a function's value to a code."""
    rule, inverse = record["table"], to(ONE / out.scale)

    def one(value):
        value = times(value, inverse, to) if rule["division"] == "reciprocal" else to(value / out.scale)
        return code(record, "table", value, out)
    return one


def argument(rule, a, to):
    """A code's real value: scale * (code - zero point), or by repeated addition of the step."""
    if not rule["accumulate_input"]:
        return lambda p: to(a.scale * (p - a.zero))
    if a.kind[0] > 16:
        raise Unsaid("a table of more than 16 bits")
    values = [f32(a.scale * (a.low - a.zero))]
    for _ in range(a.high - a.low):
        values.append(f32(values[-1] + a.scale))
    return lambda p: values[p - a.low]


def relu(record, a, out):
    """A rescale whose codes begin at the zero point."""
    lo, hi = out.bounds or (-inf, inf)
    bounds = [clamp(out.zero, lo, hi), hi]
    if same(a, out):
        return lambda p: ending(record, clamp(p, *bounds), out)
    if record["unary"]["rescale"] == "table":
        out.bounds = bounds
        return by_table(record, a, out)
    rule = record["rescale"]
    scale = out.given_scale or rescale.encode(rule, form(record, a, out))
    return lambda p: rescale.apply(rule, scale, p - a.zero, out.last_zero(), bounds, out.kind)

"""One rescale of a record, from the words of schemes/record/record.def and schemes/README.md ("the record in one
breath"): how R is formed, what it becomes, and what an accumulator becomes under it."""
import math
from fractions import Fraction

from numbers_exact import (INT32_MAX, INT32_MIN, Refused, Unsaid, clamp, exponent, f32, f64, narrow, plus,
                           round_to_int, signed_range, times, wrap)


def form(rule, scale_in, scale_w, scale_out, per_tensor=True):
    """R of float32 scales. f32-steps is a triple: its products are rounded one after the other."""
    if rule == "f32-product-if-per-tensor":
        rule = "f32-product" if per_tensor else "double"
    if rule == "f32-steps":
        return (scale_in, scale_w, scale_out)
    if rule == "double":
        return f64(times(scale_in, scale_w, f64) / scale_out)
    if rule == "f32-product":
        return f64(times(scale_in, scale_w, f32) / scale_out)
    if rule == "f32":
        return f32(times(scale_in, scale_w, f32) / scale_out)
    if rule == "f32-reciprocal":
        return times(times(scale_in, scale_w, f32), f32(Fraction(1) / scale_out), f32)
    return Fraction(scale_in) * scale_w / scale_out


class Scale:
    """What R became. Integer encodings: `multiplier` / 2^`shift`, Glow's `pre` beside; floats: `steps`,
    factors and a divisor in order."""

    def __init__(self, multiplier=None, shift=None, pre=0, steps=None):
        self.multiplier, self.shift, self.pre, self.steps = multiplier, shift, pre, steps


def encode(rule, real, common=None):
    """rule: the section `rescale`; common: the greatest R of the layer, with common_shift."""
    kind = rule["encoding"]
    if isinstance(real, tuple):
        if kind in ("float32", "float64"):
            return Scale(steps=real)
        real = form("f32", *real)
    if abs(real) == math.inf:
        raise Refused("R is no number")
    if real < 0 and not rule["negative_scale"]:
        raise Refused("negative R")
    if kind in ("float32", "float64"):
        return Scale(steps=(f32(real) if kind == "float32" else real,))
    if kind == "thresholds":
        if not 2.0 ** -74 <= real < 2.0 ** 53:
            raise Refused("R beyond thresholds")
        return Scale(steps=(Fraction(real),))
    if kind == "glow":
        return encode_glow(Fraction(f32(real)))
    sign = -1 if real < 0 else 1
    scale = encode_magnitude(rule, abs(Fraction(real)), common)
    return Scale(sign * scale.multiplier, scale.shift)


def written_right(rule, shift):
    """A shift as the target writes it, to the right."""
    bits, sign = rule["multiplier_bits"], rule["shift_sign"]
    return {"right": shift, "left-of-multiplier": bits - shift, "right-of-multiplier": shift + bits,
            "left": -shift}[sign]


def written(rule, shift):
    """A shift to the right as the target writes it."""
    bits, sign = rule["multiplier_bits"], rule["shift_sign"]
    return {"right": shift, "left-of-multiplier": bits - shift, "right-of-multiplier": shift - bits,
            "left": -shift}[sign]


def encode_magnitude(rule, real, common):
    if real == 0:
        return Scale(0, written_right(rule, rule["zero_shift"]))
    if rule["encoding"] == "shift":
        return encode_shift(rule, real)
    bits = rule["multiplier_bits"]
    greatest = common if rule["common_shift"] and common else real
    multiplier, shift = with_all_bits(rule, greatest)
    if real != greatest:
        multiplier = round_to_int(real * Fraction(2) ** shift, rule["multiplier_round"])
    if multiplier >> bits and rule["exponent_by_log"]:
        raise Refused("the logarithm misses this power of two")
    return reduce(rule, *into_range(rule, real, multiplier, shift))


def with_all_bits(rule, real):
    """The multiplier of R with all its bits, renormalised, and its shift."""
    bits, e = rule["multiplier_bits"], exponent(real)
    if rule["exponent_by_log"]:
        e = math.floor(math.log(float(real)) / math.log(2.0)) + 1
    multiplier = round_to_int(real * Fraction(2) ** (bits - e), rule["multiplier_round"])
    if multiplier == 1 << bits and rule["multiplier_renormalise"]:
        return multiplier >> 1, bits - e - 1
    return multiplier, bits - e


def into_range(rule, real, multiplier, shift):
    """The multiplier and shift that shift_min and shift_max leave."""
    bits = rule["multiplier_bits"]
    low, high = rule["shift_min"], rule["shift_max"]
    how = rule["below_shift_min"] if shift < low else rule["beyond_shift_max"] if shift > high else None
    if how is None:
        return multiplier, shift
    if how in ("largest", "zero") and shift < low and with_all_bits(rule, real)[1] >= low:
        return round_to_int(real * Fraction(2) ** low, rule["multiplier_round"]), low  # held beside a greater one
    if how == "zero":
        return 0, written_right(rule, rule["zero_shift"])
    if how == "largest" and shift < low:
        return (1 << bits) - 1, low
    if how == "unnormalised" and shift > high:
        return round_to_int(real * Fraction(2) ** high, rule["multiplier_round"]), high
    if how == "denormal" and shift > high:
        return round_to_int(Fraction(multiplier, 1 << (shift - high)), rule["denormal_round"]), high
    if how == "tosa-generator":
        return generated(bits, multiplier, shift)
    raise Refused("R out of range")


def generated(bits, multiplier, shift):
    """TOSA's generator (schemes/FORMULAS.md)."""
    if shift in (0, 1):
        return multiplier >> 2 - shift, 2
    if shift == 63 and 2 * multiplier == 1 << bits:
        return 2 * multiplier, 62
    if shift > 62:
        return multiplier >> min(31, shift - 62), 62
    raise Refused("the generator's assertion fails")


def reduce(rule, multiplier, shift):
    bits = rule["reduced_bits"]
    if bits == 0 or bits >= rule["multiplier_bits"] or multiplier == 0:
        return Scale(multiplier, shift)
    drop = rule["multiplier_bits"] - bits
    multiplier = round_to_int(Fraction(multiplier, 1 << drop), "half-up")
    shift -= drop
    if multiplier >= 1 << bits:
        if rule["reduced_overflow"] == "renormalise":
            return Scale(multiplier >> 1, shift - 1)
        multiplier = (1 << bits) - 1
    return Scale(multiplier, shift)


def encode_shift(rule, real):
    e = exponent(real) - 1
    if real != Fraction(2) ** e or not rule["shift_min"] <= -e <= rule["shift_max"]:
        raise Refused("R is no power of two, or out of range")
    return Scale(1, -e)


def encode_glow(real):
    """quantizeScaleOffset32To8 (Glow in schemes/SOURCES.md); the multiplier is an int32."""
    if not 0 <= real <= INT32_MAX:
        raise Refused("R is negative, or its multiplier beyond int32")
    if real == 0:
        return Scale(0, 0)
    e = exponent(real) - 1
    if real == Fraction(2) ** e:
        return Scale(1 << e, 0) if e > 0 else Scale(1, -e)
    post = pre = 0
    while real < Fraction(1, 2) or (real < 256 and post < 15):
        real, post = real * 2, post + 1
    while real < 255 and pre < post // 2:
        real, pre = real * 2, pre + 1
    return Scale(round_to_int(real, "half-away"), post, pre)


def fits(value, bits):
    low, high = signed_range(bits)
    return low <= value <= high


def scaled_integer(rule, scale, x):
    """round((x << left) * m / 2^shift), pre-shift, product bits and several steps included. A step takes no
    more bits than there are; an operand that is shifted left is shifted so that the first has all of its. Glow's encoding has its own pre-shift."""
    steps = rule["round"]
    pre, pre_mode = scale.pre, "floor"
    if rule["encoding"] == "glow":
        pass
    elif rule["pre_shift"] == "fixed":
        pre, pre_mode = rule["pre_shift_bits"], rule["pre_shift_round"]
    elif rule["pre_shift"] == "rest":
        if steps[-1][0] is None:
            raise Unsaid("a rest of one step without bits is refused")
        pre, pre_mode = scale.shift - steps[-1][0], rule["pre_shift_round"]
    shift = scale.shift - (0 if scale.pre else pre)
    if pre < 0:  # the rest may be a shift to the left, which saturates in 32 bits, before it and after
        x = narrow(narrow(x, 32, "saturate") << -pre, 32, "saturate")
    x = round_to_int(Fraction(x, 1 << max(pre, 0)), pre_mode)
    x = narrow(x, rule["operand_bits"], "saturate")
    how = rule["left_shift"]
    left = max((0 if how == "product" else steps[0][0] or 0) - shift, 0)
    if left and how != "product":
        x = narrow(x << left, 32, how)
    product = x * scale.multiplier
    if rule["product_bits"]:
        product = wrap(product, rule["product_bits"])
    product <<= left if how == "product" else 0
    rest = shift + left
    for bits, mode in steps:
        bits = rest if bits is None else min(bits, rest)
        product, rest = round_to_int(Fraction(product, 1 << bits), mode), rest - bits
    return product


def scaled_float(rule, scale, x, to):
    """x * R in floats; f32-steps divides by the last of three."""
    value = to(Fraction(x))
    value = times(value, scale.steps[0], to)
    if len(scale.steps) == 3:
        value = times(value, scale.steps[1], to)
        value = value if abs(value) == math.inf else to(value / scale.steps[2])
    return value


def float_to_int(value, mode, overflow="saturate", rounding="exact"):
    """Within int32, or as float_overflow says."""
    if abs(value) == math.inf:
        whole = INT32_MAX + 1 if value > 0 else INT32_MIN - 1
    else:
        whole = round_to_int(value, mode)
        cut = round_to_int(value, "trunc")
        if rounding == "add-one" and whole != cut:
            whole = round_to_int(f32(value + (1 if value > 0 else -1)), "trunc")
    if INT32_MIN <= whole <= INT32_MAX:
        return whole
    return INT32_MIN if overflow == "int-min" else clamp(whole, INT32_MIN, INT32_MAX)


def store(rule, value, bounds, kind):
    """kind: (bits, signed) of the output; bounds: of a fused activation, or None."""
    bits, signed = kind
    if bounds:
        value = clamp(value, *bounds)
    if rule["store"] == "wrap":
        return wrap(value, bits, signed)
    return clamp(value, *(signed_range(bits) if signed else (0, (1 << bits) - 1)))


def apply(rule, scale, x, zero_point, bounds, kind):
    """The code of an accumulator x, whose own zero point is gone."""
    encoding, stage = rule["encoding"], rule["zero_point"]
    mode = rule["round"][-1][1]
    if stage == "before":
        x -= zero_point
    if rule["input_bits"] and encoding != "thresholds" and not fits(x, rule["input_bits"]):
        raise Refused("an operand beyond input_bits")
    if encoding == "thresholds":
        low, high = signed_range(kind[0]) if kind[1] else (0, (1 << kind[0]) - 1)
        if bounds:
            low, high = max(low, bounds[0]), min(high, bounds[1])
        if high - low > 65535:
            raise Refused("codes beyond thresholds")
        exact = x * scale.steps[0]
        value = round_to_int(exact, mode) + zero_point if stage == "after" else round_to_int(exact + zero_point, mode)
        return store(dict(rule, store="saturate"), value, bounds, kind)
    if encoding in ("float32", "float64"):
        to = f32 if encoding == "float32" else f64
        value = scaled_float(rule, scale, x, to)
        if stage == "inside":
            value = plus(value, zero_point, to)
        value = float_to_int(value, mode, rule["float_overflow"], rule["float_rounding"])
    else:
        half = Fraction(2) ** (scale.shift - 1)
        if rule["input_shift_range"] and encoding != "glow" and not -half <= x < half:
            raise Refused("an operand beyond the shift's range")
        value = narrow(scaled_integer(rule, scale, x), rule["result_bits"], rule["result_overflow"])
    if stage == "after":
        value = narrow(value + zero_point, rule["sum_bits"], rule["sum_overflow"])
    return store(rule, value, bounds, kind)

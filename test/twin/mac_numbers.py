"""Small floats as rationals, for the model of matrix units: formats, patterns decoded, one rounding to a grid. Written from
schemes/mac/README.md; nothing shared with schemes/mac/.

A Number is a Fraction, the sign (of a zero too), and the exponent of the digit before the point, as the format has it;
None: a zero that takes no part in alignment. Infinities and NaN are INF, -INF, NAN."""
from fractions import Fraction as Q

# name: width stored, exponent bits, fraction bits, bias, specials
FORMATS = {
    "f64": (64, 11, 52, 1023, "ieee"), "f32": (32, 8, 23, 127, "ieee"), "tf32": (32, 8, 10, 127, "ieee"),
    "bf16": (16, 8, 7, 127, "ieee"), "f16": (16, 5, 10, 15, "ieee"), "e5m2": (8, 5, 2, 15, "ieee"),
    "e5m2fnuz": (8, 5, 2, 16, "fnuz"), "e4m3fn": (8, 4, 3, 7, "fn"), "e4m3fnuz": (8, 4, 3, 8, "fnuz"),
    "ue4m3": (8, 4, 3, 7, "fn"), "e3m2": (8, 3, 2, 3, "finite"), "e2m3": (8, 2, 3, 1, "finite"),
    "e2m1": (8, 2, 1, 1, "finite"), "e8m0": (8, 8, 0, 127, "scale"), "int8mx": (8, 0, 0, 0, "integer"),
}
INF, NAN = "inf", "nan"


class Number:
    def __init__(self, value, negative, unit):
        self.value, self.negative, self.unit = value, negative, unit


def is_inf(x):
    return isinstance(x, tuple)


def infinity(negative):
    return (INF, negative)


def power(e):
    return Q(1 << e) if e >= 0 else Q(1, 1 << -e)


def log2_floor(v):
    """The greatest e of which 2^e <= v."""
    e = v.numerator.bit_length() - v.denominator.bit_length()
    return e if power(e) <= v else e - 1


def used_bits(f):
    width, eb, fb, _, specials = FORMATS[f]
    return 8 if specials in ("scale", "integer") else 32 if f == "tf32" else 1 + eb + fb


def decode(f, pattern):
    width, eb, fb, bias, specials = FORMATS[f]
    if specials == "integer":
        n = pattern - 256 if pattern > 127 else pattern
        return Number(Q(n, 64), n < 0, 0)
    if specials == "scale":
        return NAN if pattern == 255 else Number(power(pattern - 127), False, pattern - 127)
    if f == "tf32":
        pattern >>= 13
    negative = bool(pattern >> (eb + fb) & 1) and f != "ue4m3"
    e, m = pattern >> fb & ((1 << eb) - 1), pattern & ((1 << fb) - 1)
    top = (1 << eb) - 1
    if specials == "ieee" and e == top:
        return NAN if m else infinity(negative)
    if specials == "fn" and e == top and m == (1 << fb) - 1:
        return NAN
    if specials == "fnuz" and e == 0 and m == 0 and negative:
        return NAN
    unit = (e or 1) - bias
    v = (Q(m, 1 << fb) + (e > 0)) * power(unit)
    return Number(-v if negative else v, negative, unit)


def to_integer(v, mode):
    low = v.numerator // v.denominator
    rest = v - low
    if rest == 0:
        return low
    if mode == "floor" or mode == "ceil":
        return low + (mode == "ceil")
    if mode == "trunc" or mode == "away":
        return low + ((v < 0) == (mode == "trunc"))
    if mode == "odd":
        return low + (low % 2 == 0)
    if rest != Q(1, 2):
        return low + (rest > Q(1, 2))
    return {"half-up": low + 1, "half-away": low + (v > 0), "half-zero": low + (v < 0),
            "half-even": low + low % 2}[mode]


def cut(v, grid, mode):
    return to_integer(v / power(grid), mode) * power(grid)

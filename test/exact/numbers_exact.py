"""Exact numbers: rounding of rationals, narrowing of integers, IEEE rounding. Fractions only.

The words are those of schemes/record/record.def: roundings by name (nine by their words, one that is newer by its line
of test/support/roundings.c); to wrap is to keep the low bits of two's
complement, to saturate is to take the nearest end."""
import os
import re
from fractions import Fraction
from math import inf


def expectations():
    """Of test/support/roundings.c, by mode, sign and parity of the floor: whether a whole value, less than a half
    above the floor, a half, more, goes to the upper neighbour."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support", "roundings.c")
    with open(path, encoding="utf-8") as f:
        rows = re.findall(r'\{"([a-z-]+)", \{([^}]*)\}\}', f.read())
    return {name: re.findall(r'"([01]{4})"', ups) for name, ups in rows}


EXPECTED = expectations()
MODES = list(EXPECTED)
INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


class Refused(Exception):
    """The record says that this value, row or node is refused."""


class Unsaid(Exception):
    """The documentation does not say what this value is; nothing is compared."""


def round_to_int(value, mode):
    """The integer that `mode` takes for a rational."""
    value = Fraction(value)
    low = value.numerator // value.denominator
    rest = value - low
    if rest == 0:
        return low
    up = {"floor": False, "ceil": True, "trunc": value < 0, "away": value > 0, "odd": low % 2 == 0}
    if mode in up:
        return low + up[mode]
    if mode not in ("half-up", "half-away", "half-zero", "half-even"):
        part = 1 if rest < Fraction(1, 2) else 2 if rest == Fraction(1, 2) else 3
        return low + int(EXPECTED[mode][2 * (value < 0) + low % 2][part])
    if rest != Fraction(1, 2):
        return low + (rest > Fraction(1, 2))
    return low + {"half-up": True, "half-away": value > 0, "half-zero": value < 0,
                  "half-even": low % 2 == 1}[mode]


def signed_range(bits):
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def wrap(value, bits, signed=True):
    value &= (1 << bits) - 1
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def clamp(value, low, high):
    return low if value < low else high if value > high else value


def narrow(value, bits, how):
    """To a signed integer of so many bits (0: as it is)."""
    if bits == 0:
        return value
    low, high = signed_range(bits)
    if low <= value <= high:
        return value
    if how == "refuse":
        raise Refused("beyond %d bits" % bits)
    return wrap(value, bits) if how == "wrap" else clamp(value, low, high)


def exponent(value):
    """e with 2^(e-1) <= |value| < 2^e, as C's frexp."""
    value = abs(Fraction(value))
    e = value.numerator.bit_length() - value.denominator.bit_length()
    return e + 1 if value >= Fraction(2) ** e else e


def ieee(value, precision, emin, emax):
    """Nearest float, ties to even; precision counts the leading bit, emin is of the least normal."""
    if value in (inf, -inf) or value == 0:
        return value
    value = Fraction(value)
    unit = Fraction(2) ** (max(exponent(value) - 1, emin) - precision + 1)
    rounded = round_to_int(value / unit, "half-even") * unit
    if abs(rounded) >= Fraction(2) ** (emax + 1):
        return inf if value > 0 else -inf
    return rounded


def f32(value):
    return ieee(value, 24, -126, 127)


def f64(value):
    return ieee(value, 53, -1022, 1023)


def times(a, b, to):
    """a * b rounded by `to`; infinities pass (neither operand is a zero then)."""
    if inf in (abs(a), abs(b)):
        return inf if (a > 0) == (b > 0) else -inf
    return to(a * b)


def plus(a, b, to):
    """a + b of two floats: an integer becomes one first."""
    for x in (a, b):
        if abs(x) == inf:
            return x
    return to(to(a) + to(b))


def number(value):
    """A rational as C's strtod reads it back: floats of up to 53 bits only."""
    return repr(float(value))
